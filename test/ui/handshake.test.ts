import assert from 'node:assert/strict';
import { board } from './scenarios/board';
import { budgets } from './scenarios/budgets';
import { conversation } from './scenarios/conversation';
import { firstKey, firstSteps } from './scenarios/firstSteps';
import { members } from './scenarios/members';
import { models } from './scenarios/models';
import { notifications } from './scenarios/notifications';
import { overdue } from './scenarios/overdue';
import { permissions } from './scenarios/permissions';
import { pictures } from './scenarios/pictures';
import { plans } from './scenarios/plans';
import { proposals } from './scenarios/proposals';
import { reload } from './scenarios/reload';
import { repository } from './scenarios/repository';
import { second } from './scenarios/second';
import { shutdowns } from './scenarios/shutdowns';
import { workspaceKey } from './scenarios/workspaceKey';
import { Scene } from './support/scene';

/** One window for all of it: a start costs more than most scenarios. The first steps leave it with a key. */
describe('Handshake in a browser', () => {
  const scene = new Scene();

  before(() => scene.start());
  after(() => scene.close());

  afterEach(async function () {
    await scene.window.witness(this.currentTest);
    assert.deepEqual(scene.model.problems.splice(0), []);
  });

  firstSteps(scene);
  // While there is no key yet.
  workspaceKey(scene);
  firstKey(scene);
  describe('with the Conversation beside the trees', () => {
    before(() => scene.settle());

    // While little has been decided yet; the Board while it is empty.
    pictures(scene);
    conversation(scene);
    plans(scene);
    shutdowns(scene);
    permissions(scene);
    board(scene);
    proposals(scene);
    notifications(scene);
    second(scene);
    members(scene);
    models(scene);
    // Later ones have settings of their own.
    budgets(scene);
    repository(scene);
    reload(scene);
    overdue(scene);
  });
});
