import { realpathSync, statSync } from 'node:fs';
import { workspaceError } from './failures';
import { IsolatedWorkspace } from './isolated';
import { PathLocks } from './locks';
import { callMark, endMarked } from './markedProcesses';
import { NodeMemberWorkspace, type WorkspaceContext } from './member';
import { type MemberWorkspace, type Workspace, WorkspaceError } from './port';

export interface NodeWorkspaceOptions {
  /** Values, such as the API key in use, that no command may find in its environment. Asked at each command. */
  secretValues?: () => readonly string[];
  /** Milliseconds between asking a command's processes to end and killing them (default 2000). */
  killGraceMs?: number;
}

const DEFAULT_KILL_GRACE_MS = 2000;

/**
 * A workspace over Node's own file system and processes.
 * @param root the workspace folder
 * @throws {WorkspaceError} when there is no such folder
 */
export function createNodeWorkspace(root: string, options: NodeWorkspaceOptions = {}): Workspace {
  const context: WorkspaceContext = {
    root: realFolder(root),
    locks: new PathLocks(),
    secretValues: options.secretValues ?? (() => []),
    killGraceMs: options.killGraceMs ?? DEFAULT_KILL_GRACE_MS,
  };
  return {
    root: context.root,
    forMember: (_name, isolated): MemberWorkspace =>
      isolated === undefined
        ? new NodeMemberWorkspace(context)
        : new IsolatedWorkspace(
            new NodeMemberWorkspace({
              ...context,
              root: isolated.folder,
              main: { root: context.root, checkout: isolated.checkout },
            }),
            isolated,
          ),
    endLeftovers: async (calls) => {
      const marks = calls.map((call) => callMark(call));
      const ended = await Promise.all(marks.map((mark) => endMarked(mark, context.killGraceMs)));
      return ended.flat().map(({ pid, name }) => `${name} (process ${pid})`);
    },
  };
}

function realFolder(root: string): string {
  if (root === '') throw new WorkspaceError('No folder is open. Open a folder to work in.');
  try {
    const real = realpathSync.native(root);
    if (!statSync(real).isDirectory())
      throw new WorkspaceError(`Cannot work in '${root}': it is not a folder.`);
    return real;
  } catch (error) {
    throw workspaceError('work in', root, error);
  }
}
