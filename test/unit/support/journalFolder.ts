import assert from 'node:assert/strict';
import {
  type Damage,
  Journal,
  type JournalItem,
  type JournalOptions,
  type JsonObject,
  memoryVault,
  type Vault,
} from '../../../src/store';
import { FaultyFileSystem } from '../storeFaults';

export const DIR = 'store/journal';

export function segmentPath(segment: number, dir = DIR): string {
  return `${dir}/${String(segment).padStart(6, '0')}.jsonl`;
}

/** What an opening of a journal gave and said. */
export interface Opened {
  journal: Journal;
  items: JournalItem[];
  records: JsonObject[];
  /** Causes of the gaps, and how many records stand before each: `damage@3`. */
  gaps: string[];
  /** `000001.jsonl:3 reason` */
  damage: string[];
  warnings: string[];
}

export function recordsOf(items: readonly JournalItem[]): JsonObject[] {
  return items.flatMap((item) => ('record' in item ? [item.record] : []));
}

export function gapsOf(items: readonly JournalItem[]): string[] {
  return items.flatMap((item, at) =>
    'gap' in item ? [`${item.cause}@${recordsOf(items.slice(0, at)).length}`] : [],
  );
}

/** A journal's folder and its vault, which outlive each opening. */
export class JournalFolder {
  constructor(
    readonly fileSystem: FaultyFileSystem = new FaultyFileSystem(),
    public vault: Vault = memoryVault(),
  ) {}

  async open(options: Partial<JournalOptions> = {}): Promise<Opened> {
    const damage: string[] = [];
    const warnings: string[] = [];
    const { journal, items } = await Journal.open(DIR, {
      fileSystem: this.fileSystem,
      vault: this.vault,
      onDamage: (one) => damage.push(said(one)),
      onWarning: (text) => warnings.push(text),
      ...options,
    });
    return { journal, items, records: recordsOf(items), gaps: gapsOf(items), damage, warnings };
  }

  /** Opens, looks and closes. */
  async look(options: Partial<JournalOptions> = {}): Promise<Opened> {
    const opened = await this.open(options);
    await opened.journal.close();
    return opened;
  }

  /** A copy of what is on the disk and in the vault, for a look that must change nothing. */
  async copy(): Promise<JournalFolder> {
    const fileSystem = new FaultyFileSystem();
    for (const [path, content] of this.fileSystem.files) fileSystem.files.set(path, { ...content });
    return new JournalFolder(fileSystem, memoryVault(await this.vault.load()));
  }

  lines(segment: number): string[] {
    return this.fileSystem.text(segmentPath(segment)).split('\n').slice(0, -1);
  }

  putLines(segment: number, lines: readonly string[]): void {
    this.fileSystem.put(segmentPath(segment), lines.map((line) => `${line}\n`).join(''));
  }

  segments(): string[] {
    return [...this.fileSystem.files.keys()].filter((path) => path.startsWith(DIR)).sort();
  }
}

function said({ file, line, reason }: Damage): string {
  return `${file.slice(file.lastIndexOf('/') + 1)}:${line} ${reason}`;
}

/** Appends a record for each number, one after the other. */
export async function appendNumbers(journal: Journal, from: number, to: number): Promise<void> {
  for (let n = from; n <= to; n += 1) await journal.append([{ n }]);
}

export function numbers(records: readonly JsonObject[]): unknown[] {
  return records.map((record) => record.n);
}

export function failing(code = 'EIO'): Error {
  return Object.assign(new Error(code), { code });
}

/** For journals whose files must be whole. */
export function noDamage(damage: Damage): void {
  assert.fail(`unexpected damage: ${said(damage)}`);
}
