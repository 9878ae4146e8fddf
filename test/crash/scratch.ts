import * as fs from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';

/** Set `HANDSHAKE_CRASH_SEED` to the seed that a failure names to have the same points again. */
export const SEED = Number(process.env.HANDSHAKE_CRASH_SEED ?? Date.now() % 1_000_000);

/** A folder in memory where there is one: what a killed process gave to the system is not lost there either. */
export async function makeScratch(purpose: string): Promise<string> {
  const parent = await fs.access('/dev/shm', fs.constants.W_OK).then(
    () => '/dev/shm',
    () => os.tmpdir(),
  );
  return fs.realpath(await fs.mkdtemp(path.join(parent, `handshake-${purpose}-`)));
}
