/** A line of the journal: its number and its authentication code. */
export interface ChainHead {
  seq: number;
  mac: string;
}

/** The newest line that is known to be in a journal. */
export interface Anchor extends ChainHead {
  /** The segment that it is in, and the last number that counts of those before. */
  segment?: number | undefined;
  after?: number | undefined;
}

export interface VaultContent {
  /** The journal's key: 64 hex digits. */
  key: string;
  /** Null while the journal has no line. */
  anchor: Anchor | null;
}

/**
 * Where a journal's key and its newest anchor are kept, out of reach of whoever can write the journal's
 * files. A vault may forget (then `load` gives undefined) and may fail: the journal lives with both.
 */
export interface Vault {
  load(): Promise<VaultContent | undefined>;
  save(content: VaultContent): Promise<void>;
}

/** A vault that lives as long as the process: for tests and benches, and where nothing has to outlive them. */
export function memoryVault(content?: VaultContent): Vault {
  let kept = content;
  return {
    load: async () => kept,
    save: async (next) => {
      kept = next;
    },
  };
}
