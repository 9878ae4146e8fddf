// Runs before `npm start` and `npm test`: makes node_modules match package-lock.json. It uses Node alone,
// because on a fresh clone nothing else is there yet.
import { spawnSync } from 'node:child_process';
import { lstatSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const modified = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs;

const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 20) {
  console.error(`Handshake is built with Node 20 or newer; this is Node ${process.versions.node}.`);
  process.exit(1);
}

const modules = join(root, 'node_modules');
if (lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) {
  // Linked on purpose (several work trees share one): `npm ci` would empty what the others use.
  process.exit(0);
}

// npm writes this file last, so an interrupted install does not count as a whole one.
const installed = modified(join(modules, '.package-lock.json'));
const wanted = modified(join(root, 'package-lock.json'));
if (installed !== undefined && (wanted === undefined || installed >= wanted)) process.exit(0);

console.log(
  installed === undefined
    ? 'Installing packages …'
    : 'Packages are older than package-lock.json; installing …',
);
const npm = process.env.npm_execpath;
const args = ['ci', '--include=dev', '--no-audit', '--no-fund'];
const result = npm?.endsWith('.js')
  ? spawnSync(process.execPath, [npm, ...args], { cwd: root, stdio: 'inherit' })
  : spawnSync('npm', args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' });
if (result.status !== 0) {
  console.error(
    `npm ci failed${result.error ? `: ${result.error.message}` : ''}. Its messages above say why.`,
  );
  process.exit(result.status ?? 1);
}
