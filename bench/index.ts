/**
 * `npm run bench`: runs every measure, or those that are named (`npm run bench -- activation load`), and prints
 * one table. How to read it: docs/bench.md.
 */
import { measureActivation } from './support/measureActivation';
import { measureBoard } from './support/measureBoard';
import { measureHandshake } from './support/measureHandshake';
import { measureJournal } from './support/measureJournal';
import { measureLoad } from './support/measureLoad';
import { measureMailbox } from './support/measureMailbox';
import { measureModel } from './support/measureModel';
import { measureResume } from './support/measureResume';
import { type Row, renderTable } from './support/table';

const MEASURES = new Map<string, () => Promise<Row[]>>([
  ['activation', measureActivation],
  ['mailbox', measureMailbox],
  ['handshake', measureHandshake],
  ['journal', measureJournal],
  ['resume', measureResume],
  ['board', measureBoard],
  ['model', measureModel],
  ['load', measureLoad],
]);

async function main(): Promise<void> {
  const named = process.argv.slice(2);
  const unknown = named.find((name) => !MEASURES.has(name));
  if (unknown !== undefined)
    throw new Error(`There is no measure '${unknown}'. There are: ${[...MEASURES.keys()].join(', ')}.`);
  const rows: Row[] = [];
  for (const [name, measure] of MEASURES) {
    if (named.length > 0 && !named.includes(name)) continue;
    console.error(`${name} …`);
    rows.push(...(await measure()));
  }
  console.log(renderTable(rows));
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
