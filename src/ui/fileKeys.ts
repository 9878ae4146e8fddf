import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { DEFAULT_BASE_URL, parseBaseUrl } from '../model/endpoint';
import { type KeyFile, readClaudeSettings, readDotEnv } from '../model/keyFiles';

/** A file of the workspace with a key, and the address that the file sends it to. */
export interface WorkspaceKey {
  file: KeyFile;
  baseUrl: string;
}

export interface FileKeysOptions {
  /** The workspace folder; undefined where none is open. */
  root: string | undefined;
  /** In the extension's storage of this workspace, where no repository can write; undefined without a folder. */
  consentFile: string | undefined;
  home?: string;
  warn(text: string): void;
}

const consent = z.object({ file: z.string(), baseUrl: z.string() });
type Consent = z.infer<typeof consent>;

/**
 * Keys that stand in files. The user's own settings count as they are. Those of the workspace came with a
 * repository: they count only after the user agreed, for this workspace, this file and this address.
 */
export class FileKeys {
  #claude: KeyFile | undefined;
  #workspace: WorkspaceKey | undefined;
  #consent: Consent | undefined;
  readonly #warned = new Set<string>();

  constructor(private readonly options: FileKeysOptions) {}

  get claudeSettings(): KeyFile | undefined {
    return this.#claude;
  }

  /** What the workspace offers, agreed to or not. */
  get offered(): WorkspaceKey | undefined {
    return this.#workspace;
  }

  /** What the workspace offers and the user agreed to. */
  get agreed(): KeyFile | undefined {
    const { file, baseUrl } = this.#workspace ?? {};
    const isAgreed = this.#consent?.file === file?.name && this.#consent?.baseUrl === baseUrl;
    return isAgreed ? file : undefined;
  }

  /** The user agreed to another file or address than what the workspace offers now. */
  get hasMoved(): boolean {
    return this.#consent !== undefined && this.#workspace !== undefined && this.agreed === undefined;
  }

  /** The values that must not reach a child process. */
  secrets(): string[] {
    return [this.#claude, this.#workspace?.file].flatMap((file) =>
      [file?.env.ANTHROPIC_API_KEY, file?.env.ANTHROPIC_AUTH_TOKEN].flatMap((key) => key ?? []),
    );
  }

  /** Reads the files anew. @returns whether anything is different now */
  async read(): Promise<boolean> {
    const before = this.#picture();
    const { root, home = homedir() } = this.options;
    this.#claude = await this.#try(() =>
      readClaudeSettings(join(home, '.claude', 'settings.json'), '~/.claude/settings.json'),
    );
    this.#workspace = root === undefined ? undefined : await this.#readWorkspace(root);
    this.#consent = await this.#readConsent();
    return this.#picture() !== before;
  }

  /** The user agrees to what was offered; it counts while the workspace offers that. @throws {Error} when it cannot be kept */
  async agree({ file, baseUrl }: WorkspaceKey): Promise<void> {
    const { consentFile } = this.options;
    if (consentFile === undefined) return;
    await mkdir(dirname(consentFile), { recursive: true });
    await writeFile(consentFile, `${JSON.stringify({ file: file.name, baseUrl })}\n`);
    this.#consent = { file: file.name, baseUrl };
  }

  /** The user takes it back. */
  async revoke(): Promise<void> {
    if (this.options.consentFile !== undefined) await rm(this.options.consentFile, { force: true });
    this.#consent = undefined;
  }

  async #readWorkspace(root: string): Promise<WorkspaceKey | undefined> {
    const file =
      (await this.#try(() =>
        readClaudeSettings(join(root, '.claude', 'settings.json'), '.claude/settings.json'),
      )) ?? (await this.#try(() => readDotEnv(join(root, '.env'), '.env')));
    if (file === undefined) return undefined;
    const base = parseBaseUrl(file.env.ANTHROPIC_BASE_URL || DEFAULT_BASE_URL);
    if ('url' in base) return { file, baseUrl: base.url };
    this.#warn(`${file.name}: ANTHROPIC_BASE_URL cannot be used: ${base.problem}.`);
    return undefined;
  }

  async #readConsent(): Promise<Consent | undefined> {
    const { consentFile } = this.options;
    if (consentFile === undefined) return undefined;
    try {
      return consent.parse(JSON.parse(await readFile(consentFile, 'utf8')));
    } catch {
      // Missing or damaged: then nothing was agreed to.
      return undefined;
    }
  }

  /** One file that cannot be read keeps the others from nothing; it is told once. */
  async #try(read: () => Promise<KeyFile | undefined>): Promise<KeyFile | undefined> {
    try {
      return await read();
    } catch (error) {
      this.#warn(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  #warn(text: string): void {
    if (this.#warned.has(text)) return;
    this.#warned.add(text);
    this.options.warn(text);
  }

  #picture(): string {
    return JSON.stringify([this.#claude, this.#workspace, this.#consent]);
  }
}
