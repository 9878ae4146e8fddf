import * as fs from 'node:fs/promises';
import * as path from 'node:path';

export interface BenchFolder {
  /** A workspace with {@link SAMPLE_FILE} in it. */
  workspace: string;
  /** For journal and transcripts. */
  storage: string;
  remove(): Promise<void>;
}

/** What members read: about as much as a small source file. */
export const SAMPLE_FILE = 'notes.txt';
const SAMPLE_LINES = 40;

/**
 * A fresh folder beside the bench's own files, so that what is synced is synced to a disk; the system's
 * temporary folder may be memory.
 */
export async function makeFolder(): Promise<BenchFolder> {
  const home = await fs.mkdtemp(path.join(await fs.realpath(path.resolve(__dirname, '..')), 'bench-'));
  const workspace = path.join(home, 'workspace');
  await fs.mkdir(workspace);
  await fs.writeFile(path.join(workspace, SAMPLE_FILE), sampleText());
  return {
    workspace,
    storage: path.join(home, 'storage'),
    remove: () => fs.rm(home, { recursive: true, force: true }),
  };
}

function sampleText(): string {
  const lines = Array.from(
    { length: SAMPLE_LINES },
    (_, n) => `Line ${n + 1}: what stands here does not matter.`,
  );
  return `${lines.join('\n')}\n`;
}
