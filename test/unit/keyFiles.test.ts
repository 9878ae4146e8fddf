import * as assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import { resolveCredentials } from '../../src/model/credentials';
import { parseDotEnv, readClaudeSettings, readDotEnv } from '../../src/model/keyFiles';
import { FileKeys } from '../../src/ui/fileKeys';

const KEY = 'sk-ant-of-the-file';

describe('files that hold keys', () => {
  let dir: string;
  let warnings: string[];

  beforeEach(async () => {
    dir = await fs.mkdtemp(path.join(os.tmpdir(), 'handshake-keys-'));
    warnings = [];
  });
  afterEach(() => fs.rm(dir, { recursive: true }));

  const write = async (name: string, content: string): Promise<string> => {
    const file = path.join(dir, name);
    await fs.mkdir(path.dirname(file), { recursive: true });
    await fs.writeFile(file, content);
    return file;
  };
  const settings = (env: Record<string, unknown>) => JSON.stringify({ permissions: {}, env });
  const fileKeys = () =>
    new FileKeys({
      root: path.join(dir, 'workspace'),
      consentFile: path.join(dir, 'storage', 'workspace-key.json'),
      home: path.join(dir, 'home'),
      warn: (text) => void warnings.push(text),
    });

  it('give the env block of a Claude settings file, and nothing else of it', async () => {
    const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: 'https://a.example', PATH: '/x', MODEL_ID: 7 };
    const file = await write('settings.json', settings(env));
    assert.deepEqual(await readClaudeSettings(file, 'S'), {
      name: 'S',
      env: { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: 'https://a.example' },
    });
  });

  it('count only with a key in them, so that no address stands beside a key from elsewhere', async () => {
    const file = await write('settings.json', settings({ ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' }));
    assert.equal(await readClaudeSettings(file, 'S'), undefined);
    assert.equal(await readClaudeSettings(path.join(dir, 'none.json'), 'S'), undefined);
    assert.equal(
      await readDotEnv(await write('.env', 'ANTHROPIC_BASE_URL=http://127.0.0.1:9\n'), 'E'),
      undefined,
    );
  });

  it('never show their content where they are damaged', async () => {
    const file = await write('settings.json', `{"env": {"ANTHROPIC_API_KEY": "${KEY}"`);
    await assert.rejects(readClaudeSettings(file, 'S'), (error: Error) => {
      assert.match(error.message, /^S is not JSON/);
      return !`${error.message} ${error.stack}`.includes(KEY);
    });
  });

  it('are read as people write .env', () => {
    const text = [
      '# a comment',
      'A=1',
      ' export B = two words # and a comment',
      'C="quoted # kept" # comment',
      "D='single'",
      'E=',
      'not an assignment',
      'A=later',
      'F=a#b',
      'G=# only a comment',
    ].join('\r\n');
    assert.deepEqual(parseDotEnv(text), {
      A: 'later',
      B: 'two words',
      C: 'quoted # kept',
      D: 'single',
      E: '',
      F: 'a#b',
      G: '',
    });
  });

  it('stand behind the stored key and the environment, each with the address of its own', async () => {
    await write('home/.claude/settings.json', settings({ ANTHROPIC_AUTH_TOKEN: KEY, ANTHROPIC_MODEL: 'm' }));
    const files = fileKeys();
    await files.read();
    const { claudeSettings } = files;
    assert.ok(claudeSettings);
    const env = { ANTHROPIC_API_KEY: 'of-env', ANTHROPIC_BASE_URL: 'https://env.example' };
    const stored = { key: 'stored', baseUrl: 'https://stored.example' };
    const found = (sources: Parameters<typeof resolveCredentials>[0]) => {
      const credentials = resolveCredentials(sources);
      assert.ok(!('missing' in credentials));
      return `${credentials.source} ${credentials.apiKey ?? credentials.authToken} ${credentials.baseUrl}`;
    };
    assert.equal(found({ env, stored, claudeSettings }), 'stored stored https://stored.example');
    assert.equal(found({ env, claudeSettings }), 'environment of-env https://env.example');
    assert.equal(found({ env: {}, claudeSettings }), `claude ${KEY} https://api.anthropic.com`);
    const other = resolveCredentials({ env: {}, claudeSettings, settingsBaseUrl: 'https://other.example' });
    assert.ok('missing' in other);
    assert.match(
      other.message,
      /the key in ~\/\.claude\/settings\.json belongs to https:\/\/api\.anthropic\.com/,
    );
    assert.deepEqual(resolveCredentials({ env: {} }), {
      ...resolveCredentials({ env: {} }),
      missing: true,
      reason: 'none',
    });
  });

  describe('in a workspace', () => {
    it('case 44: count only once the user agreed to the file and its address, and then as a whole', async () => {
      await write('workspace/.env', `ANTHROPIC_API_KEY=${KEY}\nANTHROPIC_BASE_URL=http://127.0.0.1:9\n`);
      const files = fileKeys();
      await files.read();
      assert.equal(files.agreed, undefined);
      assert.ok(files.offered);
      assert.equal(files.offered.baseUrl, 'http://127.0.0.1:9');
      await files.agree(files.offered);
      const workspaceFile = files.agreed;
      assert.ok(workspaceFile);
      const stored = { key: 'stored', baseUrl: 'https://stored.example' };
      const credentials = resolveCredentials({
        env: {},
        stored,
        workspaceFile,
        settingsBaseUrl: 'https://stored.example',
      });
      assert.deepEqual(
        [
          ('apiKey' in credentials && credentials.apiKey) || '',
          'baseUrl' in credentials && credentials.baseUrl,
        ],
        [KEY, 'http://127.0.0.1:9'],
      );
      assert.deepEqual(files.secrets(), [KEY]);

      const next = fileKeys();
      assert.equal(await next.read(), true);
      assert.ok(next.agreed, 'the consent outlives the window');
      assert.equal(await next.read(), false);
      await next.revoke();
      await next.read();
      assert.equal(next.agreed, undefined);
    });

    it('are asked for again when the repository moves its address elsewhere', async () => {
      await write('workspace/.env', `ANTHROPIC_API_KEY=${KEY}\nANTHROPIC_BASE_URL=https://one.example\n`);
      const files = fileKeys();
      await files.read();
      assert.ok(files.offered);
      await files.agree(files.offered);
      await write('workspace/.env', `ANTHROPIC_API_KEY=${KEY}\nANTHROPIC_BASE_URL=https://two.example\n`);
      assert.equal(files.hasMoved, false);
      const shown = files.offered;
      await files.read();
      assert.equal(files.agreed, undefined);
      assert.equal(files.hasMoved, true);
      // A click on a question that is older than the file is no answer for the new address.
      await files.agree(shown);
      assert.equal(files.agreed, undefined);
      await write('workspace/.claude/settings.json', settings({ ANTHROPIC_API_KEY: 'other' }));
      await files.read();
      assert.equal(files.offered?.file.name, '.claude/settings.json');
      assert.equal(files.agreed, undefined);
    });

    it('cannot agree in the place of the user', async () => {
      await write('workspace/.env', `ANTHROPIC_API_KEY=${KEY}\n`);
      const consent = JSON.stringify({ file: '.env', baseUrl: 'https://api.anthropic.com' });
      await write('workspace/workspace-key.json', consent);
      await write('workspace/.team/workspace-key.json', consent);
      const files = fileKeys();
      await files.read();
      assert.equal(files.agreed, undefined);
    });

    it('are named once where they cannot be read', async () => {
      await write('workspace/.claude/settings.json', '{');
      const files = fileKeys();
      await files.read();
      await files.read();
      assert.deepEqual(warnings, ['.claude/settings.json is not JSON; no key is taken from it.']);
    });
  });
});
