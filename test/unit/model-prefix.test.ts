import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import * as z from 'zod';
import { createAnthropicModel } from '../../src/model/anthropic';
import {
  type ModelServer,
  type RecordedRequest,
  type ReplyBlock,
  redactedThinking,
  startModelServer,
  text,
  thinking,
  toolUse,
} from '../model-server';
import { matchesGolden } from './support/golden';
import { closeTeams, openTeam } from './support/team';

/** With its fields in the order in which they were sent. */
const block = z.record(z.string(), z.unknown());
const sentBody = z.looseObject({
  system: z.array(block),
  tools: z.array(block),
  messages: z.array(z.object({ role: z.string(), content: z.array(block) })),
});
type Sent = z.infer<typeof sentBody>;

const ONE_PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

/** Ten turns: thoughts, several calls at once, a failing one, a picture, an empty answer, words cut off. */
const SCRIPT: { content: ReplyBlock[]; stopReason?: string }[] = [
  { content: [thinking('Who is there?'), text('I look.'), toolUse('list_teammates', {}, 't1')] },
  { content: [thinking('Nobody.'), redactedThinking('opaque=='), text('Nobody is there.')] },
  {
    content: [
      toolUse('read_file', { path: 'a.txt' }, 't2'),
      toolUse('read_file', { path: 'missing.txt' }, 't3'),
      toolUse('read_file', { path: 'dot.png' }, 't4'),
    ],
  },
  { content: [text('The picture is a dot.')] },
  { content: [] },
  { content: [text('I had nothing to say.')] },
  { content: [text('First half, ')], stopReason: 'max_tokens' },
  { content: [text('second half.')] },
  { content: [toolUse('no_such_tool', { x: '„漢字“ & <b>' }, 't5')] },
  { content: [text('There is none.')] },
];

describe('the requests of a ten-turn conversation', function () {
  this.timeout(30_000);
  let server: ModelServer;
  afterEach(async () => {
    await closeTeams();
    await server.close();
  });

  const play = async (): Promise<{ requests: RecordedRequest[]; root: string }> => {
    let next = 0;
    server = await startModelServer({ brain: () => SCRIPT[next++] ?? assert.fail('One call too many.') });
    const model = createAnthropicModel({ apiKey: 'k', baseUrl: server.url, model: 'claude-test-1' });
    const team = await openTeam(model);
    await writeFile(path.join(team.root, 'a.txt'), 'one\ntwo\n');
    await writeFile(path.join(team.root, 'dot.png'), Buffer.from(ONE_PIXEL, 'base64'));
    for (const words of ['Who is there?', 'Read these.', 'And now?', 'Tell me all.', 'Try something.'])
      await team.core.sendToLead(words);
    assert.equal(next, SCRIPT.length);
    assert.deepEqual(server.problems, []);
    return { requests: server.requests, root: team.root };
  };
  const unmarked = (list: Sent['messages']) =>
    list.map(({ role, content }) => ({
      role,
      content: content.map(({ cache_control: _, ...rest }) => rest),
    }));

  it('each begins with the one before, byte for byte', async () => {
    const { requests } = await play();
    const bodies = requests.map(({ raw }) => sentBody.parse(raw));
    bodies.forEach((body, n) => {
      const before = bodies[n - 1];
      if (before === undefined) return;
      assert.equal(JSON.stringify(body.system), JSON.stringify(before.system));
      assert.equal(JSON.stringify(body.tools), JSON.stringify(before.tools));
      const prefix = JSON.stringify(unmarked(before.messages));
      // The last turn may have grown by what came since: everything up to its closing brackets stays.
      const whole = JSON.stringify(unmarked(body.messages));
      assert.ok(whole.startsWith(prefix.slice(0, -3)), `request ${n}\n${prefix}\n${whole}`);
      assert.ok(whole.length > prefix.length);
    });
  });

  it('each has its cache marks behind tools, system, its end, and the end of the one before', async () => {
    const { requests } = await play();
    requests.forEach(({ raw }, n) => {
      const { system, tools, messages } = sentBody.parse(raw);
      assert.deepEqual(
        tools.flatMap((tool, i) => ('cache_control' in tool ? [i] : [])),
        [tools.length - 1],
      );
      assert.ok(system.at(-1)?.cache_control);
      const marked = messages.flatMap(({ role, content }, at) =>
        content.flatMap((part, i) =>
          part.cache_control ? [{ role, at, isLast: i === content.length - 1 }] : [],
        ),
      );
      assert.ok(marked.every(({ role, isLast }) => role === 'user' && isLast));
      assert.equal(marked.at(-1)?.at, messages.length - 1, `request ${n}`);
      assert.equal(marked.length, Math.min(2, messages.filter(({ role }) => role === 'user').length));
    });
  });

  it('are these', async () => {
    const { requests, root } = await play();
    const text = requests
      .map(({ raw, headers, member }) => {
        const { tools, system, ...rest } = block.parse(raw);
        const head = { member, accept: headers.accept, version: headers['anthropic-version'] };
        return JSON.stringify({ ...head, ...rest }, null, 1);
      })
      .join('\n')
      .replaceAll(root, '<workspace>');
    matchesGolden('ten-turns.txt', `${text}\n`);
  });
});
