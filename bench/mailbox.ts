/**
 * Messages through one mailbox, all the way: sent, journaled (synced), mirrored to the inbox file, taken into
 * the reader's transcript (synced) and struck off. Arguments: workspace, storage, senders, messages of each.
 */
import { argument, report } from './support/child';
import { nodding } from './support/models';
import type { MailboxReport } from './support/reports';
import { IDLE_TIMEOUT_MS, openTeam } from './support/team';

const READER = 'reader';

report(async (): Promise<MailboxReport> => {
  const folder = { workspace: argument(0, 'workspace'), storage: argument(1, 'storage') };
  const senders = Number(argument(2, 'senders'));
  const each = Number(argument(3, 'messages'));
  const core = await openTeam(folder, () => nodding);
  await core.spawn({ name: READER, role: 'reader', prompt: 'Read your mail.' }, 'human');
  await core.whenIdle(IDLE_TIMEOUT_MS);
  let taken = 0;
  core.on((event) => {
    if (event.type === 'shown' && event.member === READER) taken += event.ids.length;
  });
  const send = async (sender: number): Promise<void> => {
    for (let n = 0; n < each; n++) await core.sendMessage(READER, `Message ${n} of sender ${sender}.`);
  };
  const begun = performance.now();
  await Promise.all(Array.from({ length: senders }, (_, sender) => send(sender)));
  await core.whenIdle(IDLE_TIMEOUT_MS);
  const seconds = (performance.now() - begun) / 1000;
  if (taken !== senders * each) throw new Error(`${taken} of ${senders * each} messages arrived.`);
  await core.dispose();
  return { perSecond: taken / seconds };
});
