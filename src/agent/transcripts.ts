import * as path from 'node:path';
import {
  findInTranscript,
  nodeFileSystem,
  readTranscriptTail,
  type StoreFileSystem,
  storageError,
  TranscriptFile,
} from '../store';
import { Conversation } from './conversation';
import { type TranscriptRecord, transcriptRecord } from './transcript';

/** Where a conversation stands. */
export interface Ending {
  /** Calls of the last turn that have no result. */
  openCalls: string[];
  /** True when the model owes a reply, or calls have no results: work that a closed window cut off. */
  isUnfinished: boolean;
  /** What the last reply was asked for once more. */
  askedAgain: string | undefined;
}

/** The transcripts of a team, a file for each incarnation and each conversation of the lead. */
export class Transcripts {
  readonly #dir: string;

  constructor(
    storageDir: string,
    private readonly report: (text: string) => void,
    private readonly fileSystem?: StoreFileSystem,
  ) {
    this.#dir = path.join(storageDir, 'transcripts');
  }

  /** Reads what is there and goes on with it. */
  async open(name: string, number: number): Promise<Conversation> {
    await (this.fileSystem ?? nodeFileSystem).mkdir(this.#dir);
    const file = this.#path(name, number);
    const lines = await this.#load(file);
    const log = new TranscriptFile(file, this.fileSystem);
    return Conversation.restore(
      { append: (record, options) => log.append({ ...record }, options), close: () => log.close() },
      lines,
      (problem) => this.report(`${file}: ${problem}`),
    );
  }

  /**
   * Moves aside what a journal that lost its end does not know of: the next incarnation of that name is not to
   * inherit it.
   * @throws {StorageError} when that fails
   */
  async keepUnknown(last: (name: string) => number): Promise<void> {
    const fs = this.fileSystem ?? nodeFileSystem;
    let files: string[];
    try {
      files = await fs.readdir(this.#dir);
    } catch {
      // There is no transcript yet, or whoever reads one says what is wrong.
      return;
    }
    for (const file of files) {
      const [, name = '', number] = /^(.+)-(\d+)\.jsonl$/.exec(file) ?? [];
      if (number === undefined || Number(number) <= last(name)) continue;
      const kept = path.join(this.#dir, 'kept', file);
      try {
        await fs.mkdir(path.dirname(kept));
        await fs.rename(path.join(this.#dir, file), kept);
      } catch (error) {
        throw storageError('write', kept, error);
      }
      this.report(
        `${file} belongs to a conversation that the journal does not know; it is in transcripts/kept.`,
      );
    }
  }

  /** How a transcript ends; only as much of it is read as that takes. */
  async ending(name: string, number: number): Promise<Ending> {
    const lines = await readTranscriptTail(
      this.#path(name, number),
      (line) => parsed(line)?.turn.role === 'assistant',
      this.fileSystem,
    );
    const records = lines.flatMap((line) => parsed(line) ?? []);
    const answered = new Set<string>();
    const called: string[] = [];
    for (const { turn } of records) {
      for (const block of turn.content) {
        if (block.type === 'tool_use') called.push(block.id);
        else if (block.type === 'tool_result') answered.add(block.tool_use_id);
      }
    }
    const openCalls = called.filter((id) => !answered.has(id));
    return {
      openCalls,
      isUnfinished:
        openCalls.length > 0 || records.at(-1)?.turn.role === 'user' || records.at(-1)?.paused === true,
      askedAgain: records.find(({ turn }) => turn.role === 'assistant')?.nudged,
    };
  }

  /** Which of these messages the transcript shows already, though a crash left them in the mailbox. */
  async shownAmong(name: string, number: number, ids: readonly string[]): Promise<string[]> {
    const needles = new Map(ids.map((id) => [`"id":${JSON.stringify(id)}`, id]));
    // An input that a model wrote may hold the same field: the record itself decides.
    const shows = (line: Uint8Array, needle: string): boolean => {
      const record = parsedText(Buffer.from(line).toString('utf8'));
      return record?.mail?.some(({ id }) => id === needles.get(needle)) ?? false;
    };
    const found = await findInTranscript(
      this.#path(name, number),
      [...needles.keys()],
      shows,
      this.fileSystem,
    );
    return found.flatMap((needle) => needles.get(needle) ?? []);
  }

  /** For reading only; empty when there is none. */
  async read(name: string, number: number): Promise<TranscriptRecord[]> {
    const lines = await this.#load(this.#path(name, number));
    return lines.flatMap((line) => parsed(line) ?? []);
  }

  #load(file: string): Promise<unknown[]> {
    return TranscriptFile.load(
      file,
      ({ line, reason }) => {
        this.report(`${file}, line ${line}, is damaged and was left out: ${reason}`);
      },
      this.fileSystem,
    );
  }

  #path(name: string, number: number): string {
    return path.join(this.#dir, `${name}-${number}.jsonl`);
  }
}

function parsed(line: unknown): TranscriptRecord | undefined {
  const record = transcriptRecord.safeParse(line);
  return record.success ? (record.data as TranscriptRecord) : undefined;
}

function parsedText(line: string): TranscriptRecord | undefined {
  try {
    return parsed(JSON.parse(line));
  } catch {
    // A damaged line shows nothing.
    return undefined;
  }
}
