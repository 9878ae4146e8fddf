import assert from 'node:assert/strict';
import { type CredentialSources, DEFAULT_MODEL, resolveCredentials } from '../../src/model/credentials';
import { parseBaseUrl, proxyHint } from '../../src/model/endpoint';

const resolve = (sources: Partial<CredentialSources>) => resolveCredentials({ env: {}, ...sources });
const found = (sources: Partial<CredentialSources>) => {
  const result = resolve(sources);
  assert.ok(!('missing' in result), 'message' in result ? result.message : '');
  return result;
};
const missing = (sources: Partial<CredentialSources>) => {
  const result = resolve(sources);
  assert.ok('missing' in result);
  return result.message;
};

describe('credentials', () => {
  const env = { ANTHROPIC_API_KEY: 'env-key', ANTHROPIC_BASE_URL: 'https://gateway.corp/anthropic/' };

  it('takes the stored key with its own base URL before anything else', () => {
    const stored = { key: 'k', baseUrl: 'http://localhost:8080/' };
    const result = found({ stored, env });
    assert.equal(result.source, 'stored');
    assert.equal(result.apiKey, 'k');
    assert.equal(result.baseUrl, 'http://localhost:8080');
  });

  it('sends a stored key without a base URL to the default one, whatever the environment says', () => {
    assert.equal(found({ stored: { key: 'k' }, env }).baseUrl, 'https://api.anthropic.com');
  });

  it('takes the key of the environment with the base URL and model of the environment', () => {
    const result = found({ env: { ...env, MODEL_ID: 'm-2' } });
    assert.deepEqual(
      [result.source, result.apiKey, result.baseUrl, result.model],
      ['environment', 'env-key', 'https://gateway.corp/anthropic', 'm-2'],
    );
    assert.equal(found({ env: { ...env, MODEL_ID: 'm-2', ANTHROPIC_MODEL: 'm-1' } }).model, 'm-1');
    assert.equal(found({ env: { ANTHROPIC_API_KEY: 'x' } }).baseUrl, 'https://api.anthropic.com');
  });

  it('takes an auth token where there is no key', () => {
    const result = found({ env: { ANTHROPIC_AUTH_TOKEN: 't' } });
    assert.equal(result.authToken, 't');
    assert.equal(result.apiKey, undefined);
  });

  it('prefers the model of the settings, and has one of its own', () => {
    assert.equal(
      found({ stored: { key: 'k' }, settingsModel: 'm-3', env: { ANTHROPIC_MODEL: 'm-1' } }).model,
      'm-3',
    );
    assert.equal(found({ stored: { key: 'k' }, env: { ANTHROPIC_MODEL: 'm-1' } }).model, DEFAULT_MODEL);
  });

  it('never sends a key to a base URL of another source', () => {
    const message = missing({
      stored: { key: 'k', baseUrl: 'https://a.test' },
      settingsBaseUrl: 'https://b.test',
    });
    assert.match(message, /https:\/\/b\.test.*belongs to https:\/\/a\.test.*Run "Handshake: Set API Key"/);
    assert.match(
      missing({ env, settingsBaseUrl: 'https://b.test' }),
      /the key in ANTHROPIC_API_KEY belongs to/,
    );
    assert.match(missing({ stored: { key: 'k' }, settingsBaseUrl: 'https://b.test' }), /api\.anthropic\.com/);
    assert.equal(
      found({ stored: { key: 'k', baseUrl: 'https://a.test' }, settingsBaseUrl: 'https://a.test/v1/' })
        .apiKey,
      'k',
    );
  });

  it('says what to do without any key', () => {
    assert.match(missing({ env: { ANTHROPIC_API_KEY: '  ' } }), /Set API Key.*Run Demo/);
  });

  it('refuses base URLs that cannot be one', () => {
    assert.match(
      missing({ env: { ANTHROPIC_API_KEY: 'x', ANTHROPIC_BASE_URL: 'localhost:8080' } }),
      /ANTHROPIC_BASE_URL cannot be used/,
    );
    assert.match(missing({ stored: { key: 'k', baseUrl: 'ftp://x' } }), /only http/);
    assert.match(
      missing({ stored: { key: 'k' }, settingsBaseUrl: 'https://me:pw@x' }),
      /handshake\.baseUrl.*user name or password/,
    );
    for (const bad of ['', 'x', 'https://x/?a=1', 'file:///tmp'])
      assert.ok('problem' in parseBaseUrl(bad), bad);
    assert.deepEqual(parseBaseUrl(' https://X.test:443/a/v1/messages '), { url: 'https://x.test/a' });
  });

  it('names proxies without their passwords, unless the host is exempt', () => {
    const proxies = { https_proxy: 'http://u:p@proxy:1', ALL_PROXY: 'socks5://proxy2:2' };
    const hint = proxyHint('https://api.anthropic.com', proxies, 'http://u:p@vs:3');
    assert.match(hint, /https_proxy \(proxy:1\)/);
    assert.match(hint, /ALL_PROXY \(proxy2:2\).* the setting http\.proxy \(vs:3\)/);
    assert.doesNotMatch(hint, /u:p/);
    assert.equal(proxyHint('http://localhost:1', { ...proxies, NO_PROXY: 'localhost,127.0.0.1' }), '');
    assert.equal(proxyHint('https://a.b.test', { ...proxies, no_proxy: '.b.test' }), '');
    assert.equal(proxyHint('https://a.b.test', {}), '');
  });
});
