import type { Mind, Wish } from '../../crash/brain';
import { type Heard, hear } from '../../crash/heard';
import { inOrder, mailOf, say, spawn, submitAsAsked, write } from '../../crash/minds';
import { type Brain, text, toolUse } from '../../model-server';
import { toTurn } from '../../model-server/brains';

/**
 * A team that does the same work in each round: the lead hands it out, alice plans, writes and reports, bob
 * writes and reports. Each decides by its conversation alone, so that it can go on after any crash.
 */

/** In every third round the lead leaves the plan to the human. */
export function isForTheHuman(round: number): boolean {
  return round % 3 === 0;
}

export function fileOf(round: number, name: string): string {
  return `${round}-${name}.txt`;
}

const numbers = (texts: readonly string[], pattern: RegExp): number[] =>
  texts.flatMap((each) => {
    const [, digits] = pattern.exec(each) ?? [];
    return digits === undefined ? [] : [Number(digits)];
  });

const work = (heard: Heard): number[] =>
  numbers(
    heard.mail.map(({ content }) => content),
    /^Work (\d+)\.$/,
  );

const lead: Mind = (heard) => {
  const rounds = numbers(heard.words, /^Round (\d+)\.$/);
  const plans = mailOf(heard, 'plan_approval_request').filter(
    ({ content }) => !numbers([content], /^Plan (\d+)\.$/).every(isForTheHuman),
  );
  return inOrder(
    heard,
    () => (heard.words.includes('Begin.') ? [spawn('alice', true), spawn('bob', false)] : []),
    () =>
      plans.map(({ requestId }): Wish => {
        const input = { request_id: requestId, approve: true };
        return { name: 'plan_approval', input, doneBy: /was already|was withdrawn/ };
      }),
    () => rounds.flatMap((round) => [say('alice', `Work ${round}.`), say('bob', `Work ${round}.`)]),
  );
};

const alice: Mind = (heard) => {
  for (const round of work(heard)) {
    const plan = `Plan ${round}.`;
    if (!isApproved(heard, plan)) {
      return inOrder(heard, () => [submitAsAsked(heard, plan)]);
    }
    const open = inOrder(
      heard,
      () => write(heard, fileOf(round, 'alice')),
      () => [say('lead', `alice did ${round}.`)],
    );
    if (open.length > 0) return open;
  }
  return [];
};

const bob: Mind = (heard) =>
  inOrder(
    heard,
    ...work(heard).flatMap((round) => [
      () => write(heard, fileOf(round, 'bob')),
      () => [say('lead', `bob did ${round}.`)],
    ]),
  );

function isApproved(heard: Heard, plan: string): boolean {
  const ids = heard.calls
    .filter(({ name, input }) => name === 'plan_approval' && input.plan === plan)
    .map(({ result }) => /request_id=([0-9a-f]{8})/.exec(result ?? '')?.[1]);
  return mailOf(heard, 'plan_approval_response').some(
    ({ requestId, approve }) => approve === true && ids.includes(requestId),
  );
}

const minds: Readonly<Record<string, Mind>> = { lead, alice, bob };
let calls = 0;

/** The minds behind the model server. */
export const roundsBrain: Brain = ({ member, body }) => {
  const wishes = minds[member]?.(hear(body.messages.map(toTurn)), body.tool_choice?.name) ?? [];
  if (wishes.length === 0) return [text(`${member} has no more to do.`)];
  return wishes.slice(0, 2).map(({ name, input }) => {
    calls += 1;
    const id = `toolu_${member}_${calls}`;
    const content = typeof input.content === 'string' ? input.content.replaceAll('<id>', id) : undefined;
    return toolUse(name, content === undefined ? input : { ...input, content }, id);
  });
};
