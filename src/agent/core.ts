import { randomUUID } from 'node:crypto';
import * as path from 'node:path';
import { Journal } from '../store';
import { Ledger, messageOf } from '../team/ledger';
import type { Clock } from '../team/ports';
import type { Core } from './coreApi';
import type { CoreOptions } from './coreOptions';
import { TeamCore } from './teamCore';

const VOIDED = 'Plans approved before are to be approved again, and permissions are asked for again.';
const systemClock: Clock = { now: () => Date.now(), uuid: () => randomUUID() };

/**
 * Opens the team of a workspace folder: replays its journal, and starts a loop for the lead and for every
 * teammate that is still there. Nothing is written before something happens.
 * @throws {StorageError} when the journal cannot be read, or another key signed it
 */
export async function openCore(options: CoreOptions): Promise<Core> {
  const clock = options.clock ?? systemClock;
  const found: string[] = [];
  let tell = (text: string): void => void found.push(text);
  const { journal, items } = await Journal.open(path.join(options.storageDir, 'journal'), {
    ...(options.fileSystem === undefined ? {} : { fileSystem: options.fileSystem }),
    ...(options.ownership === undefined
      ? {}
      : { epoch: options.ownership.epoch, isHeld: () => options.ownership?.isHeld() ?? true }),
    onDamage: ({ file, line, reason, counts }) =>
      tell(`${file}, line ${line}${counts === true ? '' : ', is damaged and was left out'}: ${reason}`),
    onWarning: (text) => tell(text),
    vault: options.vault,
    ...(options.acceptsForeignKey === true ? { acceptsForeignKey: true } : {}),
  });
  for (const item of items) if ('gap' in item) tell(`${item.gap} ${VOIDED}`);
  const teamName = path.basename(options.workspace.root) || 'team';
  const ledger = new Ledger(
    journal,
    () => ({ t: 'team', team_id: clock.uuid(), team_name: teamName, at: clock.now() }),
    (error) => options.log('error', messageOf(error)),
  );
  ledger.replay(items, clock.now());
  journal.useSnapshot(() => ledger.state.snapshot());
  try {
    await options.prepare?.(ledger);
  } catch (error) {
    await journal.close();
    throw error;
  }
  const core = new TeamCore(options, clock, ledger, teamName, () => journal.close(), options.log);
  await core.start();
  for (const text of found) core.warn(text);
  tell = (text) => core.warn(text);
  return core;
}
