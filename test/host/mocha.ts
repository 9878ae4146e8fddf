// `node --enable-source-maps out/host/mocha.js FOLDER [--timeout MS] [--second-tries N]`: runs the test bundles of a folder
// in a process of their own; HANDSHAKE_TEST_GREP picks tests by title. Exits with 1 when one failed.
import { parseArgs } from 'node:util';
import { messageOf } from './errors';
import { reportCounts, runMocha, testFiles } from './run-mocha';

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      timeout: { type: 'string', default: '10000' },
      'second-tries': { type: 'string', default: '0' },
    },
  });
  const [folder] = positionals;
  if (folder === undefined) throw new Error('Which folder of test bundles?');
  const counts = await runMocha({
    files: await testFiles(folder),
    timeout: Number(values.timeout),
    secondTries: Number(values['second-tries']),
    grep: process.env.HANDSHAKE_TEST_GREP,
  });
  await reportCounts(counts);
  return counts.failed === 0 ? 0 : 1;
}

main().then(
  // A test that leaves something running must not keep the whole run from ending.
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(messageOf(error));
    process.exit(1);
  },
);
