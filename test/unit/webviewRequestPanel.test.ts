import assert from 'node:assert/strict';
import type { Core } from '../../src/agent/coreApi';
import { type Answer, acceptAll, type HandshakeRequest, Refusal } from '../../src/protocol';
import { LONGEST_FEEDBACK, type ToRequestPanel, toRequestPanel } from '../../src/ui/messages';
import { RequestPanelController } from '../../src/ui/requestPanelController';
import { ScriptedCore } from './conversationFixtures';
import { facts, shutdownOf, texts } from './webviewRequestFixtures';

const TESTER = {
  name: 'tester',
  description: 'Tests, and [says](command:x) what fails.',
  instructions: 'Test.',
  file: '.handshake/agents/tester.md',
};

function makePanel(requestId = 'd08982e3') {
  const requests = new Map<string, HandshakeRequest>([['d08982e3', shutdownOf({})]]);
  const answers: Answer[] = [];
  const posted: ToRequestPanel[] = [];
  const warnings: string[] = [];
  const stopped: string[] = [];
  const links: string[] = [];
  const drafts = new Map<string, string>();
  let decide = async (answer: Answer): Promise<HandshakeRequest> => {
    answers.push(answer);
    const decided = shutdownOf({
      status: answer.approve ? 'approved' : 'rejected',
      decidedBy: answer.by,
      ...(answer.feedback === undefined ? {} : { feedback: answer.feedback }),
    });
    requests.set(answer.requestId, decided);
    return decided;
  };
  const core: Core = Object.assign(new ScriptedCore(), facts(), {
    request: (id: string) => requests.get(id),
    decide: (answer: Answer) => decide(answer),
    roles: async () => ({ roles: [TESTER], problems: [] }),
    forceStop: async (name: string) => void stopped.push(name),
  });
  let present: Core | undefined = core;
  const controller = new RequestPanelController(requestId, {
    core: () => present,
    texts,
    drafts: {
      read: async (key) => drafts.get(key) ?? '',
      write: (key, text) => void drafts.set(key, text),
    },
    post: async (message) => void posted.push(toRequestPanel.parse(message)),
    setTitle: () => undefined,
    openLink: async (href) => void links.push(href),
    warn: (text) => void warnings.push(text),
    logError: (what, error) => void warnings.push(`${what}: ${String(error)}`),
  });
  return {
    controller,
    posted,
    answers,
    warnings,
    stopped,
    drafts,
    links,
    requests,
    useDecide: (other: typeof decide) => {
      decide = other;
    },
    closeTeam: () => {
      present = undefined;
    },
  };
}

