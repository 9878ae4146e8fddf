/**
 * Plain English to steps, by rules over clauses. It understands what the tutorial says and its near
 * variants; a sentence it does not understand gives no step, and the lead then says what it understands.
 */

import { givesRole, NAME, Names, readSpawn, sharedRole, spawnContinued } from './names';

export type Step =
  | { do: 'spawn'; name: string; role: string; task: string; plan: boolean }
  | { do: 'shutdown'; name: string; reason: string }
  | { do: 'list'; about: string[] }
  /** `approve` is undefined where only a review is asked for; `name` is '' for any teammate's plan. */
  | { do: 'review'; name: string; approve: boolean | undefined; feedback: string; requestId: string }
  | { do: 'plan'; name: string; topic: string }
  | { do: 'tell'; name: string; text: string }
  | { do: 'broadcast'; text: string }
  | { do: 'run'; command: string };

const POLITE =
  /^(?:(?:please|now|then|and|also|finally|next|first|afterwards|after that|hey|ok|okay|lead|could you|can you|would you|will you|i want you to|i would like you to|let's)\b[\s,:]*)+/i;
const CLAUSE = /\s*(?:;|,?\s+and\s+then\s|,?\s+then\s|,\s*and\s|\s+and\s|,)\s*/i;
const DECISION = /\b(approve|accept|reject|decline|deny|refuse|turn\s+down)\b/i;
const SHUTDOWN = /\bshut(?:ting)?[\s-]*(?:[\w-]+\s+)?down\b|^(?:stop|dismiss|terminate)\s/i;
const TELL = new RegExp(
  `^(?:tell|message|remind|inform|notify|send|write to)\\s+(?:a\\s+message\\s+to\\s+)?(${NAME})\\b(?:\\s+(?:a|the|this)\\s+(?:message|note))?[,:]?\\s*(?:(?:to|that|saying)\\b[,:]?\\s*)?(.+)$`,
  'i',
);

/**
 * @param known names of teammates from earlier in the conversation, oldest first
 */
export function understand(text: string, known: readonly string[]): Step[] {
  const names = new Names(known);
  const steps: Step[] = [];
  for (const raw of text.split(/(?<=[.!?])\s+|\n+/)) {
    const sentence = raw.replace(POLITE, '').replace(/[\s.!?]+$/, '');
    if (sentence === '') continue;
    names.startSentence();
    const whole = readWhole(sentence, names);
    if (whole.length > 0) steps.push(...whole);
    else readClauses(sentence, names, steps);
  }
  return settle(steps);
}

/** Sentences whose rest is somebody's message and is not taken apart. */
function readWhole(sentence: string, names: Names): Step[] {
  const broadcast =
    /^(?:broadcast|announce)\b(?:\s+to\s+(?:everyone|everybody|all|the team))?[,:]?\s*(?:that\s+)?(.+)$/i.exec(
      sentence,
    );
  if (broadcast?.[1]) return [{ do: 'broadcast', text: unquote(broadcast[1]) }];
  const tell = TELL.exec(sentence);
  const [, target, words] = tell ?? [];
  if (!target || !words || SHUTDOWN.test(sentence) || /\bplan\b/i.test(sentence)) return [];
  if (/^(?:everyone|everybody|all|the|team)$/i.test(target)) {
    const rest = words.replace(/^(?:team(?:mates)?|teammates|of them)\b[,:]?\s*(?:(?:to|that)\s+)?/i, '');
    return [{ do: 'broadcast', text: unquote(rest) }];
  }
  return names.resolve(target).map((name) => ({ do: 'tell', name, text: unquote(words) }));
}

function readClauses(sentence: string, names: Names, steps: Step[]): void {
  const before = steps.length;
  // Started in this sentence, and with no role as yet.
  let bare: Extract<Step, { do: 'spawn' }>[] = [];
  for (const part of sentence.split(CLAUSE)) {
    const clause = part.replace(POLITE, '').trim();
    if (clause === '') continue;
    const found = readClause(clause, names, steps.slice(before));
    const [first] = found;
    if (first?.do === 'spawn') {
      const shared = bare.length > 0 ? sharedRole(clause) : undefined;
      if (shared !== undefined) for (const step of [...bare, first]) step.role = shared;
      bare = givesRole(clause) ? [] : [...bare, first];
    }
    if (found.length > 0) steps.push(...found);
    else extend(steps.at(-1), clause, steps.length > before);
  }
}

function readClause(clause: string, names: Names, sameSentence: Step[]): Step[] {
  const spawn =
    readSpawn(clause) ?? (sameSentence.at(-1)?.do === 'spawn' ? spawnContinued(clause) : undefined);
  if (spawn) {
    names.mention(spawn.name);
    return [{ do: 'spawn', ...spawn, plan: /\bplan\b/i.test(spawn.task) }];
  }
  if (
    /^(?:list|show|display|who|what|how|check|see|get)\b/i.test(clause) &&
    /\b(?:team\s?mates?|team|members?|roster|status|doing|who)\b|^check on\b/i.test(clause)
  )
    return [{ do: 'list', about: names.in(clause) }];
  const shuts = SHUTDOWN.test(clause);
  const decision = shuts ? undefined : DECISION.exec(clause)?.[1];
  if (decision) return readReview(clause, /approve|accept/i.test(decision), names);
  if (shuts) {
    const reason = /\b(?:because|since|as)\s+(.+)$/i.exec(clause)?.[1] ?? '';
    const targets = names.targets(clause.replace(/\b(?:because|since)\s.+$/i, ''));
    return targets.map((name) => ({ do: 'shutdown', name, reason }));
  }
  if (/\bplan\b/i.test(clause) && !/^review\b/i.test(clause)) {
    const topic = /\bplan\s+(?:for|about|on|to)\s+(.+)$/i.exec(clause)?.[1] ?? '';
    return names.targets(clause.replace(/\bplan\b.*$/i, '')).map((name) => ({ do: 'plan', name, topic }));
  }
  if (/^review\b/i.test(clause)) return readReview(clause, undefined, names);
  const have = new RegExp(`^(?:have|let|ask|make|get|want|tell)\\s+(${NAME})\\s+(?:to\\s+)?(.+)$`, 'i').exec(
    clause,
  );
  if (have?.[1] && have[2]) {
    const text = have[2];
    return names.resolve(have[1]).map((name) => ({ do: 'tell', name, text }));
  }
  const command = /^run\s+[`"'](.+)[`"']$/i.exec(clause)?.[1];
  if (command) return [{ do: 'run', command }];
  if (/^run\s+(?:(?:all|the|its|our)\s+)*(?:npm\s+)?tests?\b/i.test(clause))
    return [{ do: 'run', command: 'npm test' }];
  return [];
}

function readReview(clause: string, approve: boolean | undefined, names: Names): Step[] {
  const split = /\s*(?:\bbecause\b|\bsince\b|\bwith\s+(?:the\s+)?feedback\b|\bsaying\b|:)\s*(.+)$/i.exec(
    clause,
  );
  const feedback = unquote(split?.[1] ?? '');
  const head = split ? clause.slice(0, split.index) : clause;
  const requestId = /\b[0-9a-f]{8}\b/.exec(head)?.[0] ?? '';
  const any = /\b(?:any|every|all|each)\b/i.test(head);
  const targets = any || requestId ? [''] : names.targets(head.replace(DECISION, ' '));
  return (targets.length > 0 ? targets : ['']).map((name) => ({
    do: 'review',
    name,
    approve,
    feedback,
    requestId,
  }));
}

/** A clause that is no step of its own goes on with the free text of the one before it. */
function extend(step: Step | undefined, clause: string, sameSentence: boolean): void {
  if (!step || !sameSentence) return;
  if (step.do === 'spawn' && step.task) step.task += ` and ${clause}`;
  else if (step.do === 'review' && step.feedback) step.feedback += ` and ${clause}`;
  else if (step.do === 'shutdown' && step.reason) step.reason += ` and ${clause}`;
  else if (step.do === 'tell') step.text += ` and ${clause}`;
}

/** What is asked of somebody who is spawned in the same breath belongs to that spawn's prompt. */
function settle(steps: Step[]): Step[] {
  const spawns = new Map<string, Extract<Step, { do: 'spawn' }>>();
  for (const step of steps) if (step.do === 'spawn') spawns.set(step.name, step);
  const review = steps.findLast((step) => step.do === 'review' && step.approve !== undefined);
  return steps.filter((step) => {
    // `Review and reject his plan` is one review.
    if (step.do === 'review' && step.approve === undefined && review) return false;
    const targets =
      step.do === 'review' && step.name === '' ? [...spawns.keys()] : 'name' in step ? [step.name] : [];
    for (const name of targets) {
      const spawn = spawns.get(name);
      if (!spawn) continue;
      if (step.do === 'review') spawn.plan = true;
      if (step.do === 'plan') {
        spawn.plan = true;
        if (!spawn.task) spawn.task = step.topic;
        return false;
      }
      if (step.do === 'tell') {
        spawn.task = spawn.task ? `${spawn.task} and ${step.text}` : step.text;
        return false;
      }
    }
    return true;
  });
}

function unquote(text: string): string {
  return text.replace(/^["“'`](.*)["”'`]$/s, '$1').trim();
}
