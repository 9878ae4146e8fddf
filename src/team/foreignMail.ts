import * as path from 'node:path';
import * as z from 'zod';
import { inboxLine, LEAD, Refusal, readForeignLine, shorten, type TeamMessage } from '../protocol';
import type { InboxHost } from './inboxFiles';
import { lineageOf } from './lineage';
import { isGone } from './member';
import type { MirrorFiles } from './ports';
import { answeringMessage, askingMessage, standInMessage } from './responses';
import type { Team } from './team';

/** How the lines that we write begin (see `inboxLine`); each part of it may be where one was cut off. */
const OWN_START = '{"id":"';
const OWN_BEGINNING = /^\{"id":"([^"]*)("?,?"?t?y?p?e?"?:?"?)/;

const ownLine = z.object({
  id: z.string(),
  type: z.string(),
  from: z.string(),
  request_id: z.string().optional(),
  approve: z.boolean().optional(),
});

/** Types that decide nothing, so that the id alone tells whether a line is ours. */
const HARMLESS: ReadonlySet<string> = new Set([
  'message',
  'broadcast',
  'result',
  'error',
  'idle_notification',
  'plan_request',
]);

/** Decides what becomes of a line that another program put into an inbox. */
export class ForeignMail implements InboxHost {
  #toldOfMirror = false;

  constructor(
    private readonly team: Team,
    private readonly inboxDir: string,
    private readonly files: MirrorFiles,
    private readonly now: () => number,
  ) {}

  wanted(name: string): readonly string[] {
    return this.team.unread(name).map((message) => inboxLine(message, lineageOf(this.team.state)));
  }

  isOwnLine(line: string): boolean {
    const own = ownLine.safeParse(parsed(line));
    if (!own.success || !this.team.state.knowsMessage(own.data.id)) return false;
    if (HARMLESS.has(own.data.type)) return true;
    // What asks or answers is ours only as its request has it: a known id alone is soon copied.
    const request = this.team.decisions.registry.get(own.data.request_id ?? '');
    if (request === undefined) return false;
    const standIn = request.kind === 'tool_permission' ? standInMessage(request) : undefined;
    return [askingMessage(request), standIn, answeringMessage(request)].some(
      (message) =>
        message !== undefined &&
        message.id === own.data.id &&
        message.type === own.data.type &&
        message.from === own.data.from &&
        message.approve === own.data.approve,
    );
  }

  withoutCutOff(line: string): string {
    if (OWN_START.startsWith(line)) return '';
    const [, id, end] = OWN_BEGINNING.exec(line) ?? [];
    if (id === undefined || parsed(line) !== undefined) return line;
    if (end === '","type":"' && !this.team.state.knowsMessage(id)) return line;
    // What another program appended to the stump stands on the same line.
    for (let at = line.indexOf('{', 1); at !== -1; at = line.indexOf('{', at + 1)) {
      const rest = line.slice(at);
      if (typeof parsed(rest) === 'object') return rest;
    }
    return '';
  }

  async takeForeign(name: string, line: string, id: string): Promise<void> {
    if (this.team.state.knowsMessage(id)) return;
    const read = readForeignLine(line, [this.team.state.teamId, lineageOf(this.team.state)]);
    if (read.kind === 'damaged') {
      const beside = path.join(this.inboxDir, `${name}.damaged.jsonl`);
      await this.files.append(beside, `${line}\n`);
      this.#notice(
        `A line in ${name}'s inbox is damaged (${read.reason}). It was not delivered; it is kept in ${beside}.`,
      );
      return;
    }
    if (read.kind === 'control') {
      const text = `A line in ${name}'s inbox file posed as ${shorten(read.type, 40)} from ${shorten(read.from, 40)}. It was refused: decisions never come through a file.`;
      this.team.decisions.refuse(new Refusal('foreign_control', text), 'external');
      this.#notice(text);
      return;
    }
    if (read.kind === 'mirrored') {
      const beside = path.join(this.inboxDir, `${name}.other-window.jsonl`);
      await this.files.append(beside, `${line}\n`);
      if (!this.#toldOfMirror) {
        this.#notice(
          `Messages of another team lie in the inboxes of this folder, as another window on it may leave them. They were left alone, and are kept in ${beside}.`,
        );
      }
      this.#toldOfMirror = true;
      return;
    }
    const member = name === LEAD ? undefined : this.team.state.member(name);
    if (name !== LEAD && (!member || isGone(member))) {
      if (read.content.trim() === '') return;
      const kept = `For ${name}, who is not in the team: ${read.content}`;
      const message: TeamMessage = {
        id,
        type: 'message',
        from: shorten(read.from, 64),
        to: LEAD,
        toIncarnation: 0,
        content: kept,
        timestamp: this.now() / 1000,
        external: true,
      };
      await this.team.ledger.commit([{ t: 'mail', message }]);
      this.#notice(`A line in ${name}'s inbox file was kept for the lead: ${name} is not in the team.`);
      return;
    }
    const message: TeamMessage = {
      id,
      type: 'message',
      from: shorten(read.from, 64),
      to: name,
      toIncarnation: member?.incarnation ?? 0,
      content: read.content,
      timestamp: this.now() / 1000,
      external: true,
    };
    if (member) await this.team.deliver(name, message);
    else await this.team.ledger.commit([{ t: 'mail', message }]);
  }

  tellNoFile(name: string, what: string, beside: string): void {
    const file = path.join(this.inboxDir, `${name}.jsonl`);
    this.#notice(`${file} was ${what}. It is kept as ${beside}; the inbox is written anew.`);
  }

  #notice(text: string): void {
    this.team.ledger.events.fire({ type: 'notice', level: 'warning', text });
  }
}

/** The value of a line, or undefined for what is not JSON: no line of ours, and {@link readForeignLine} says why. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
