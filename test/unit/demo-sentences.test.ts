import assert from 'node:assert/strict';
import { type Step, understand } from '../../src/model/demo/sentences';

/** A step in short, such as `spawn alice coder` or `review bob reject`. */
function short(step: Step): string {
  switch (step.do) {
    case 'spawn':
      return `spawn ${step.name}/${step.role}${step.plan ? '/plan' : ''}${step.task ? `: ${step.task}` : ''}`;
    case 'shutdown':
      return `shutdown ${step.name}${step.reason ? `: ${step.reason}` : ''}`;
    case 'list':
      return `list ${step.about.join(' ')}`.trim();
    case 'review': {
      const verdict = step.approve === undefined ? 'look' : step.approve ? 'approve' : 'reject';
      return `${verdict} ${step.name || step.requestId || 'any'}${step.feedback ? `: ${step.feedback}` : ''}`;
    }
    case 'plan':
      return `plan ${step.name}${step.topic ? `: ${step.topic}` : ''}`;
    case 'tell':
      return `tell ${step.name}: ${step.text}`;
    case 'broadcast':
      return `broadcast: ${step.text}`;
    case 'run':
      return `run ${step.command}`;
  }
}

const cases: [string, string[], string[]?][] = [
  // The tutorial's own.
  ['Spawn alice as a coder. Then request her shutdown.', ['spawn alice/coder', 'shutdown alice']],
  ["List teammates to see alice's status after shutdown approval", ['list alice'], ['alice']],
  [
    'Spawn bob with a risky refactoring task. Review and reject his plan.',
    ['spawn bob/coder/plan: a risky refactoring task', 'reject bob'],
  ],
  [
    'Spawn charlie, have him submit a plan, then approve it.',
    ['spawn charlie/coder/plan', 'approve charlie'],
  ],
  // Spawning.
  ['spawn ALICE as a Coder', ['spawn alice/coder']],
  ['Please spawn a coder named Alice.', ['spawn alice/coder']],
  [
    'Create a teammate called Zed as a senior backend developer to add a health route',
    ['spawn zed/senior backend developer: add a health route'],
  ],
  ['Could you start a teammate named "mia" who is a tester?', ['spawn mia/tester']],
  ['Hire a reviewer called Ann-2', ['spawn ann-2/reviewer']],
  ['Spawn teammate max (writer)', ['spawn max/writer']],
  ['Spawn a coder', ['spawn coder/coder']],
  ['Spawn ann as a coder and ben as a tester', ['spawn ann/coder', 'spawn ben/tester']],
  ['Spawn ann, ben and cy', ['spawn ann/coder', 'spawn ben/coder', 'spawn cy/coder']],
  ['Spawn fay and gus as coders.', ['spawn fay/coder', 'spawn gus/coder']],
  [
    'Spawn ann, ben and cy as backend developers to add a route',
    ['spawn ann/backend developer', 'spawn ben/backend developer', 'spawn cy/backend developer: add a route'],
  ],
  [
    'Spawn ann as a tester, ben and cy as writers',
    ['spawn ann/tester', 'spawn ben/writer', 'spawn cy/writer'],
  ],
  ['Spawn gus as devops', ['spawn gus/devops']],
  ['Spawn bob to refactor the router and add tests', ['spawn bob/coder: refactor the router and add tests']],
  ['Spawn dana and have her run the tests.', ['spawn dana/coder: run the tests']],
  [
    'Spawn eve to write docs in src/router.js. Ask her to shut down.',
    ['spawn eve/writer: write docs in src/router.js', 'shutdown eve'],
  ],
  ['Spawn lead as a coder', ['spawn lead/coder']],
  ['Spawn ../x as a coder', ['spawn ../x/coder']],
  ['Spawn team', []],
  ['Create a file called notes', []],
  ['Start the server', []],
  // Shutting down.
  ['Ask alice to shut down', ['shutdown alice']],
  ['Shut bob down, please', ['shutdown bob']],
  ['Shut down Bob because the work is done', ['shutdown bob: the work is done']],
  ["Request Alice's shutdown", ['shutdown alice']],
  ['Send alice a shutdown request', ['shutdown alice']],
  ['Request a shutdown of carol', ['shutdown carol']],
  ['Tell her to shut down', ['shutdown mia'], ['alice', 'mia']],
  [
    'Spawn ann and ben. Then request their shutdown.',
    ['spawn ann/coder', 'spawn ben/coder', 'shutdown ann', 'shutdown ben'],
  ],
  ['Shut everyone down', ['shutdown ann', 'shutdown ben'], ['ann', 'ben']],
  ['Stop bob', ['shutdown bob'], ['bob']],
  // Plans.
  ["Approve bob's plan", ['approve bob'], ['bob', 'carol']],
  [
    "Reject Carol's plan because it touches the database and has no tests",
    ['reject carol: it touches the database and has no tests'],
  ],
  ['Reject it: too risky', ['reject bob: too risky'], ['bob']],
  ['Approve request a1b2c3d4', ['approve a1b2c3d4']],
  ['Approve any plan', ['approve any']],
  ["Review bob's plan", ['look bob']],
  ['Ask bob for a plan about caching', ['plan bob: caching'], ['bob']],
  ['Have bob submit a revised plan', ['plan bob'], ['bob']],
  [
    "Spawn bob to refactor the router and charlie to add a health route. Reject bob's plan and approve charlie's.",
    [
      'spawn bob/coder/plan: refactor the router',
      'spawn charlie/coder/plan: add a health route',
      'reject bob',
      'approve charlie',
    ],
  ],
  // Talking.
  ['Tell bob to fix the parser and then run the tests', ['tell bob: fix the parser and then run the tests']],
  ['Tell bob: "stay on the branch"', ['tell bob: stay on the branch']],
  ['Send a message to bob saying hello', ['tell bob: hello']],
  ['Tell everyone that we stop at five', ['broadcast: we stop at five']],
  ['Tell the team to commit', ['broadcast: commit']],
  ['Broadcast: standup in five minutes', ['broadcast: standup in five minutes']],
  ['Ask bob to look at the logs', ['tell bob: look at the logs']],
  // Looking and running.
  ['Who is on the team?', ['list']],
  ['list teammates', ['list']],
  ["What is bob's status?", ['list bob'], ['bob']],
  ['Run the tests', ['run npm test']],
  ['Run `ls -la`', ['run ls -la']],
  ['What is the meaning of life?', []],
  ['hello', []],
];

describe('demo: sentences', () => {
  for (const [text, expected, known = []] of cases)
    it(text, () => assert.deepEqual(understand(text, known).map(short), expected));
});
