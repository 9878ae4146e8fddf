import { LEAD } from '../protocol';
import type { Disposable, TeamEvent } from '../team/events';
import { FolderWatch } from './folderWatch';
import type { TranscriptRecord } from './transcript';

/** Tells what the lead of a team that is run elsewhere says and does, as its transcript grows. */
export class TranscriptFollower implements Disposable {
  readonly #watch: FolderWatch;
  /** The conversation that `#told` counts, and how many of its records are told. */
  #number = 0;
  #told = 0;
  #reading = false;
  #dirty = false;
  #disposed = false;

  constructor(
    dir: string,
    private readonly conversation: () => number,
    private readonly read: (number: number) => Promise<readonly TranscriptRecord[]>,
    private readonly tell: (event: TeamEvent) => void,
    private readonly report: (error: unknown) => void,
  ) {
    this.#watch = new FolderWatch(dir, () => void this.#follow(), report);
  }

  async start(): Promise<void> {
    this.#watch.start();
    this.#number = this.conversation();
    try {
      this.#told = (await this.read(this.#number)).length;
    } catch (error) {
      // The rest of the team is to be seen all the same.
      this.report(error);
    }
  }

  dispose(): void {
    this.#disposed = true;
    this.#watch.dispose();
  }

  async #follow(): Promise<void> {
    this.#dirty = true;
    if (this.#reading) return;
    this.#reading = true;
    try {
      while (this.#dirty && !this.#disposed) {
        this.#dirty = false;
        const number = this.conversation();
        const records = await this.read(number);
        if (this.#disposed) return;
        if (number !== this.#number) this.#told = 0;
        this.#number = number;
        for (const record of records.slice(this.#told))
          for (const event of eventsOf(record)) this.tell(event);
        this.#told = records.length;
      }
    } catch (error) {
      this.report(error);
    } finally {
      this.#reading = false;
    }
  }
}

/** The events that a line of the lead's transcript stands for. */
export function eventsOf({ turn, mail, demo }: TranscriptRecord): TeamEvent[] {
  const taken: TeamEvent[] =
    mail === undefined ? [] : [{ type: 'taken', member: LEAD, ids: mail.map((message) => message.id) }];
  if (turn.role === 'user') {
    const results = turn.content.flatMap((block): TeamEvent[] =>
      block.type === 'tool_result'
        ? [
            {
              type: 'tool_ended',
              member: LEAD,
              id: block.tool_use_id,
              name: '',
              result: block.content,
              isError: block.is_error === true,
            },
          ]
        : [],
    );
    return [...taken, ...results];
  }
  const text = turn.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  const said: TeamEvent[] = [{ type: 'assistant', member: LEAD, text: text.trim(), demo: demo === true }];
  const calls = turn.content.flatMap((block): TeamEvent[] =>
    block.type === 'tool_use'
      ? [{ type: 'tool_started', member: LEAD, id: block.id, name: block.name, input: block.input }]
      : [],
  );
  return [...taken, ...said, ...calls];
}
