import { readFile, rename, writeFile } from 'node:fs/promises';
import * as z from 'zod';
import type { Vault } from '../../../src/store';

const content = z.object({
  key: z.string(),
  anchor: z
    .object({
      seq: z.number(),
      mac: z.string(),
      segment: z.number().optional(),
      after: z.number().optional(),
    })
    .nullable(),
});

/** A vault in a file, which outlives its process and lies outside of the journal's folder. */
export function fileVault(path: string): Vault {
  return {
    async load() {
      try {
        return content.parse(JSON.parse(await readFile(path, 'utf8')));
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
        throw error;
      }
    },
    async save(next) {
      // Whole or not at all: the process may be killed here.
      await writeFile(`${path}.new`, JSON.stringify(next));
      await rename(`${path}.new`, path);
    },
  };
}
