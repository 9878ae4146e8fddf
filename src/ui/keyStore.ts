import * as vscode from 'vscode';
import * as z from 'zod';

const SECRET = 'handshake.apiKey';

const storedKey = z.object({ key: z.string().min(1), baseUrl: z.string().optional() });
/** A key and the one address it is sent to, kept as one secret so that they cannot come apart. */
export type StoredKey = z.infer<typeof storedKey>;

/** The key in VS Code's SecretStorage, at hand without waiting once it was read. */
export class KeyStore implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  readonly #subscription: vscode.Disposable;
  /** Resolves when the secret was read the first time; never rejects. */
  readonly loaded: Promise<void>;
  #key: StoredKey | undefined;

  constructor(
    private readonly secrets: vscode.SecretStorage,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.loaded = this.#load();
    this.#subscription = secrets.onDidChange((event) => {
      if (event.key === SECRET) void this.#load();
    });
  }

  get key(): StoredKey | undefined {
    return this.#key;
  }

  async set(key: StoredKey): Promise<void> {
    await this.secrets.store(SECRET, JSON.stringify(key));
    this.#become(key);
  }

  async clear(): Promise<void> {
    await this.secrets.delete(SECRET);
    this.#become(undefined);
  }

  async #load(): Promise<void> {
    try {
      const text = await this.secrets.get(SECRET);
      this.#become(text === undefined ? undefined : storedKey.parse(JSON.parse(text)));
    } catch (error) {
      // Not the error itself: its text could hold a piece of the key.
      const why =
        error instanceof z.ZodError || error instanceof SyntaxError ? 'it is damaged' : String(error);
      this.log.error(`The stored API key cannot be read: ${why}. Run "Handshake: Set API Key" again.`);
      this.#become(undefined);
    }
  }

  #become(key: StoredKey | undefined): void {
    if (this.#key?.key === key?.key && this.#key?.baseUrl === key?.baseUrl) return;
    this.#key = key;
    this.#changed.fire();
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#changed.dispose();
  }
}
