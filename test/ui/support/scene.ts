import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Frame, Locator } from 'playwright-core';
import * as z from 'zod';
import { type ModelServer, type ScriptStep, script, startModelServer, text } from '../../model-server';
import { WorkbenchDriver } from '../driver';
import { eventually } from '../driver-wait';
import type { TreeRow } from '../driver-workbench';

export const KEY = 'sk-ant-api-key-of-the-browser-tests';

/** Tokens; so many that only who reports them on purpose comes near. */
export const MEMBER_BUDGET = 1_000_000_000;

const logEntry = z.looseObject({
  event: z.string(),
  request_id: z.string().optional(),
  change: z.string().optional(),
  id: z.string().optional(),
});
export type LogEntry = z.infer<typeof logEntry>;

const config = z.object({ members: z.array(z.object({ name: z.string(), status: z.string() })) });

/**
 * One window on the sample workspace for all scenarios, and a model server for its members. Nothing of the
 * product is reached but by what a person can see and click; files of the workspace tell what came of it.
 */
export class Scene {
  #window: WorkbenchDriver | undefined;
  #model: ModelServer | undefined;

  get window(): WorkbenchDriver {
    if (this.#window === undefined) throw new Error('The scene has not begun.');
    return this.#window;
  }

  get model(): ModelServer {
    if (this.#model === undefined) throw new Error('The scene has not begun.');
    return this.#model;
  }

  /** The address of the model is set, but no key is. */
  async start(): Promise<void> {
    this.#model = await startModelServer({ brain: () => [text('Noted.')], key: KEY });
    this.#window = await WorkbenchDriver.start({
      settings: { 'handshake.baseUrl': this.#model.url, 'handshake.memberTokenBudget': MEMBER_BUDGET },
    });
  }

  async close(): Promise<void> {
    await this.#window?.close();
    await this.#model?.close();
  }

  /** Puts the Conversation to the right, where people keep chats, and the trees to the left. */
  async settle(): Promise<void> {
    const { page } = this.window;
    await this.window.chooseFromContainerMenu('Handshake Conversation', 'Move To', 'Secondary Side Bar');
    await page.locator('.part.auxiliarybar:visible').waitFor();
    await this.window.openView('Handshake');
    await this.conversation();
  }

  // ── the model

  /** What each member says from now on, reply by reply; a member without a line left says `Noted.`. */
  play(steps: Record<string, ScriptStep[]>): void {
    const written = script(steps);
    this.model.setBrain((request) =>
      (written.remaining()[request.member] ?? 0) > 0 ? written(request) : [text('Noted.')],
    );
  }

  /** Ends what the last test left behind, as a person would: teammates, notifications, editors. */
  async fresh(): Promise<void> {
    const { window } = this;
    this.play({});
    for (const { name, status } of await this.members()) {
      if (status === 'shutdown') continue;
      await window.runCommand('Handshake: Force Stop a Teammate…');
      await window.pick(name);
      await this.becomes(name, 'shutdown');
    }
    if ((await this.members()).length > 0) await window.runCommand('Handshake: Clean Up the Team');
    if ((await window.notifications()).length > 0) {
      await window.runCommand('Notifications: Clear All Notifications');
    }
    if (await window.page.locator('.tabs-container .tab').first().isVisible()) {
      await window.runCommand('View: Close All Editors');
    }
    await window.openView('Handshake');
    await this.closeTasks();
    await this.waits(0);
    await this.still();
    this.model.requests.length = 0;
  }

  /** A task that is left open would be taken by the next teammate. */
  private async closeTasks(): Promise<void> {
    const open = async (): Promise<string[]> => {
      let group = '';
      return (await this.window.treeRows('Board')).flatMap(({ level, label }) => {
        if (level === 1) group = label;
        return level > 1 && ['Ready', 'Waiting', 'In Progress'].includes(group) ? [label] : [];
      });
    };
    for (const task of await open()) {
      await this.window.chooseFromContextMenu('Board', task, 'Mark as Done…');
      await this.window.answerInput('');
      await eventually(open, (left) => !left.includes(task), `${task} to be done`);
    }
  }

  // ── the workspace

  file(...path: string[]): string {
    return join(this.window.folder ?? '', ...path);
  }

  /** `.team/log.jsonl`, oldest first; empty while there is none. */
  async log(): Promise<LogEntry[]> {
    const lines = (await readIfThere(this.file('.team', 'log.jsonl'))).split('\n');
    return lines.filter((line) => line !== '').map((line) => logEntry.parse(JSON.parse(line)));
  }

  /** What became of a request: `opened`, `approved`, … in their order. */
  private async changesOf(requestId: string): Promise<string[]> {
    return (await this.log()).flatMap(({ event, request_id, change }) =>
      event === 'request' && request_id === requestId && change !== undefined ? [change] : [],
    );
  }

  /** The teammates of `.team/config.json`. */
  async members(): Promise<readonly { name: string; status: string }[]> {
    const content = await readIfThere(this.file('.team', 'config.json'));
    return content === '' ? [] : config.parse(JSON.parse(content)).members;
  }

  /** Resolves when a teammate has this status. */
  async becomes(member: string, status: string): Promise<void> {
    await eventually(
      async () => (await this.members()).find(({ name }) => name === member)?.status,
      (found) => found === status,
      `${member} to be ${status}`,
    );
  }

  /** Resolves when a request has gone through these changes and no others. The file is written behind the team. */
  async goesThrough(requestId: string, ...changes: string[]): Promise<void> {
    await eventually(
      () => this.changesOf(requestId),
      (found) => found.join() === changes.join(),
      `request ${requestId} to be ${changes.join(', ')}`,
    );
  }

  /** Resolves when a request was decided or withdrawn once. */
  endsAs(requestId: string, change: 'approved' | 'rejected' | 'cancelled'): Promise<void> {
    return this.goesThrough(requestId, 'opened', change);
  }

  /** Whether the workspace has this file. */
  exists(...path: string[]): Promise<boolean> {
    return access(this.file(...path)).then(
      () => true,
      () => false,
    );
  }

  // ── what waits

  /** The row of a pending request about these words, and its id, once it is there. */
  async pending(words: string): Promise<{ id: string; row: TreeRow }> {
    const row = await eventually(
      async () => (await this.rows()).find(({ label, spoken }) => `${label}${spoken}`.includes(words)),
      (found) => found !== undefined && /waits for a decision$/.test(found.spoken),
      `a request about '${words}'`,
    );
    const id = /([0-9a-f]{8})$/.exec(row?.description ?? '')?.[1];
    if (row === undefined || id === undefined) throw new Error(`The row of '${words}' shows no id`);
    return { id, row };
  }

  /** The drawn rows of requests that are not folded under Decided. */
  async rows(): Promise<TreeRow[]> {
    const rows = await this.window.treeRows('Requests');
    return rows.filter(({ level, label }) => level === 1 && label !== 'Decided');
  }

  /** Resolves when nothing in the Requests view is about to move: decided rows have left and are folded. */
  private async still(): Promise<void> {
    await eventually(
      () => this.rows(),
      (rows) => rows.length === 0,
      'the decided rows to leave',
    );
    const group = async (): Promise<TreeRow | undefined> =>
      (await this.window.treeRows('Requests')).find(({ label }) => label === 'Decided');
    if ((await group())?.expanded !== true) return;
    await this.window.treeRow('Requests', 'Decided').click();
    await eventually(group, (row) => row?.expanded === false, 'the decided rows to be folded');
  }

  /** Resolves when badge and status bar both count so many. */
  async waits(count: number): Promise<void> {
    const badge = count === 0 ? undefined : String(count);
    await eventually(
      () => this.window.badge('Handshake'),
      (shown) => shown === badge,
      `the badge ${badge ?? 'to be gone'}`,
    );
    if (count === 0)
      await this.status.and(this.window.page.locator('.warning-kind')).waitFor({ state: 'detached' });
    else await this.status.filter({ hasText: `${count} waiting` }).waitFor();
  }

  /** The status bar item. */
  get status(): Locator {
    return this.window.page.locator('.statusbar-item[id$="handshake.status"]');
  }

  // ── the pages

  /** The page of the Conversation that is in sight. */
  conversation(): Promise<Frame> {
    return this.window.webviewFrame((frame) => frame.locator('.composer').isVisible());
  }

  /** The panel of a request, once it shows it. */
  panel(requestId: string): Promise<Frame> {
    const heading = `body[data-request-id="${requestId}"] header h1:not(:empty)`;
    return this.window.webviewFrame((frame) => frame.locator(heading).isVisible());
  }

  /** Types a sentence into the Conversation and sends it. */
  async tell(words: string): Promise<void> {
    const frame = await this.conversation();
    const input = frame.getByRole('textbox', { name: 'Message to the lead' });
    await input.fill(words);
    // A notification may lie over the button.
    await input.press('Enter');
  }
}

async function readIfThere(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}
