import * as z from 'zod';
import { face, type Tool } from './tool';

const LOOKS_LIKE_IMAGE = /\.(?:png|jpe?g|gif|webp)$/i;

const both = face({
  description:
    'Read a file of the workspace: text, or a picture (PNG, JPEG, GIF, WebP), which you are shown.',
  input: z.object({
    path: z.string().min(1).describe('Path, relative to the workspace folder'),
    limit: z.number().int().positive().optional().describe('How many lines at most'),
    offset: z.number().int().positive().optional().describe('The first line, counted from 1'),
  }),
  async run({ path, limit, offset }, { workspace }) {
    // A name that looks like a picture's may be that of something else: then it is read as what it is.
    const image = LOOKS_LIKE_IMAGE.test(path) ? await workspace.readImage(path) : undefined;
    if (image) {
      const { mediaType, width, height, bytes } = image;
      const text = `${path}: ${mediaType}, ${width} × ${height} pixels, ${bytes.length} bytes`;
      return { text, images: [{ mediaType, data: bytes.toString('base64') }] };
    }
    return workspace.readFile(path, {
      ...(limit === undefined ? {} : { limit }),
      ...(offset === undefined ? {} : { offset }),
    });
  },
});

export const readFile: Tool = {
  name: 'read_file',
  effect: 'read',
  readsWorkspace: true,
  lead: both,
  teammate: both,
};
