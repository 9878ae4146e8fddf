// Writes bundle.l10n.json, the texts of the code for translators: `node l10n/collect.mjs`.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const source = join(here, '..', 'src');
const literal = /l10n\.t\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/g;

const texts = new Set();
for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
  if (!file.endsWith('.ts')) continue;
  for (const [, single, double] of readFileSync(join(source, file), 'utf8').matchAll(literal)) {
    texts.add((single ?? double).replace(/\\(.)/g, '$1'));
  }
}
const bundle = Object.fromEntries([...texts].sort().map((text) => [text, text]));
writeFileSync(join(here, 'bundle.l10n.json'), `${JSON.stringify(bundle, null, 2)}\n`);
