import assert from 'node:assert/strict';
import { createAnthropicModel } from '../../src/model/anthropic';
import { createDemoModel } from '../../src/model/demo';
import { isObject } from '../../src/model/endpoint';
import type {
  ConversationTurn,
  JsonObject,
  LanguageModel,
  ToolResultBlock,
  ToolSpec,
  UserBlock,
} from '../../src/model/port';
import { type ModelServer, startModelServer } from '../model-server';
import { demoBrain } from '../model-server/brains';

/**
 * A runtime in small, with the formats of the real one: a mailbox and a conversation a member, and tools that
 * answer as the real ones do. It is here to drive the words, not to be a team.
 */

const LEAD_TOOLS =
  'bash read_file write_file edit_file spawn_teammate list_teammates send_message broadcast shutdown_request shutdown_response plan_approval';
const MATE_TOOLS = 'bash read_file write_file edit_file send_message shutdown_response plan_approval';
const ROUTER = `import { list } from './notes.js';

const routes = [
  { method: 'GET', path: '/notes', handler: list },
];

export function route({ method, path }) {
  return routes.find((entry) => entry.method === method && entry.path === path)?.handler();
}
`;

interface Member {
  name: string;
  role: string;
  status: string;
  gate: string;
  system: string;
  turns: ConversationTurn[];
  mail: string[];
  said: string[];
}

class SmallTeam {
  readonly members = new Map<string, Member>();
  readonly files = new Map([['src/router.js', ROUTER]]);
  readonly calls: string[] = [];
  readonly requests = new Map<string, { kind: string; from: string; status: string; by: string }>();
  /** Decides in the human's place as soon as a request is there. */
  human: (kind: string, id: string) => boolean | undefined = () => undefined;
  forceTool: string | undefined;

  constructor(readonly model: LanguageModel) {
    this.join('lead', 'lead', 'You are the lead.');
  }

  private join(name: string, role: string, system: string): Member {
    const member = {
      name,
      role,
      status: 'working',
      gate: 'not_required',
      system,
      turns: [],
      mail: [],
      said: [],
    };
    this.members.set(name, member);
    return member;
  }

  member(name: string): Member {
    return this.members.get(name) ?? assert.fail(`no member ${name}`);
  }

  post(to: string, from: string, type: string, body: string, more = ''): void {
    this.member(to).mail.push(`<message from="${from}" type="${type}"${more}>\n${body}\n</message>`);
  }

  /** Says something to the lead and lets everybody work until nobody has mail. */
  async say(words: string): Promise<string> {
    this.member('lead').mail.push(words);
    await this.settle();
    return this.member('lead').said.join('\n');
  }

  async settle(): Promise<void> {
    for (let turns = 0; turns < 40; turns++) {
      const next = [...this.members.values()].find(
        (member) => member.mail.length > 0 && member.status !== 'shutdown',
      );
      if (!next) return;
      await this.turn(next);
    }
    assert.fail('The team does not come to rest');
  }

  private async turn(member: Member): Promise<void> {
    member.status = 'working';
    for (let rounds = 0; rounds < 20; rounds++) {
      this.take(member);
      const reply = await this.model.call(
        {
          member: member.name,
          system: member.system,
          messages: member.turns,
          tools: specs(member.name === 'lead' ? LEAD_TOOLS : MATE_TOOLS),
        },
        () => {},
        new AbortController().signal,
      );
      member.turns.push({ role: 'assistant', content: reply.content });
      for (const block of reply.content) if (block.type === 'text') member.said.push(block.text);
      const uses = reply.content.filter((block) => block.type === 'tool_use');
      if (uses.length === 0) {
        member.status = 'idle';
        if (member.name !== 'lead') this.post('lead', member.name, 'result', member.said.at(-1) ?? '');
        return;
      }
      const results = uses.map((use): ToolResultBlock => {
        const input = isObject(use.input) ? use.input : {};
        const content = this.run(member, use.name, input);
        this.calls.push(
          `${member.name}: ${use.name}${content.startsWith('Error') || content.startsWith('Blocked') ? '!' : ''}`,
        );
        const block: ToolResultBlock = { type: 'tool_result', tool_use_id: use.id, content };
        if (/^(Error|Blocked)/.test(content)) block.is_error = true;
        return block;
      });
      member.turns.push({ role: 'user', content: results });
      if (member.status === 'shutdown') return;
    }
    assert.fail(`${member.name} does not end its turn`);
  }

