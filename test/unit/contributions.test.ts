import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import * as z from 'zod';
import {
  Commands,
  Containers,
  ContextKeys,
  Settings,
  Submenus,
  TreeCommands,
  Views,
} from '../../src/ui/contributions';
import { NUMBER_SETTINGS } from '../../src/ui/numberSetting';

const root = findRoot();
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

const menuItem = z.object({
  command: z.string().optional(),
  submenu: z.string().optional(),
  when: z.string().optional(),
});
const manifest = z
  .object({
    activationEvents: z.array(z.string()),
    extensionKind: z.array(z.string()),
    engines: z.object({ vscode: z.string() }),
    icon: z.string(),
    capabilities: z.record(z.string(), z.object({ supported: z.literal(false), description: z.string() })),
    contributes: z.object({
      viewsContainers: z.record(
        z.string(),
        z.array(z.object({ id: z.string(), title: z.string(), icon: z.string() })),
      ),
      views: z.record(
        z.string(),
        z.array(z.object({ id: z.string(), name: z.string(), type: z.string().optional() })),
      ),
      viewsWelcome: z.array(z.object({ view: z.string(), contents: z.string(), when: z.string() })),
      commands: z.array(z.object({ command: z.string(), title: z.string(), category: z.string() })),
      submenus: z.array(z.object({ id: z.string(), label: z.string() })),
      keybindings: z.array(z.object({ command: z.string(), when: z.string() })),
      menus: z.record(z.string(), z.array(menuItem)),
      configuration: z.object({
        properties: z.record(
          z.string(),
          z.object({
            scope: z.string(),
            type: z.unknown(),
            markdownDescription: z.string(),
            default: z.unknown(),
            minimum: z.number().optional(),
            maximum: z.number().optional(),
          }),
        ),
      }),
    }),
  })
  .parse(JSON.parse(read('package.json')));
const { contributes } = manifest;
const nls = z.record(z.string(), z.string()).parse(JSON.parse(read('package.nls.json')));

function findRoot(): string {
  for (let folder = __dirname; ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, 'package.nls.json'))) return folder;
    assert.notEqual(folder, path.dirname(folder), 'no package.nls.json above the test');
  }
}

const sorted = (values: Iterable<string>) => [...new Set(values)].sort();
const same = (code: Iterable<string>, package_: Iterable<string>) =>
  assert.deepEqual(sorted(package_), sorted(code));

