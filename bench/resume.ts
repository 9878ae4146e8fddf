/**
 * One reopening of a team, in a fresh process. `make` builds it first: so many teammates that were at work, each
 * with a transcript of so many bytes. Arguments: `make` or `open`, storage, workspace, teammates, bytes.
 */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import * as path from 'node:path';
import * as z from 'zod';
import { openCore } from '../src/agent/core';
import type { LanguageModel } from '../src/model/port';
import type { Vault, VaultContent } from '../src/store';
import { createNodeWorkspace } from '../src/workspace/node';
import { testSettings } from '../test/unit/support/settings';
import { argument, report } from './support/child';
import type { ResumeReport } from './support/reports';

const vaultContent = z.object({
  key: z.string(),
  anchor: z.object({ seq: z.number(), mac: z.string() }).nullable(),
});

/** Keeps the key beside the journal: what a machine's secret storage does, without its time. */
function fileVault(storage: string): Vault {
  const file = path.join(storage, 'vault.json');
  return {
    load: async (): Promise<VaultContent | undefined> =>
      existsSync(file) ? vaultContent.parse(JSON.parse(await readFile(file, 'utf8'))) : undefined,
    save: async (content) => writeFileSync(file, JSON.stringify(content)),
  };
}

const silent: LanguageModel = {
  label: 'Silent',
  isDemo: false,
  call: () => Promise.reject(new Error('Nobody is to be called.')),
};

function open(storage: string, workspace: string) {
  return openCore({
    workspace: createNodeWorkspace(workspace),
    storageDir: storage,
    vault: fileVault(storage),
    settings: () => testSettings({ requestDeadlineMs: 3_600_000 }),
    languageModel: async () => silent,
    log: () => undefined,
  });
}

/** A conversation that reads files, with a call that the window's end cut off. */
function transcriptText(bytes: number): string {
  const at = 1_700_000_000_000;
  const line = (turn: object): string => `${JSON.stringify({ at, turn })}\n`;
  const prompt = line({ role: 'user', content: [{ type: 'text', text: 'Go.' }] });
  const use = (id: string) => ({ type: 'tool_use', id, name: 'read_file', input: { path: 'src/a.ts' } });
  const parts = [prompt];
  let size = prompt.length;
  for (let n = 0; size < bytes; n++) {
    const call = line({ role: 'assistant', content: [{ type: 'text', text: 'I look.' }, use(`c${n}`)] });
    const content = 'export const value = 1;\n'.repeat(200);
    const result = line({ role: 'user', content: [{ type: 'tool_result', tool_use_id: `c${n}`, content }] });
    parts.push(call, result);
    size += call.length + result.length;
  }
  parts.push(line({ role: 'assistant', content: [use('last')] }));
  return parts.join('');
}

async function make(storage: string, workspace: string, teammates: number, bytes: number): Promise<void> {
  mkdirSync(storage, { recursive: true });
  const core = await open(storage, workspace);
  const names = Array.from({ length: teammates }, (_, n) => `mate${n + 1}`);
  for (const name of names) await core.spawn({ name, role: 'coder', prompt: 'Go.' }, 'human');
  await core.dispose();
  mkdirSync(path.join(storage, 'transcripts'), { recursive: true });
  const text = transcriptText(bytes);
  for (const name of names) writeFileSync(path.join(storage, 'transcripts', `${name}-1.jsonl`), text);
}

report(async (): Promise<ResumeReport> => {
  const [storage, workspace] = [argument(1, 'storage'), argument(2, 'workspace')];
  const teammates = Number(argument(3, 'teammates'));
  if (argument(0, 'what to do') === 'make') {
    await make(storage, workspace, teammates, Number(argument(4, 'bytes')));
    return { openMs: 0, heapBytes: 0 };
  }
  globalThis.gc?.();
  const before = process.memoryUsage();
  const begun = performance.now();
  const core = await open(storage, workspace);
  const openMs = performance.now() - begun;
  // And the lead, who has mail of theirs.
  if (core.resumable().length !== teammates + 1)
    throw new Error(`${core.resumable().length} of ${teammates} teammates can go on.`);
  globalThis.gc?.();
  const after = process.memoryUsage();
  await core.dispose();
  const growth = after.heapUsed + after.external - before.heapUsed - before.external;
  return { openMs, heapBytes: growth };
});
