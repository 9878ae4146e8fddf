import * as z from 'zod';
import { face, type Tool } from './tool';

const both = face({
  description:
    'Replace one piece of text in a file. old_text must occur exactly once; give enough of its surroundings. The human may be asked first.',
  input: z.object({
    path: z.string().min(1).describe('Path, relative to the workspace folder'),
    old_text: z.string().describe('The text to replace, exactly as it stands in the file'),
    new_text: z.string().describe('What stands there afterwards, literally'),
  }),
  access: async ({ path, old_text, new_text }, { workspace }) => ({
    access: 'edit',
    subject: path,
    preview: await workspace.previewEdit(path, old_text, new_text),
  }),
  file: ({ path }, { workspace }) => workspace.identify(path),
  run: ({ path, old_text, new_text }, { workspace }) => workspace.editFile(path, old_text, new_text),
});

export const editFile: Tool = { name: 'edit_file', effect: 'workspace', lead: both, teammate: both };
