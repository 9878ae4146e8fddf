import * as fs from 'node:fs';
import * as path from 'node:path';
import { transcriptRecord } from '../../src/agent/transcript';
import type { ConversationTurn } from '../../src/model/port';
import { LEAD, type TeamMessage } from '../../src/protocol';
import { TranscriptFile } from '../../src/store';
import { hear, invalid, isCutOff } from './heard';
import type { Home, Life } from './life';
import { leftBehind } from './mirrorCheck';
import { type Note, readNotes } from './notes';

interface Transcript {
  /** Such as `alice-1`. */
  owner: string;
  turns: ConversationTurn[];
  /** The messages it shows, in order. */
  told: TeamMessage[];
}

/**
 * What a team must be able to say of itself after any crash, against what it said before.
 * @param ended whether the scenario has come to its end, so that nothing may be open any more
 * @returns what is wrong
 */
export async function check(home: Home, life: Life, ended: boolean): Promise<string[]> {
  const notes = readNotes(home.notes);
  const transcripts = await readTranscripts(home);
  return [
    ...life.brain.problems,
    ...checkRequests(life, notes),
    ...checkMessages(life, notes, transcripts),
    ...checkTranscripts(transcripts, ended),
    ...checkEffects(notes, transcripts, ended),
    ...checkRoster(life, ended),
    ...checkLeases(life, ended),
    ...checkTasks(life, notes, ended),
    ...checkMirror(home, ended),
  ];
}

/** Nobody holds a file that is not there, or has come to its end. */
function checkLeases({ core }: Life, ended: boolean): string[] {
  return core.leases().flatMap(({ member: name, incarnation, path: file, task }) => {
    if (ended) return [`${name} holds ${file} at the end`];
    if (name === LEAD) return [];
    const member = core.member(name);
    if (member?.incarnation !== incarnation) return [`${name} holds ${file} and is not there`];
    const isOver = member.status === 'shutdown' || member.status === 'failed' || member.taskId !== task;
    return isOver ? [`${name} holds ${file} for ${task}, and is ${member.status} with ${member.taskId}`] : [];
  });
}

/** No request is lost, none is decided twice or otherwise than was said. */
function checkRequests(life: Life, notes: readonly Note[]): string[] {
  const wrong: string[] = [];
  const ends = new Map<string, number>();
  for (const note of notes) {
    if (note.t !== 'opened' && note.t !== 'ended') continue;
    const now = life.core.request(note.id);
    if (!now) {
      wrong.push(`request ${note.id} is lost`);
      continue;
    }
    if (note.t === 'opened') {
      if (now.kind !== note.kind) wrong.push(`request ${note.id} was a ${note.kind}, is a ${now.kind}`);
      continue;
    }
    ends.set(note.id, (ends.get(note.id) ?? 0) + 1);
    const said = `${note.status} by ${note.by} (${note.feedback})`;
    const is = `${now.status} by ${now.decidedBy ?? ''} (${now.feedback ?? ''})`;
    if (said !== is) wrong.push(`request ${note.id} was ${said}, is ${is}`);
  }
  for (const [id, count] of ends) if (count > 1) wrong.push(`request ${id} ended ${count} times`);
  for (const { requestId, kind, payload, status } of life.core.requests()) {
    const text = JSON.stringify(payload);
    const mayNot = kind === 'plan_approval' ? /First|Second/ : /b2\.txt|make slow/;
    if (status === 'approved' && mayNot.test(text)) wrong.push(`request ${requestId} was approved: ${text}`);
  }
  return wrong;
}

/** Each message is shown once, or still waits, or its recipient has gone. */
function checkMessages(life: Life, notes: readonly Note[], transcripts: readonly Transcript[]): string[] {
  const wrong: string[] = [];
  const shown = new Map<string, string[]>();
  for (const { owner, told } of transcripts) {
    for (const { id } of told) shown.set(id, [...(shown.get(id) ?? []), owner]);
  }
  for (const [id, owners] of shown) {
    if (owners.length > 1) wrong.push(`message ${id} was shown ${owners.length} times: ${owners.join(', ')}`);
  }
  for (const note of notes) {
    if (note.t !== 'sent' || note.to === 'human') continue;
    const member = life.core.member(note.to);
    const isHere = note.to === 'lead' || member?.incarnation === note.incarnation;
    const waits = isHere && life.core.unread(note.to).some(({ id }) => id === note.id);
    const isGone = note.to !== 'lead' && (!isHere || member?.status === 'shutdown');
    if (!shown.has(note.id) && !waits && !isGone) {
      wrong.push(`the ${note.type} '${note.content}' (${note.id}) to ${note.to} is lost`);
    }
    const owner = note.to === 'lead' ? 'lead-1' : `${note.to}-${note.incarnation}`;
    const wrongOwner = shown.get(note.id)?.find((name) => name !== owner);
    if (wrongOwner) wrong.push(`message ${note.id} for ${owner} was shown to ${wrongOwner}`);
  }
  return wrong;
}

function checkTranscripts(transcripts: readonly Transcript[], ended: boolean): string[] {
  return transcripts.flatMap(({ owner, turns }) =>
    // At rest after a crash the last calls may still lack their results; the next model call must not.
    invalid(turns, { mayEndInCalls: !ended }).map((text) => `transcript ${owner}: ${text}`),
  );
}