describe('the panel of a request', () => {
  it('case 41: has everything back, the draft too, whenever its page is made again', async () => {
    const { controller, posted } = makePanel();
    await controller.receive({ type: 'ready' });
    await controller.receive({ type: 'draft', text: 'not yet' });
    controller.hidden();
    controller.refresh();
    assert.equal(posted.length, 1);
    await controller.receive({ type: 'ready' });
    const message = posted.at(-1);
    assert.ok(message?.type === 'show');
    assert.equal(message.draft, 'not yet');
    assert.equal(message.view.title, 'Shut down bob');
  });

  it('decides as the human, with the feedback, and shows the outcome', async () => {
    const { controller, posted, answers, drafts } = makePanel();
    await controller.receive({ type: 'draft', text: 'finish first' });
    await controller.receive({
      type: 'decide',
      requestId: 'd08982e3',
      approve: false,
      feedback: ' finish first ',
    });
    assert.deepEqual(answers, [
      { requestId: 'd08982e3', approve: false, by: 'human', via: 'ui', feedback: 'finish first' },
    ]);
    const message = posted.at(-1);
    assert.ok(message?.type === 'show');
    assert.equal(message.view.outcome, 'Rejected by you. Feedback: finish first');
    assert.equal(drafts.get('request-d08982e3'), '');
  });

  it('sends the part of a proposal that is taken with an approval, and with no rejection', async () => {
    const { controller, answers, requests } = makePanel();
    const payload = {
      members: [
        { name: 'ada', role: 'coder', prompt: 'Write.' },
        { name: 'bert', role: 'tester', prompt: 'Test.' },
      ],
    };
    requests.set('d08982e3', shutdownOf({ kind: 'team_proposal', from: 'lead', to: 'human', payload }));
    const [member] = acceptAll(payload).members;
    const accepted = { members: [member], tasks: [] };
    const decide = { type: 'decide', requestId: 'd08982e3', feedback: '' };
    await controller.receive({ ...decide, approve: true, accepted });
    await controller.receive({ ...decide, approve: false, accepted });
    assert.deepEqual(answers, [
      { requestId: 'd08982e3', approve: true, by: 'human', via: 'ui', accepted },
      { requestId: 'd08982e3', approve: false, by: 'human', via: 'ui' },
    ]);
  });

  it('offers the roles of the files while a proposal can be edited', async () => {
    const { controller, posted, requests } = makePanel();
    const proposal = {
      kind: 'team_proposal' as const,
      from: 'lead',
      to: 'human',
      payload: { members: [{ name: 'ada', role: 'coder', prompt: 'Write.' }] },
    };
    const offered = async () => {
      await controller.receive({ type: 'ready' });
      const message = posted.at(-1);
      return message?.type === 'show' ? message.view.proposal?.roles : undefined;
    };
    requests.set('d08982e3', shutdownOf(proposal));
    assert.deepEqual(await offered(), [{ name: 'tester', description: 'Tests, and says what fails.' }]);
    requests.set('d08982e3', shutdownOf({ ...proposal, status: 'rejected', decidedBy: 'human' }));
    assert.deepEqual(await offered(), []);
  });

  it('case 41: keeps the edits of a proposal, until it is decided', async () => {
    const { controller, posted, drafts, requests } = makePanel();
    const proposal = {
      kind: 'team_proposal' as const,
      from: 'lead',
      to: 'human',
      payload: { members: [{ name: 'ada', role: 'coder', prompt: 'Write.' }] },
    };
    requests.set('d08982e3', shutdownOf(proposal));
    await controller.receive({ type: 'edits', text: '{"members":[]}' });
    controller.hidden();
    await controller.receive({ type: 'ready' });
    const message = posted.at(-1);
    assert.ok(message?.type === 'show');
    assert.equal(message.edits, '{"members":[]}');
    requests.set('d08982e3', shutdownOf({ ...proposal, status: 'rejected', decidedBy: 'human' }));
    await controller.receive({ type: 'ready' });
    assert.equal(drafts.get('proposal-d08982e3'), '');
    await controller.receive({ type: 'edits', text: 'late' });
    assert.equal(drafts.get('proposal-d08982e3'), '');
  });

  it('leaves the feedback out where there is none', async () => {
    const { controller, answers } = makePanel();
    await controller.receive({ type: 'decide', requestId: 'd08982e3', approve: true, feedback: ' ' });
    assert.deepEqual(answers, [{ requestId: 'd08982e3', approve: true, by: 'human', via: 'ui' }]);
  });

  it('case 8: a click that was meant for another request decides nothing', async () => {
    const { controller, posted, answers, warnings, stopped } = makePanel();
    await controller.receive({ type: 'decide', requestId: 'ffffffff', approve: true, feedback: '' });
    await controller.receive({ type: 'force_stop', requestId: 'ffffffff' });
    assert.deepEqual(answers, []);
    assert.deepEqual(stopped, []);
    assert.equal(warnings.length, 2);
    assert.deepEqual(posted, [
      { type: 'failed', text: 'Another request.' },
      { type: 'failed', text: 'Another request.' },
    ]);
  });

  it('says a refusal where the click was, and then how the request stands', async () => {
    const { controller, posted, requests, useDecide } = makePanel();
    useDecide(async () => {
      requests.set('d08982e3', shutdownOf({ status: 'approved', decidedBy: 'bob' }));
      throw new Refusal('already_decided', 'Request d08982e3 was already approved by bob.');
    });
    await controller.receive({ type: 'decide', requestId: 'd08982e3', approve: false, feedback: '' });
    assert.deepEqual(posted[0], { type: 'failed', text: 'Request d08982e3 was already approved by bob.' });
    const after = posted[1];
    assert.ok(after?.type === 'show');
    assert.equal(after.view.outcome, 'bob agreed.');
  });

  it('stops the teammate by force', async () => {
    const { controller, stopped } = makePanel();
    await controller.receive({ type: 'force_stop', requestId: 'd08982e3' });
    assert.deepEqual(stopped, ['bob']);
  });

  it('follows a decision made elsewhere', async () => {
    const { controller, posted, requests } = makePanel();
    await controller.receive({ type: 'ready' });
    const request = shutdownOf({ status: 'rejected', decidedBy: 'bob' });
    requests.set('d08982e3', request);
    controller.onEvent({ type: 'request', change: 'rejected', request });
    await new Promise(setImmediate);
    const message = posted.at(-1);
    assert.ok(message?.type === 'show');
    assert.equal(message.view.status, 'rejected');
    controller.dispose();
  });

  it('says when the request is unknown, and when there is no team', async () => {
    const { controller, posted, closeTeam } = makePanel('00000000');
    await controller.receive({ type: 'ready' });
    closeTeam();
    await controller.receive({ type: 'ready' });
    await controller.receive({ type: 'decide', requestId: '00000000', approve: true, feedback: '' });
    assert.deepEqual(posted, [
      { type: 'missing', text: 'No request 00000000.' },
      { type: 'missing', text: 'No team.' },
      { type: 'failed', text: 'No team.' },
    ]);
  });

  it('says so where an answer is too long to be taken, and decides nothing', async () => {
    const { controller, posted, requests } = makePanel();
    const feedback = 'q'.repeat(LONGEST_FEEDBACK + 1);
    await controller.receive({ type: 'decide', requestId: 'd08982e3', approve: false, feedback });
    assert.deepEqual(posted, [{ type: 'failed', text: 'Not understood.' }]);
    assert.equal(requests.get('d08982e3')?.status, 'pending');
  });

  it('drops what it does not know, and keeps no draft of a decided request', async () => {
    const { controller, posted, warnings, drafts, requests, links } = makePanel();
    await controller.receive({ type: 'eval', text: 'x' });
    await controller.receive('decide');
    assert.equal(warnings.length, 2);
    // The page may wait for an answer: it is told that none comes.
    const failed = { type: 'failed', text: 'Not understood.' };
    assert.deepEqual(posted.splice(0), [failed, failed]);
    requests.set('d08982e3', shutdownOf({ status: 'cancelled' }));
    await controller.receive({ type: 'draft', text: 'late' });
    assert.deepEqual([...drafts], []);
    await controller.receive({ type: 'open_link', href: 'https://example.com' });
    assert.deepEqual(links, ['https://example.com']);
    assert.deepEqual(posted, []);
  });
});
