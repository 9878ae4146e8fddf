import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import * as z from 'zod';

const manifest = z.object({
  contributes: z.object({
    menus: z.object({
      'view/item/context': z.array(
        z.object({ command: z.string().optional(), when: z.string(), group: z.string() }),
      ),
    }),
  }),
});

/** What the manifest asks of the `contextValue` of a request's row that shows this command as a button. */
export function inlineClause(command: string): RegExp {
  const { menus } = manifest.parse(JSON.parse(readFileSync(manifestFile(), 'utf8'))).contributes;
  const clauses = menus['view/item/context'].flatMap(({ command: of, when, group }) => {
    const pattern = /viewItem =~ \/(\^request.*?)\/(?: |$)/.exec(when)?.[1];
    return of === command && group.startsWith('inline') && pattern !== undefined ? [pattern] : [];
  });
  assert.equal(clauses.length, 1, command);
  return new RegExp(clauses[0] ?? '');
}

function manifestFile(): string {
  for (let folder = __dirname; ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, 'package.nls.json'))) return path.join(folder, 'package.json');
    assert.notEqual(folder, path.dirname(folder), 'no package.json above the test');
  }
}
