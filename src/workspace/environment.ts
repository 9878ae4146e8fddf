/** Names that tell of a key, token or password. */
const SECRET_NAMES: readonly RegExp[] = [
  /^anthropic_/i,
  /api_?keys?/i,
  /access_?key/i,
  /private_?key/i,
  /secret/i,
  /passwo?r?d/i,
  /passphrase/i,
  /credential/i,
  /cookie/i,
  /authorization/i,
  /auth_?token/i,
  /token$/i,
  /(^|_)token_/i,
  /_(key|pat|pwd|auth)$/i,
];

/** The editor's own channels: with them a child could speak to VS Code, or start as a part of it. */
const EDITOR_NAMES = /^(vscode|electron)_/i;

/** What makes programs show colours, ask for a password, or open an editor of the user's. */
const UNWANTED = new Set([
  'FORCE_COLOR',
  'CLICOLOR_FORCE',
  'GIT_ASKPASS',
  'SSH_ASKPASS',
  'SUDO_ASKPASS',
  'LESS',
]);

/** Shorter secrets are only looked for as whole values: parts of that length meet by chance. */
const MIN_PART_LENGTH = 8;

/** What keeps programs from waiting for a person, who has no terminal to answer in. */
const UNATTENDED: Readonly<Record<string, string>> = {
  TERM: 'dumb',
  NO_COLOR: '1',
  EDITOR: 'true',
  VISUAL: 'true',
  GIT_EDITOR: 'true',
  GIT_SEQUENCE_EDITOR: 'true',
  GIT_TERMINAL_PROMPT: '0',
  GCM_INTERACTIVE: 'never',
  SSH_ASKPASS_REQUIRE: 'never',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  SYSTEMD_PAGER: 'cat',
  DEBIAN_FRONTEND: 'noninteractive',
};

/**
 * The environment of a member's command: ours, without keys and without the editor's channels, set so that
 * nothing waits for a person.
 * @param secrets values that must not be in it under any name, also as a part of a longer value
 */
export function commandEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  secrets: readonly string[],
): Record<string, string> {
  const needles = secrets.map((secret) => secret.trim()).filter((secret) => secret !== '');
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(own)) {
    if (value === undefined || UNWANTED.has(name.toUpperCase()) || EDITOR_NAMES.test(name)) continue;
    if (SECRET_NAMES.some((pattern) => pattern.test(name))) continue;
    if (needles.some((needle) => holds(value, needle))) continue;
    environment[name] = value;
  }
  return { ...environment, ...UNATTENDED };
}

function holds(value: string, secret: string): boolean {
  return value.trim() === secret || (secret.length >= MIN_PART_LENGTH && value.includes(secret));
}
