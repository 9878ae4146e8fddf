import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';

/** A real git repository in a temporary folder. */
export interface GitRepo {
  readonly root: string;
  /** Runs git and gives what it prints, without the last line's end. */
  git(...args: string[]): string;
  put(name: string, content: string | Buffer): Promise<void>;
  text(name: string): Promise<string>;
  /** Commits everything. @returns the commit's id */
  commit(message: string): string;
  branches(): string[];
  /** As `git status --porcelain` tells it, a line each. */
  status(): string[];
  /** Of another folder of the same machine. */
  at(folder: string): GitRepo;
  remove(): Promise<void>;
}

export interface RepoOptions {
  /** Without a first commit. */
  empty?: boolean;
  /** Of the ids of its objects. */
  objectFormat?: 'sha1' | 'sha256';
}

const IDENTITY = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };

/**
 * @param name of its folder
 */
export async function makeRepo(name = 'work', options: RepoOptions = {}): Promise<GitRepo> {
  const base = await fs.realpath(await fs.mkdtemp(path.join(os.tmpdir(), 'handshake-git-')));
  return initRepo(path.join(base, name), options, base);
}

/** Makes a folder a repository with a first commit. */
export async function initRepo(root: string, options: RepoOptions = {}, base = root): Promise<GitRepo> {
  await fs.mkdir(root, { recursive: true });
  const repo = repoAt(root, base);
  const format = `--object-format=${options.objectFormat ?? 'sha1'}`;
  repo.git('init', '--quiet', '--initial-branch=main', format);
  repo.git('config', 'user.name', 'Ada');
  repo.git('config', 'user.email', 'ada@example.com');
  if (options.empty) return repo;
  await repo.put('readme.md', 'one\ntwo\nthree\n');
  await repo.put('src/a.ts', lines(1, 30));
  repo.commit('first');
  return repo;
}

/** `line 1` to `line n`, one a line. */
export function lines(first: number, last: number): string {
  return Array.from({ length: last - first + 1 }, (_, i) => `line ${first + i}\n`).join('');
}

export function repoAt(root: string, base = root): GitRepo {
  const git = (...args: string[]): string =>
    execFileSync('git', args, {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, ...IDENTITY },
      stdio: ['ignore', 'pipe', 'pipe'],
    }).replace(/\n$/, '');
  return {
    root,
    git,
    async put(name, content) {
      const file = path.join(root, name);
      await fs.mkdir(path.dirname(file), { recursive: true });
      await fs.writeFile(file, content);
    },
    text: (name) => fs.readFile(path.join(root, name), 'utf8'),
    commit(message) {
      git('add', '--all');
      git('commit', '--quiet', '--message', message);
      return git('rev-parse', 'HEAD');
    },
    branches: () => git('for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n'),
    status: () => {
      return git('status', '--porcelain', '--no-renames', '-z').split('\0').slice(0, -1).sort();
    },
    at: (folder) => repoAt(path.join(root, folder), base),
    remove: () => fs.rm(base, { recursive: true, force: true }),
  };
}