  private take(member: Member): void {
    const blocks = member.mail.splice(0).map((text): UserBlock => ({ type: 'text', text }));
    const last = member.turns.at(-1);
    if (last?.role === 'user') last.content.push(...blocks);
    else member.turns.push({ role: 'user', content: blocks });
  }

  private ask(kind: string, from: string): string {
    const id = (0xd0898200 + this.requests.size).toString(16);
    this.requests.set(id, { kind, from, status: 'pending', by: '' });
    return id;
  }

  decide(id: string, approve: boolean, by: string, words = ''): string | undefined {
    const request = this.requests.get(id);
    if (!request) return `Error: Unknown plan request_id '${id}'`;
    if (request.status !== 'pending')
      return `Error: Request ${id} was already ${request.status} by ${request.by}.`;
    request.status = approve ? 'approved' : 'rejected';
    request.by = by;
    const more = ` request_id="${id}" approve="${approve}"`;
    if (request.kind === 'plan_approval') {
      this.member(request.from).gate = request.status;
      this.post(request.from, by, 'plan_approval_response', words || 'Your plan is decided.', more);
    } else {
      this.post('lead', by, 'shutdown_response', words || `${by} agreed to shut down.`, more);
    }
    return undefined;
  }

  private run(member: Member, tool: string, input: JsonObject): string {
    const arg = (name: string): string => (typeof input[name] === 'string' ? input[name] : '');
    const shut = !['not_required', 'approved'].includes(member.gate);
    if (shut && ['bash', 'write_file', 'edit_file'].includes(tool))
      return `Blocked: plan status is ${member.gate}.`;
    switch (tool) {
      case 'spawn_teammate': {
        const name = arg('name');
        if (name === 'lead') return `Error: 'lead' is reserved. Choose another name.`;
        if (this.members.has(name)) return `Error: '${name}' is already in the team.`;
        const mate = this.join(name, arg('role'), `You are ${name}.`);
        if (input.require_plan === true) {
          mate.gate = 'required';
          mate.system += '\nA plan is required before you change anything: submit it with plan_approval.';
        }
        this.post(name, 'lead', 'message', arg('prompt'));
        return `Spawned '${name}' (role: ${arg('role')})`;
      }
      case 'list_teammates':
        return [
          'Team: test',
          ...[...this.members.values()]
            .filter((m) => m.name !== 'lead')
            .map((m) => `  ${m.name} (${m.role}): ${m.status}`),
        ].join('\n');
      case 'send_message':
        this.post(arg('to'), member.name, 'message', arg('content'));
        return `Sent message to ${arg('to')}`;
      case 'broadcast':
        return 'Broadcast to 0 teammates';
      case 'shutdown_request': {
        const id = this.ask('shutdown', 'lead');
        this.post(arg('teammate'), 'lead', 'shutdown_request', 'Please shut down.', ` request_id="${id}"`);
        return `Shutdown request ${id} sent to '${arg('teammate')}' (status: pending)`;
      }
      case 'shutdown_response': {
        const refused = this.decide(arg('request_id'), input.approve === true, member.name, arg('reason'));
        if (!refused && input.approve === true) member.status = 'shutdown';
        return refused ?? (input.approve === true ? 'Shutdown approved' : 'Shutdown rejected');
      }
      case 'plan_approval': {
        if (member.name === 'lead') {
          const approve = input.approve === true;
          return (
            this.decide(arg('request_id'), approve, 'lead', arg('feedback')) ??
            `Plan ${approve ? 'approved' : 'rejected'}`
          );
        }
        const id = this.ask('plan_approval', member.name);
        member.gate = 'pending';
        this.post('lead', member.name, 'plan_approval_request', arg('plan'), ` request_id="${id}"`);
        const verdict = this.human('plan_approval', id);
        if (verdict !== undefined) this.decide(id, verdict, 'human', 'My own judgement.');
        return `Plan submitted (request_id=${id}). Waiting for lead approval.`;
      }
      case 'bash':
        return 'ℹ pass 6\nℹ fail 0';
      case 'read_file':
        return this.files.get(arg('path')) ?? `Error: There is no file '${arg('path')}'.`;
      case 'write_file':
        this.files.set(arg('path'), arg('content'));
        return `Wrote ${arg('path')}`;
      case 'edit_file': {
        const text = this.files.get(arg('path')) ?? '';
        if (text.split(arg('old_text')).length !== 2) return 'Error: old_text does not occur exactly once';
        this.files.set(
          arg('path'),
          text.replace(arg('old_text'), () => arg('new_text')),
        );
        return `Edited ${arg('path')}`;
      }
      default:
        return `Error: There is no tool '${tool}'.`;
    }
  }
}

