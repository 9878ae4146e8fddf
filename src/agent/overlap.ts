import type { Changer } from '../team/leaseBook';
import type { TeamRecord } from '../team/records';
import type { PreparedCall, ToolContext } from '../tools';
import type { FileIdentity } from '../workspace/port';

/** The file that a call is about to change, and those who change it too. */
export class FileOverlap {
  constructor(
    private readonly file: FileIdentity,
    private readonly changer: Changer,
    private readonly context: ToolContext,
  ) {}

  /** What the member has to hear in place of the change, or undefined. */
  refusal(): Promise<string | undefined> {
    const { team, workspace } = this.context;
    return team.leases.refusal(this.file, this.changer, () => workspace.forget(this.file));
  }

  /**
   * Holds the file, with the mark that the call has begun, unless somebody came first while a person was asked.
   * @returns why it may not begin, or undefined
   */
  async begin(mark: (records: readonly TeamRecord[]) => Promise<void>): Promise<string | undefined> {
    const { leases } = this.context.team;
    if (leases.hasNews(this.file, this.changer)) return this.refusal();
    await leases.take(this.file, this.changer, mark);
    return undefined;
  }
}

/** Undefined for a call that changes no file of its own, and for a member that is not there any more. */
export async function overlapOf(
  prepared: PreparedCall,
  context: ToolContext,
): Promise<FileOverlap | undefined> {
  if (prepared.file === undefined) return undefined;
  const changer = context.team.leases.changer(context.member, context.incarnation);
  return changer && new FileOverlap(await prepared.file(context), changer, context);
}
