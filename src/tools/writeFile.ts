import * as z from 'zod';
import { face, type Tool } from './tool';

const both = face({
  description:
    'Write a whole file. An existing file must have been read before. Prefer edit_file for changes in a file. The human may be asked first.',
  input: z.object({
    path: z.string().min(1).describe('Path, relative to the workspace folder'),
    content: z.string().describe('The whole new content'),
  }),
  access: async ({ path, content }, { workspace }) => ({
    access: 'edit',
    subject: path,
    preview: await workspace.previewWrite(path, content),
  }),
  file: ({ path }, { workspace }) => workspace.identify(path),
  run: ({ path, content }, { workspace }) => workspace.writeFile(path, content),
});

export const writeFile: Tool = { name: 'write_file', effect: 'workspace', lead: both, teammate: both };