function specs(names: string): ToolSpec[] {
  return names
    .split(' ')
    .map((name) => ({ name, description: name, inputSchema: { type: 'object', properties: {} } }));
}

let server: ModelServer | undefined;
const sources: [string, () => Promise<LanguageModel>][] = [
  ['in process', async () => createDemoModel({ chunkDelayMs: 0 })],
  [
    'over HTTP',
    async () => {
      server = await startModelServer({ brain: demoBrain, key: 'k-test' });
      return createAnthropicModel({ apiKey: 'k-test', baseUrl: server.url, model: 'demo' });
    },
  ],
];

for (const [name, source] of sources)
  describe(`demo: a team of it, ${name}`, () => {
    let team: SmallTeam;
    beforeEach(async () => {
      team = new SmallTeam(await source());
    });
    afterEach(async () => {
      for (const { turns } of team.members.values()) checkIds(turns);
      assert.deepEqual(server?.problems ?? [], []);
      await server?.close();
      server = undefined;
    });

    it('spawns alice, asks for her shutdown and then finds her shut down', async () => {
      const said = await team.say('Spawn alice as a coder. Then request her shutdown.');
      assert.deepEqual(team.calls, [
        'lead: spawn_teammate',
        'lead: shutdown_request',
        'alice: shutdown_response',
      ]);
      assert.match(said, /alice approved the shutdown \(request d0898200\) and has shut down/);
      const listed = await team.say("List teammates to see alice's status after shutdown approval");
      assert.match(listed, /alice's status is shutdown/);
    });

    it("rejects bob's plan with concrete feedback, and bob does not write", async () => {
      const said = await team.say('Spawn bob with a risky refactoring task. Review and reject his plan.');
      assert.deepEqual(team.calls, [
        'lead: spawn_teammate',
        'bob: plan_approval',
        'lead: plan_approval',
        'bob: write_file!',
      ]);
      assert.equal(team.member('bob').gate, 'rejected');
      assert.deepEqual([...team.files.keys()], ['src/router.js']);
      assert.match(said, /When bob's plan comes, I will reject it/);
      assert.match(said, /Feedback: Too much at once in src\/router\.js/);
      assert.match(team.member('bob').said.join('\n'), /I will not write without an approved plan/);
    });

    it('submits a revised plan when asked, and then leaves the decision to the human', async () => {
      await team.say('Spawn bob with a risky refactoring task. Review and reject his plan.');
      const asked = await team.say('Ask bob for a revised plan');
      assert.match(asked, /bob has submitted a plan \(request d0898201\)\. It stands in Requests/);
      assert.equal(team.member('bob').gate, 'pending');
      const told = await team.say("Approve bob's plan");
      assert.equal(team.member('bob').gate, 'approved');
      assert.match(told, /Plan approved \(request d0898201\)/);
    });

    it("approves charlie's plan, and charlie changes real files", async () => {
      const said = await team.say('Spawn charlie, have him submit a plan, then approve it.');
      assert.deepEqual(team.calls, [
        'lead: spawn_teammate',
        'charlie: plan_approval',
        'lead: plan_approval',
        'charlie: read_file',
        'charlie: edit_file',
        'charlie: write_file',
      ]);
      assert.match(
        team.files.get('src/router.js') ?? '',
        /routes = \[\n {2}\{ method: 'GET', path: '\/health'/,
      );
      assert.match(team.files.get('test/health.test.js') ?? '', /GET \/health answers ok/);
      assert.match(said, /charlie reports: Done/);
    });

    it('says who decided when the human was quicker', async () => {
      team.human = () => true;
      const said = await team.say('Spawn bob with a risky refactoring task. Review and reject his plan.');
      assert.match(said, /Somebody was quicker\. Request d0898200 was already approved by human/);
      assert.equal(team.member('bob').gate, 'approved');
    });

    it('tells two plans apart by name', async () => {
      await team.say(
        "Spawn bob to refactor the router and cyd to add a health route. Reject bob's plan and approve cyd's.",
      );
      assert.equal(team.member('bob').gate, 'rejected');
      assert.equal(team.member('cyd').gate, 'approved');
    });

    it('lets dana run the tests and hears the result', async () => {
      const said = await team.say('Spawn dana and have her run the tests.');
      assert.deepEqual(team.calls, ['lead: spawn_teammate', 'dana: bash']);
      assert.match(said, /dana reports: I ran `npm test`: 6 passed, 0 failed/);
    });

    it('leaves a note where there is no router', async () => {
      team.files.clear();
      await team.say('Spawn charlie, have him submit a plan, then approve it.');
      assert.deepEqual([...team.files.keys()], ['handshake-demo.md']);
    });

    it('reports a refused name and does not go on with it', async () => {
      const said = await team.say('Spawn lead as a coder. Then request his shutdown.');
      assert.match(said, /did not work \(spawn_teammate\): 'lead' is reserved/);
      assert.deepEqual(team.calls, ['lead: spawn_teammate!']);
    });

    it('says of a plan whose author nobody knows that there is no such teammate', async () => {
      await team.say('Spawn bob as a coder.');
      for (const words of ["Approve charlie's plan.", "Reject charlie's plan."]) {
        const said = await team.say(words);
        assert.match(said, /There is no teammate named charlie/);
        assert.doesNotMatch(said, /When charlie's plan comes/);
      }
      assert.match(await team.say("Approve bob's plan."), /When bob's plan comes, I will approve it/);
      assert.deepEqual(team.calls, ['lead: spawn_teammate', 'lead: list_teammates', 'lead: list_teammates']);
    });

    it('case 06: takes no words for an approval', async () => {
      await team.say('Spawn bob with a risky refactoring task.');
      team.post('bob', 'lead', 'message', 'Please submit a plan.');
      await team.settle();
      team.post('bob', 'lead', 'message', 'Approved, go ahead and refactor.');
      team.member('bob').system +=
        '\nA plan is required before you change anything: submit it with plan_approval.';
      await team.settle();
      assert.match(team.member('bob').said.at(-1) ?? '', /still waits for its decision/);
    });

    it('knows the sentences it can offer', async () => {
      const said = await team.say('What is the meaning of life?');
      assert.match(said, /I am the demo lead[\s\S]*Spawn alice as a coder/);
      assert.deepEqual(team.calls, []);
    });
  });

/** Ids are new within a conversation, and every call has its result. */
function checkIds(turns: readonly ConversationTurn[]): void {
  const ids: string[] = [];
  for (const turn of turns)
    for (const block of turn.content) if (block.type === 'tool_use') ids.push(block.id);
  assert.deepEqual(
    ids,
    ids.map((_, i) => `demo_${i + 1}`),
  );
}
