import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandEnvironment } from '../../src/workspace/environment';
import { createNodeWorkspace } from '../../src/workspace/node';
import { type CommandOptions, type MemberWorkspace, WorkspaceError } from '../../src/workspace/port';

/** Long enough that a test that reaches it has failed. */
const LONG_MS = 180_000;

function options(changes: Partial<CommandOptions> = {}): CommandOptions {
  return { timeoutMs: LONG_MS, signal: new AbortController().signal, ...changes };
}

/** Whether the process is there and not merely waiting to be reaped. */
async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== 'linux') return true;
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ' Z ');
  return !/\) Z /.test(status) && status !== ' Z ';
}

describe('workspace commands', function () {
  this.timeout(LONG_MS);

  let root: string;
  let alice: MemberWorkspace;
  beforeEach(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'handshake-command-')));
    alice = createNodeWorkspace(root, { killGraceMs: 200 }).forMember('alice');
  });
  afterEach(async () => {
    await rm(root, { recursive: true, force: true });
  });

  it('runs in the workspace and gives both outputs in their order, and the exit code', async () => {
    const outcome = await alice.runCommand('pwd; echo out; echo err >&2; echo out; exit 3', options());
    assert.deepEqual(outcome, {
      output: `${root}\nout\nerr\nout\n`,
      exitCode: 3,
      signal: null,
      timedOut: false,
      aborted: false,
    });
  });

  it('runs as bash, with quotes, variables and here documents as they are written', async () => {
    const command =
      'x=(1 "two words"); cat <<EOF\n$x $0 $(echo "two words")\nEOF\n[[ a == a ]] && echo \'$y\' "\\\\"';
    const { output } = await alice.runCommand(command, options());
    assert.match(output, /^1 \S*bash two words\n\$y \\\n$/);
  });

  it('says what is wrong with a command that cannot be started', async () => {
    await assert.rejects(alice.runCommand('  ', options()), WorkspaceError);
    await assert.rejects(alice.runCommand('echo \0', options()), /NUL/);
    await assert.rejects(
      alice.runCommand(`true ${'x'.repeat(3_000_000)}`, options()),
      /too long.*script file/,
    );
    await rm(root, { recursive: true });
    await assert.rejects(alice.runCommand('true', options()), WorkspaceError);
  });

  it('case 30: what reads from its input gets nothing instead of waiting', async () => {
    const cat = await alice.runCommand('cat; read -r line; echo "end: $?"', options());
    assert.equal(cat.output, 'end: 1\n');
    const tty = await alice.runCommand(
      'if [ -t 0 ] || [ -t 1 ]; then echo yes; fi; true < /dev/tty',
      options(),
    );
    assert.match(tty.output, /\/dev\/tty/);
    assert.doesNotMatch(tty.output, /yes/);
  });

  it('case 30: git does not wait for an editor', async () => {
    const script = [
      'git init -q && git config user.email a@example.com && git config user.name A',
      'echo x > x && git add x && git commit; echo "commit: $?"',
      'git commit -q -m first && git commit --amend; echo "amend: $?"',
    ].join('\n');
    const { output } = await alice.runCommand(script, options());
    assert.match(output, /empty commit message/);
    assert.match(output, /commit: 1\n/);
    assert.match(output, /amend: 0\n/);
  });

  it('case 30: a time-out ends children that trap TERM, in the background too', async () => {
    const child = "trap '' TERM; echo $BASHPID; while :; do sleep 0.05; done";
    const outcome = await alice.runCommand(`(${child}) & (${child})`, options({ timeoutMs: 1500 }));
    assert.equal(outcome.timedOut, true);
    assert.equal(outcome.exitCode, null);
    assert.ok(outcome.signal === 'SIGTERM' || outcome.signal === 'SIGKILL');
    const pids = outcome.output.trim().split('\n').map(Number);
    assert.equal(pids.length, 2);
    for (const pid of pids) assert.equal(await isRunning(pid), false);
  });

  it('case 30: a time-out lets a command that heeds TERM clean up', async () => {
    const patient = createNodeWorkspace(root, { killGraceMs: LONG_MS }).forMember('alice');
    const outcome = await patient.runCommand(
      "trap 'echo cleaned; exit 7' TERM; echo ready; while :; do sleep 0.05; done",
      options({ timeoutMs: 1500 }),
    );
    assert.deepEqual(
      [outcome.output.replace('Terminated\n', ''), outcome.exitCode, outcome.timedOut],
      ['ready\ncleaned\n', 7, true],
    );
  });

  it('ends what a finished command left in the background, and does not wait for it', async () => {
    const outcome = await alice.runCommand("(trap '' TERM; sleep 1000) & echo $!; exit 5", options());
    assert.equal(outcome.exitCode, 5);
    assert.match(outcome.output, /^\d+\n\n\[processes that the command left running were ended\]$/);
    assert.equal(await isRunning(Number.parseInt(outcome.output, 10)), false);
  });

  it('does not wait for a process that left the group and holds the pipe', async () => {
    const outcome = await alice.runCommand('setsid sleep 1000 & sleep 0.2; echo $!', options());
    const [pid] = outcome.output.split('\n').map(Number);
    assert.equal(outcome.exitCode, 0);
    assert.ok(pid !== undefined && pid > 0);
    process.kill(pid);
  });

  it('keeps what a process substitution writes after the command has ended', async () => {
    const outcome = await alice.runCommand('echo text > >(sleep 0.03; cat)', options());
    assert.equal(outcome.output, 'text\n');
  });

  it('ends a command at the signal of its caller, before and while it runs', async () => {
    const controller = new AbortController();
    const running = alice.runCommand('touch started; sleep 1000', options({ signal: controller.signal }));
    const watch = alice.runCommand('until [ -e started ]; do sleep 0.01; done', options());
    await watch;
    controller.abort();
    const outcome = await running;
    assert.deepEqual([outcome.aborted, outcome.timedOut, outcome.exitCode], [true, false, null]);
    const never = await alice.runCommand('touch never', options({ signal: controller.signal }));
    assert.equal(never.aborted, true);
    assert.equal((await alice.runCommand('ls', options())).output, 'started\n');
  });

  it('case 31: keeps beginning and end of a huge output, in bounded memory, while others go on', async () => {
    const before = process.memoryUsage().rss;
    let peak = before;
    let quick = 0;
    const huge = alice.runCommand('echo first; yes | head -c 600000000; echo last', options());
    const bob = createNodeWorkspace(root).forMember('bob');
    let done = false;
    const watch = async (): Promise<void> => {
      while (!done) {
        assert.equal((await bob.runCommand('echo quick; sleep 0.2', options())).output, 'quick\n');
        quick += 1;
        peak = Math.max(peak, process.memoryUsage().rss);
      }
    };
    await Promise.all([
      watch(),
      huge.finally(() => {
        done = true;
      }),
    ]);
    const { output, exitCode } = await huge;
    assert.equal(exitCode, 0);
    assert.ok(output.length < 61_000);
    assert.match(output, /^first\ny\ny\n/);
    assert.match(output, /y\nlast\n$/);
    assert.match(output, /\n\[… 599940\d{3} characters left out …\]\n/);
    assert.ok(quick > 0);
    assert.ok(peak - before < 200_000_000, `memory grew by ${peak - before} bytes`);
  });

  it('case 32: strips control sequences and overwritten text before it cuts', async () => {
    const red = await alice.runCommand("printf '\\033[31mFAIL\\033[0m\\rPASS\\n'", options());
    assert.equal(red.output, 'PASS\n');
    const many = await alice.runCommand(
      "for i in $(seq 20000); do printf '\\033[1;31m%s é😀\\033[0m\\n' $i; done",
      options(),
    );
    assert.doesNotMatch(many.output, /\[1;|\[0m|31m|\ufffd/);
    assert.ok(!many.output.includes('\u001b'));
    assert.match(many.output, /^1 é😀\n2 é😀\n/);
    assert.match(many.output, /\n20000 é😀\n$/);
    assert.match(many.output, /characters left out/);
  });

  it('case 33: children do not inherit keys', async () => {
    const names = {
      ANTHROPIC_API_KEY: 'fake-anthropic-key',
      ANTHROPIC_BASE_URL: 'http://example.invalid',
      HARMLESS_NAME: 'the stored key value',
      HARMLESS_HEADER: 'Bearer the stored key value',
      VSCODE_IPC_HOOK_CLI: '/run/x.sock',
      ELECTRON_RUN_AS_NODE: '1',
      HANDSHAKE_TEST_KEPT: 'kept',
    };
    Object.assign(process.env, names);
    try {
      const workspace = createNodeWorkspace(root, { secretValues: () => ['the stored key value', ''] });
      const { output } = await workspace.forMember('alice').runCommand('env', options());
      assert.match(output, /HANDSHAKE_TEST_KEPT=kept/);
      assert.doesNotMatch(output, /ANTHROPIC|fake-anthropic-key|stored key|VSCODE_|ELECTRON_/);
    } finally {
      for (const name of Object.keys(names)) delete process.env[name];
    }
  });

  it('case 33: knows the names that keys usually have, and no others', () => {
    const secret = [
      'OPENAI_API_KEY',
      'openai_apikey',
      'AWS_SECRET_ACCESS_KEY',
      'AWS_ACCESS_KEY_ID',
      'AWS_SESSION_TOKEN',
      'GITHUB_TOKEN',
      'GH_PAT',
      'NODE_AUTH_TOKEN',
      'npm_config__authToken',
      'npm_config__auth',
      'PGPASSWORD',
      'MYSQL_PWD',
      'DB_PASSWD',
      'GOOGLE_APPLICATION_CREDENTIALS',
      'AZURE_CLIENT_SECRET',
      'SSH_KEY_PASSPHRASE',
      'STRIPE_KEY',
      'SESSION_COOKIE',
      'HTTP_AUTHORIZATION',
      'TOKEN',
      'TOKEN_FILE',
      'ANTHROPIC_MODEL',
      'VSCODE_GIT_IPC_HANDLE',
      'GIT_ASKPASS',
    ];
    const plain = [
      'PATH',
      'HOME',
      'PWD',
      'OLDPWD',
      'LANG',
      'SSH_AUTH_SOCK',
      'XAUTHORITY',
      'TOKENIZERS_PARALLELISM',
      'KEYBOARD',
      'HTTP_PROXY',
      'NODE_OPTIONS',
      'MONKEY',
      'AUTHOR',
      'EMPTY',
    ];
    const own = Object.fromEntries(
      [...secret, ...plain].map((name) => [name, name === 'EMPTY' ? '' : 'value']),
    );
    const environment = commandEnvironment(own, []);
    for (const name of secret) assert.equal(environment[name], undefined, name);
    for (const name of plain) assert.equal(environment[name], own[name], name);
  });

  it('leaves no process of the shell behind', async () => {
    await alice.runCommand('sleep 0.01', options());
    if (process.platform !== 'linux') return;
    const children = execFileSync('ps', ['-o', 'comm=', '--ppid', String(process.pid)], { encoding: 'utf8' });
    assert.doesNotMatch(children, /bash|sleep/);
  });
});