describe('the manifest and the code', () => {
  it('have the same commands, each with a title and the category', () => {
    const ids = contributes.commands.map((c) => c.command);
    same([...Object.values(Commands), ...Object.values(TreeCommands)], ids);
    assert.equal(ids.length, new Set(ids).size);
    for (const { command, title, category } of contributes.commands) {
      assert.ok(nls[title.slice(1, -1)], command);
      assert.equal(category, 'Handshake');
    }
  });

  it('have the same containers, views, submenus and settings', () => {
    same(
      Object.values(Containers),
      Object.values(contributes.viewsContainers)
        .flat()
        .map((c) => c.id),
    );
    same(Object.values(Containers), Object.keys(contributes.views));
    same(
      Object.values(Views),
      Object.values(contributes.views)
        .flat()
        .map((v) => v.id),
    );
    same(
      Object.values(Submenus),
      contributes.submenus.map((s) => s.id),
    );
    same(Object.values(Settings), Object.keys(contributes.configuration.properties));
  });

  it('have the same number settings, with the same ranges and defaults', () => {
    const numbers = Object.entries(contributes.configuration.properties)
      .filter(([, { type }]) => type === 'integer' || type === 'number')
      .map(([id, { default: standard, minimum: min, maximum: max = Number.MAX_SAFE_INTEGER }]) => [
        id,
        { standard, min, max },
      ]);
    assert.deepEqual(Object.fromEntries(numbers), NUMBER_SETTINGS);
  });

  it('have the same context keys', () => {
    const clauses = [
      ...contributes.viewsWelcome,
      ...contributes.keybindings,
      ...Object.values(contributes.menus).flat(),
    ];
    const known = new Set<string>([...Object.values(ContextKeys), ...Object.values(Views)]);
    for (const { when = '' } of clauses) {
      // A regular expression names view items, not context keys.
      for (const [name] of when.replace(/=~ \/[^ ]+/g, '').matchAll(/handshake\.[a-zA-Z.]+/g)) {
        assert.ok(known.has(name), `${name} in '${when}'`);
      }
    }
    const used = clauses.map((clause) => clause.when ?? '').join(' ');
    for (const key of Object.values(ContextKeys)) assert.ok(used.includes(key), key);
  });

  it('keep the commands of rows out of the palette and every other one in it', () => {
    const hidden = (contributes.menus.commandPalette ?? []).filter((item) => item.when === 'false');
    same(
      Object.values(TreeCommands),
      hidden.flatMap((item) => item.command ?? []),
    );
  });

  it('name only commands and submenus that exist in menus, keybindings and welcomes', () => {
    const ids = new Set(contributes.commands.map((c) => c.command));
    for (const item of Object.values(contributes.menus).flat()) {
      if (item.command !== undefined) assert.ok(ids.has(item.command), item.command);
      else assert.ok(Object.values<string>(Submenus).includes(item.submenu ?? ''), item.submenu);
    }
    for (const { command } of contributes.keybindings) assert.ok(ids.has(command), command);
    for (const { contents } of contributes.viewsWelcome) {
      const text = nls[contents.slice(1, -1)] ?? '';
      for (const [, command = ''] of text.matchAll(/\(command:(handshake\.[\w.]+)\)/g)) {
        assert.ok(ids.has(command), command);
      }
    }
  });

  it('case 44, case 49: no workspace or container decides where a key goes or what runs unasked', () => {
    const { properties } = contributes.configuration;
    for (const id of [
      Settings.provider,
      Settings.model,
      Settings.baseUrl,
      Settings.approvalsPlan,
      Settings.approvalsPermission,
      Settings.approvalsTeam,
      Settings.resume,
      Settings.permissionsMode,
      Settings.maxTurns,
    ]) {
      assert.equal(properties[id]?.scope, 'application', id);
    }
    assert.equal(properties[Settings.permissionsMode]?.default, 'ask');
    for (const id of [Settings.approvalsPermission, Settings.approvalsTeam]) {
      assert.equal(properties[id]?.default, 'human', id);
    }
  });

  it('say in each list what a window without a folder needs', () => {
    for (const view of [Views.requests, Views.team, Views.board]) {
      const said = contributes.viewsWelcome.filter(
        (welcome) => welcome.view === view && welcome.when === 'workspaceFolderCount == 0',
      );
      assert.deepEqual(
        said.map(({ contents }) => contents),
        ['%welcome.noFolder%'],
        view,
      );
    }
    assert.match(nls['welcome.noFolder'] ?? '', /command:vscode\.openFolder/);
  });

  it('start where the contract says', () => {
    assert.ok(manifest.activationEvents.includes('workspaceContains:.team/config.json'));
    assert.deepEqual(manifest.extensionKind, ['workspace']);
    assert.equal(manifest.engines.vscode, '^1.100.0');
    assert.deepEqual(sorted(Object.keys(manifest.capabilities)), [
      'untrustedWorkspaces',
      'virtualWorkspaces',
    ]);
    for (const { icon } of Object.values(contributes.viewsContainers).flat()) {
      assert.ok(existsSync(path.join(root, icon)), icon);
      assert.match(read(icon), /currentColor/);
    }
    assert.ok(existsSync(path.join(root, manifest.icon)));
  });
});

describe('the arguments of commands', () => {
  it('have the same names in docs/commands.md and in the code, which names them in errors', () => {
    const rows = read('docs/commands.md').match(/^\| `handshake\.[^|]*\|[^|]*\|/gm) ?? [];
    const documented = rows.flatMap((row) =>
      [...(row.split('|')[2] ?? '').matchAll(/`([a-zA-Z]+)\??`/g)].map((match) => match[1] ?? ''),
    );
    const folder = 'src/ui/commands';
    const used = readdirSync(path.join(root, folder)).flatMap((file) =>
      [...read(path.join(folder, file)).matchAll(/\.get\(\d, '(\w+)'/g)].map((match) => match[1] ?? ''),
    );
    same([...new Set(documented)], [...new Set(used)]);
  });
});

describe('the texts', () => {
  it('of the manifest all exist in package.nls.json, and nothing more', () => {
    const used = [...read('package.json').matchAll(/"%([\w.]+)%"/g)].map(([, key = '']) => key);
    same(used, Object.keys(nls));
  });

  it('of the code all stand in l10n/bundle.l10n.json, and nothing more', () => {
    const bundle = z.record(z.string(), z.string()).parse(JSON.parse(read('l10n/bundle.l10n.json')));
    const missing = textsOfCode().filter((text) => bundle[text] === undefined);
    assert.deepEqual(missing, [], 'run "node l10n/collect.mjs"');
    same(textsOfCode(), Object.keys(bundle));
    for (const [text, english] of Object.entries(bundle)) assert.equal(english, text);
  });
});

/** Every literal that is handed to `l10n.t`. */
function textsOfCode(): string[] {
  const files = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const texts: string[] = [];
  for (const file of files.filter((name) => name.endsWith('.ts'))) {
    const calls = read(path.join('src', file)).matchAll(
      /l10n\.t\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/g,
    );
    for (const [, single, double] of calls) texts.push((single ?? double ?? '').replace(/\\(.)/g, '$1'));
  }
  return sorted(texts);
}
