import { ModelError } from '../model/port';
import type { OfferedTools } from '../tools';
import { changedIn, factsOf } from './contextFacts';
import { lettersOf, tokensOf, tokensOfBlock, tokensOfText } from './contextState';
import { historyText } from './historyText';
import { callModel, type Reply, summarize } from './modelCall';
import { hasImages, summarizable, withoutOutputs, withSummary } from './shortenTurns';
import type { TurnHost } from './turn';

/** The turns at the end whose results stay where only old output is taken out. */
const RECENT_TURNS = 6;
/** Of the window: what is kept beside a summary, and what is read for one. */
const KEPT = 0.25;
const READ = 0.5;
/** A shortening that leaves more of the conversation than this is none. */
const WORTH_IT = 0.9;

/**
 * A model call whose conversation is made shorter where it no longer fits, before the call or after the endpoint
 * refused it: old tool output first, then a summary of the oldest turns, then all tool output.
 * @throws {ModelError} `too_long`, naming what is too large, when nothing more can be taken out
 */
export async function callWithinContext(
  host: TurnHost,
  offered: OfferedTools,
  forceTool: string | undefined,
): Promise<Reply | undefined> {
  const { conversation } = host;
  const { context } = conversation;
  const isFull = async () =>
    context.isNearlyFull(
      context.window((await host.languageModel()).contextWindow),
      conversation.turns.length,
    );
  // A model that has paused wants its own turn back as it was.
  if (!conversation.isPaused && (await isFull()) && !(await shorten(host, false)))
    context.notShortened(conversation.turns.length);
  for (;;) {
    try {
      return await callModel(host, offered, forceTool);
    } catch (error) {
      if (!(error instanceof ModelError) || conversation.isPaused) throw error;
      if (error.kind === 'no_images' && (await takeOutImages(host))) continue;
      if (error.kind !== 'too_long') throw error;
      context.learn(error);
      if (!(await shorten(host, true))) throw tooLarge(host, offered, error);
    }
  }
}

/** @returns whether the conversation is shorter now, and it is worth calling again */
async function shorten(host: TurnHost, mustFit: boolean): Promise<boolean> {
  const { conversation } = host;
  const { turns } = conversation;
  if (await clearOutputs(host, turns.length - RECENT_TURNS)) return true;
  if (await summarizeHistory(host)) return true;
  // What came last is needed most: it goes only where the call could not be made at all.
  return mustFit && (await clearOutputs(host, turns.length));
}

/** A model that cannot see would refuse the conversation for ever. */
async function takeOutImages({ conversation, now }: TurnHost): Promise<boolean> {
  const { turns } = conversation;
  if (!turns.some(({ role, content }) => role === 'user' && content.some(hasImages))) return false;
  await conversation.shorten({ what: 'images', turns: turns.length }, [], now());
  return true;
}

async function clearOutputs(host: TurnHost, count: number): Promise<boolean> {
  const { conversation } = host;
  const { turns } = conversation;
  if (count <= 0 || tokensOf(withoutOutputs(turns, count)) > tokensOf(turns) * WORTH_IT) return false;
  await conversation.shorten({ what: 'outputs', turns: count }, [], host.now());
  return true;
}

async function summarizeHistory(host: TurnHost): Promise<boolean> {
  const { conversation, team, name } = host;
  const { turns, context } = conversation;
  const window = context.window((await host.languageModel()).contextWindow);
  const count = summarizable(turns, window * KEPT);
  if (count === 0) return false;
  const old = turns.slice(0, count);
  const summary = await summarize(host, historyText(old, lettersOf(window * READ)));
  if (summary === undefined) return false;
  const facts = factsOf(team, name, changedIn(turns));
  const text = `Your conversation became too long and was shortened. In place of its beginning stands your own summary of it:\n\n${summary}\n\nWhat holds now, from the runtime and not from the summary:\n${facts}`;
  const content = [{ type: 'text' as const, text }];
  if (tokensOf(withSummary(turns, count, content)) > tokensOf(turns) * WORTH_IT) return false;
  await conversation.shorten({ what: 'history', turns: count }, content, host.now());
  return true;
}

/** Names the largest thing in a prompt that does not fit. */
function tooLarge(host: TurnHost, offered: OfferedTools, { message }: ModelError): ModelError {
  const names = new Map<string, string>();
  const parts: { what: string; tokens: number }[] = [
    { what: 'its instructions', tokens: tokensOfText(host.system) },
    { what: 'the descriptions of its tools', tokens: tokensOfText(JSON.stringify(offered.specs)) },
  ];
  for (const { role, content } of host.conversation.turns) {
    for (const block of content) {
      if (block.type === 'tool_use') names.set(block.id, block.name);
      const what =
        block.type === 'tool_result'
          ? `a result of ${names.get(block.tool_use_id) ?? 'a tool'}`
          : block.type === 'tool_use'
            ? `a call of ${block.name}`
            : role === 'user'
              ? 'a message to it'
              : 'an answer of its own';
      parts.push({ what, tokens: tokensOfBlock(block) });
    }
  }
  const largest = parts.reduce((a, b) => (b.tokens > a.tokens ? b : a));
  return new ModelError(
    'too_long',
    `${message} Nothing more can be taken out of it. The largest part of what ${host.name} sends is ${largest.what}, about ${largest.tokens} tokens: give it in smaller parts, or choose a model that takes more.`,
  );
}
