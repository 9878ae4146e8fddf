import assert from 'node:assert/strict';
import * as path from 'node:path';
import type { ReadOnlyReason } from '../../src/agent/readOnly';
import { toConversation } from '../../src/ui/messages';
import { readOnlyTexts, viewMessage } from '../../src/ui/ownershipTexts';
import { requestView } from '../../src/ui/requestPanelModel';
import { requestRow } from '../../src/ui/requestsModel';
import { readOnlyStatusText } from '../../src/ui/statusModel';
import { storageOfFolder, teamStorageDir } from '../../src/ui/teamStorage';
import { makeController, ScriptedCore } from './conversationFixtures';
import { request } from './uiFixtures';
import { texts as requestTexts } from './webviewRequestFixtures';

const held: ReadOnlyReason = { kind: 'held', pid: 4711, since: 0 };

describe('the storage of a team', () => {
  const home = path.join('/', 'home', 'ann', 'workspaceStorage');
  const id = '6c0ae5a5b4b34a0bb9cbb1a2a2a9bb11';
  const of = (folder: string) => path.join(home, folder, 'handshake.handshake-team');

  it("is the first window's, in every window on the folder", () => {
    const isThere = (dir: string) => dir === path.join(home, id);
    assert.equal(teamStorageDir(of(`${id}-1`), isThere), of(id));
    assert.equal(teamStorageDir(of(`${id}-12`), isThere), of(id));
    assert.equal(teamStorageDir(of(id), isThere), of(id));
  });

  it("is the window's own where the name only looks so", () => {
    assert.equal(
      teamStorageDir(of('a-1'), () => false),
      of('a-1'),
    );
    for (const name of ['a-0', 'a-01x', 'a-', '-1', 'a_1']) {
      assert.equal(
        teamStorageDir(of(name), () => true),
        of(name),
      );
    }
  });
});

describe('the storage of a team in a workspace of several folders', () => {
  it('is each folder for itself, whichever is the first; of a single folder it is the whole', () => {
    const dir = path.join('/', 'storage');
    const [one, two] = ['/w/one', '/w/two'].map((root) => storageOfFolder(dir, root, true));
    assert.notEqual(one, two);
    assert.equal(one, storageOfFolder(dir, '/w/one', true));
    assert.equal(path.dirname(path.dirname(one ?? '')), dir);
    assert.equal(storageOfFolder(dir, '/w/one', false), dir);
    assert.equal(storageOfFolder(dir, undefined, true), dir);
  });
});

describe('a window that only shows the team', () => {
  it('says who runs it, and what changes that', () => {
    assert.deepEqual(readOnlyTexts(held), {
      why: 'Read-only: another window (process 4711) runs this team.',
      label: 'Take Over',
      action: 'take_over',
    });
    assert.match(readOnlyTexts({ kind: 'free' }).why, /is gone/);
    const foreign = readOnlyTexts({ kind: 'foreign', teamName: 'x\n[y](command:z)' });
    assert.equal(foreign.label, 'Adopt Team');
    assert.doesNotMatch(foreign.why, /\n|\]\(/);
    const key = readOnlyTexts({ kind: 'foreign_key' });
    assert.match(key.why, /another key.*only if you know which/);
    assert.equal(key.action, 'adopt');
    assert.match(readOnlyTexts({ kind: 'storage', text: 'the disk is full.' }).why, /the disk is full/);
  });

  it('says so above the rows of its views, and nothing where it runs the team', () => {
    const session = { state: 'ready', whyNoCore: () => '', readOnly: () => held };
    assert.equal(viewMessage(session), readOnlyTexts(held).why);
    assert.equal(viewMessage({ ...session, readOnly: () => undefined }), undefined);
    assert.equal(viewMessage({ ...session, state: 'failed', whyNoCore: () => 'no disk' }), 'no disk');
  });

  it('shows rows without buttons', () => {
    const state = {
      isSettling: () => false,
      isDeciding: () => false,
      isMoved: () => false,
      isOverdue: () => false,
      isReadOnly: () => true,
    };
    assert.match(requestRow(request(), state).contextValue, /^request\.shown\./);
    const decided = { ...request(), status: 'approved', decidedBy: 'human' } as const;
    assert.match(requestRow(decided, state).contextValue, /^request\.decided\./);
  });

  it('says so in the place of the input of the Conversation, and offers nothing to send', async () => {
    const core = Object.assign(new ScriptedCore(), { readOnly: held });
    const { controller } = makeController(core);
    await controller.attach();
    const state = controller.state();
    assert.ok(state.type === 'state');
    assert.deepEqual(toConversation.parse(state), state);
    assert.deepEqual(state.readOnly, readOnlyTexts(held));
    assert.deepEqual([state.suggestions, state.welcome], [[], []]);
    const { controller: running } = makeController(new ScriptedCore());
    await running.attach();
    assert.equal('readOnly' in running.state(), false);
  });

  it('shows a request without buttons, and says why; how one ended stays to be seen', () => {
    const running = {
      members: () => [],
      member: () => undefined,
      activity: () => assert.fail('nobody is at work'),
      isOverdue: () => false,
    };
    const core = { ...running, readOnly: held };
    assert.equal(requestView(core, request(), requestTexts).readOnly, readOnlyTexts(held).why);
    const decided = { ...request(), status: 'approved', decidedBy: 'human' } as const;
    assert.equal('readOnly' in requestView(core, decided, requestTexts), false);
    assert.equal('readOnly' in requestView(running, request(), requestTexts), false);
  });

  it('shows a lock in the status bar, calmly', () => {
    assert.deepEqual(readOnlyStatusText(0), {
      text: '$(lock) read-only',
      spoken: 'Handshake: read-only, 0 waiting for a decision',
      warning: false,
    });
    assert.equal(readOnlyStatusText(2).text, '$(lock) read-only · 2 waiting');
  });
});