/** A handler ran at most once, only for a call in the transcript, and what its result says is true. */
function checkEffects(notes: readonly Note[], transcripts: readonly Transcript[], ended: boolean): string[] {
  const wrong: string[] = [];
  const ran = new Map<string, number>();
  for (const note of notes) if (note.t === 'ran') ran.set(note.id, (ran.get(note.id) ?? 0) + 1);
  for (const [id, count] of ran) if (count > 1) wrong.push(`the call ${id} ran ${count} times`);
  const calls = transcripts.flatMap(({ turns }) => hear(turns).calls);
  const byId = new Map(calls.map((call) => [call.id, call]));
  for (const id of ran.keys()) {
    const call = byId.get(id);
    if (!call) wrong.push(`the call ${id} ran, but no transcript has it`);
    else if (call.failed && !isCutOff(call)) {
      wrong.push(`the call ${id} ran, but its result is: ${call.result ?? ''}`);
    }
  }
  for (const call of calls) {
    if (ended && call.result === undefined) wrong.push(`the call ${call.id} has no result`);
    const succeeded = call.name === 'write_file' && call.result !== undefined && !call.failed;
    if (succeeded && !ran.has(call.id)) wrong.push(`the call ${call.id} did not run, but has a result`);
  }
  return wrong;
}

/** Nobody is listed as working who is not. */
function checkRoster(life: Life, ended: boolean): string[] {
  if (ended) return [];
  return life.core
    .members()
    .filter(({ status }) => status === 'working' || status === 'stopping')
    .map(({ name, status }) => `${name} is listed as ${status}`);
}

/** No task is lost or made twice, none is completed twice, and none is with somebody who is not there. */
function checkTasks({ core }: Life, notes: readonly Note[], ended: boolean): string[] {
  const wrong: string[] = [];
  const times = new Map<string, number>();
  for (const note of notes) {
    if (note.t !== 'task') continue;
    if (!core.task(note.id)) wrong.push(`task ${note.id} is lost`);
    if (note.change !== 'created' && note.change !== 'completed') continue;
    const key = `${note.id} was ${note.change}`;
    times.set(key, (times.get(key) ?? 0) + 1);
    if (times.get(key) === 2) wrong.push(`task ${key} twice`);
    if (note.change === 'completed' && core.task(note.id)?.status !== 'completed') {
      wrong.push(`task ${note.id} was completed, and is ${core.task(note.id)?.status}`);
    }
  }
  const owners: string[] = [];
  for (const { id, status, owner, ownerIncarnation, subject } of core.tasks()) {
    if (core.tasks().some((other) => other.id !== id && other.subject === subject)) {
      wrong.push(`there are two tasks '${subject}'`);
    }
    if (ended && status !== 'completed') wrong.push(`task ${id} is ${status} in the end`);
    if (status !== 'in_progress' || owner === undefined) continue;
    const member = core.member(owner);
    if (member?.incarnation !== ownerIncarnation || member?.status === 'shutdown') {
      wrong.push(`task ${id} is under way with ${owner} ${ownerIncarnation}, who is not there`);
    }
    if (owners.includes(owner)) wrong.push(`${owner} has two tasks`);
    owners.push(owner);
  }
  return wrong;
}

/** Every file of `.team/` can be read, and the roster is the team's. */
function checkMirror(home: Home, ended: boolean): string[] {
  const dir = path.join(home.root, '.team');
  if (!fs.existsSync(dir)) return [];
  const inbox = path.join(dir, 'inbox');
  const files = [
    path.join(dir, 'log.jsonl'),
    ...(fs.existsSync(inbox) ? fs.readdirSync(inbox).map((name) => path.join(inbox, name)) : []),
  ].filter((file) => fs.existsSync(file));
  const wrong = files.flatMap((file) =>
    fs
      .readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, index) => (line === '' || isJson(line) ? [] : [`${file}, line ${index + 1}: ${line}`])),
  );
  if (ended) wrong.push(...leftBehind(home));
  const config = path.join(dir, 'config.json');
  if (fs.existsSync(config) && !isJson(fs.readFileSync(config, 'utf8'))) wrong.push(`${config} is damaged`);
  return wrong;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // That it cannot be parsed is the answer.
    return false;
  }
}

export async function readTranscripts({ storageDir }: Home): Promise<Transcript[]> {
  const dir = path.join(storageDir, 'transcripts');
  if (!fs.existsSync(dir)) return [];
  const names = fs.readdirSync(dir).filter((name) => name.endsWith('.jsonl'));
  return Promise.all(
    names.map(async (name) => {
      const lines = await TranscriptFile.load(path.join(dir, name), ({ line, reason }) => {
        if (!/cut off/.test(reason) && !isMarked(path.join(dir, name), line)) {
          throw new Error(`${name}, line ${line}: ${reason}`);
        }
      });
      const transcript: Transcript = { owner: path.basename(name, '.jsonl'), turns: [], told: [] };
      for (const line of lines) {
        const { turn, mail } = transcriptRecord.parse(line);
        transcript.told.push(...(mail ?? []));
        const last = transcript.turns.at(-1);
        if (turn.role === 'user' && last?.role === 'user') last.content.push(...turn.content);
        else transcript.turns.push(turn as ConversationTurn);
      }
      return transcript;
    }),
  );
}

/** A tail that a crash cut off is marked as such when the file is next written. */
function isMarked(file: string, line: number): boolean {
  return fs.readFileSync(file, 'utf8').split('\n')[line - 1]?.endsWith(' (cut off)') ?? false;
}
