import * as z from 'zod';
import { describeTeam } from '../team/describe';
import { face, type Tool } from './tool';

const lead = face({
  description: 'List the teammates with role, status and plan status.',
  input: z.object({}),
  run: async (_, { team }) => describeTeam(team),
});

export const listTeammates: Tool = { name: 'list_teammates', effect: 'read', lead };
