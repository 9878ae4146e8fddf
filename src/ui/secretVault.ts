import type * as vscode from 'vscode';
import * as z from 'zod';
import type { Vault } from '../store';
import { tellIfSlow } from './tellIfSlow';

/** A keyring that is open answers in a fraction of it. */
const SLOW_MS = 3000;
const PREFIX = 'handshake.journal.';

const stored = z.object({
  key: z.string().regex(/^[0-9a-f]{64}$/i),
  anchor: z
    .object({
      seq: z.int().positive(),
      mac: z.string().min(1),
      segment: z.int().positive().optional(),
      after: z.int().nonnegative().optional(),
    })
    .nullable(),
});

/**
 * Keeps the key and the anchor of one journal as one secret of VS Code. Where the secret storage holds something
 * else, it counts as empty; that is said in the log once. Where it refuses to read, that is its caller's to say.
 * @param id of the journal; another one for each journal on this machine
 * @param onSlow told when the key has not come after `slowMs` milliseconds: a keyring may ask for its password
 */
export function secretVault(
  secrets: Pick<vscode.SecretStorage, 'get' | 'store'>,
  id: string,
  log: Pick<vscode.LogOutputChannel, 'error'>,
  onSlow: (answer: Promise<unknown>) => void = () => undefined,
  slowMs = SLOW_MS,
): Vault {
  const name = PREFIX + id;
  let isSaid = false;
  const say = (why: string): void => {
    if (!isSaid) log.error(`The secret storage did not give the key of the team's journal: ${why}.`);
    isSaid = true;
  };
  return {
    async load() {
      const text = await tellIfSlow(Promise.resolve(secrets.get(name)), slowMs, onSlow);
      try {
        return text === undefined ? undefined : stored.parse(JSON.parse(text));
      } catch {
        // Not the parser's own words: they could hold a piece of the key.
        say('what it holds is damaged');
        return undefined;
      }
    },
    async save(content) {
      await secrets.store(name, JSON.stringify(content));
    },
  };
}
