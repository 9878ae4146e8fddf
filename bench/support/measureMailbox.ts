import { runChild } from './child';
import { makeFolder } from './folder';
import { mailboxReport } from './reports';
import { spreadOf } from './statistics';
import type { Row } from './table';

const RUNS = 5;
const LOADS = [
  { senders: 1, each: 300 },
  { senders: 50, each: 40 },
];

/** Messages a second from senders that each wait for one message to be on disk before they send the next. */
export async function measureMailbox(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { senders, each } of LOADS) {
    const values: number[] = [];
    for (let run = 0; run < RUNS; run++) values.push(await measureOnce(senders, each));
    const who = senders === 1 ? 'one sender' : `${senders} senders`;
    rows.push({ figure: `mailbox, ${who}`, value: spreadOf(values), unit: 'messages/s' });
  }
  return rows;
}

async function measureOnce(senders: number, each: number): Promise<number> {
  const folder = await makeFolder();
  try {
    const args = [folder.workspace, folder.storage, String(senders), String(each)];
    return (await runChild('mailbox', mailboxReport, { args })).perSecond;
  } finally {
    await folder.remove();
  }
}
