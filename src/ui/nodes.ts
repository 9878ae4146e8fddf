import type { ReviewFile, ReviewHunk } from '../agent/reviewApi';
import type { TaskGroup, TaskPhase, TaskRow } from './boardModel';
import type { RequestRow } from './requestsModel';
import type { MemberRow } from './teamModel';

/**
 * What the rows of the trees are. VS Code hands these very objects back to the rows' commands; a command
 * takes nothing else for a row, so that no text that somebody sends can stand for a click.
 */
abstract class Node {
  abstract readonly type: string;
}

/** A row of either tree that stands for one request; what its buttons do, they do to this id. */
export class RequestNode extends Node {
  readonly type = 'request';
  readonly requestId: string;
  /** Whose work the request concerns. */
  readonly member: string;
  constructor(public row: RequestRow) {
    super();
    this.requestId = row.requestId;
    this.member = row.member;
  }
}

/** A row of the Team view that stands for a member. */
export class MemberNode extends Node {
  readonly type = 'member';
  readonly member: string;
  constructor(public row: MemberRow) {
    super();
    this.member = row.name;
  }
}

/** The folded group of decided requests. */
export class GroupNode extends Node {
  readonly type = 'group';
  constructor(public count: number) {
    super();
  }
}

/** A line of text that nothing can be done with. */
export class NoteNode extends Node {
  readonly type = 'note';
  constructor(public text: string) {
    super();
  }
}

/** A row of the Board view, or under a teammate, that stands for a task. */
export class TaskNode extends Node {
  readonly type = 'task';
  readonly taskId: string;
  constructor(public row: TaskRow) {
    super();
    this.taskId = row.taskId;
  }
}

/** A group of the Board view. */
export class TaskGroupNode extends Node {
  readonly type = 'tasks';
  readonly phase: TaskPhase;
  constructor(public group: TaskGroup) {
    super();
    this.phase = group.phase;
  }
}

/** A row of the Review view that stands for a changed file. */
export class ReviewFileNode extends Node {
  readonly type = 'file';
  constructor(
    readonly taskId: string,
    readonly file: ReviewFile,
  ) {
    super();
  }
}

/** A row of the Review view that stands for one part of a file's change. */
export class HunkNode extends Node {
  readonly type = 'hunk';
  constructor(
    readonly taskId: string,
    readonly file: ReviewFile,
    readonly hunk: ReviewHunk,
  ) {
    super();
  }
}

export type ReviewNode = ReviewFileNode | HunkNode;
export type BoardNode = TaskNode | TaskGroupNode | NoteNode;
export type RequestsNode = RequestNode | GroupNode | NoteNode;
export type TeamNode = MemberNode | RequestNode | TaskNode;

/** True for a row of ours, or a list of them. */
export function isNode(value: unknown): boolean {
  return value instanceof Node || (Array.isArray(value) && value.some((item) => item instanceof Node));
}
