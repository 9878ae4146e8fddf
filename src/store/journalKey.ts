import { createHmac, hash, randomBytes } from 'node:crypto';

const KEY_BYTES = 32;
const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;
/** Longer lines are rare; for them the scratch buffer would cost more than the hash object it saves. */
const SCRATCH_BYTES = 1 << 16;

/** Digits of a code: the first 132 bits of HMAC-SHA-256 in base64url. */
export const MAC_LENGTH = 22;

/**
 * Makes the codes of a journal's lines. HMAC-SHA-256 (RFC 2104), put together from two one-shot hashes: with
 * 100,000 lines to check, an HMAC object for each would take most of the time of opening a journal.
 */
export class JournalKey {
  readonly #key: Buffer;
  readonly #inner = Buffer.alloc(BLOCK_BYTES + SCRATCH_BYTES, INNER_PAD);
  readonly #outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES, OUTER_PAD);

  /**
   * @param hex 64 hex digits
   * @throws {TypeError} for anything else
   */
  constructor(readonly hex: string) {
    if (!/^[0-9a-f]{64}$/i.test(hex)) throw new TypeError('The key of a journal has 64 hex digits.');
    this.#key = Buffer.from(hex, 'hex');
    this.#key.forEach((byte, at) => {
      this.#inner[at] = byte ^ INNER_PAD;
      this.#outer[at] = byte ^ OUTER_PAD;
    });
  }

  static random(): JournalKey {
    return new JournalKey(randomBytes(KEY_BYTES).toString('hex'));
  }

  /** The code of these bytes: {@link MAC_LENGTH} characters. */
  code(bytes: Uint8Array): string {
    return this.#digest(bytes).slice(0, MAC_LENGTH);
  }

  #digest(bytes: Uint8Array): string {
    if (bytes.length > SCRATCH_BYTES) {
      return createHmac('sha256', this.#key).update(bytes).digest('base64url');
    }
    this.#inner.set(bytes, BLOCK_BYTES);
    this.#outer.set(
      hash('sha256', this.#inner.subarray(0, BLOCK_BYTES + bytes.length), 'buffer'),
      BLOCK_BYTES,
    );
    return hash('sha256', this.#outer, 'base64url');
  }
}
