import type { ModelRequest, ToolResultBlock } from '../../../src/model/port';
import type { MemberWorkspace, Workspace } from '../../../src/workspace/port';
import type { Step } from './scriptedModel';

/** The tool results in the newest turn of a model call. */
export function results(request: ModelRequest | undefined): ToolResultBlock[] {
  const last = request?.messages.at(-1);
  if (last?.role !== 'user') return [];
  return last.content.flatMap((block) => (block.type === 'tool_result' ? [block] : []));
}

export function resultTexts(request: ModelRequest | undefined): string[] {
  return results(request).map((block) => block.content);
}

/** The text in the newest turn of a model call: mail and nudges. */
export function shown(request: ModelRequest | undefined): string {
  const last = request?.messages.at(-1);
  if (last?.role !== 'user') return '';
  return last.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

/** The request_id in the newest mail of a model call. */
export function requestIdIn(request: ModelRequest): string {
  const id = /request_id="([0-9a-f]{8})"/.exec(shown(request))?.[1];
  if (id === undefined) throw new Error(`No request_id in: ${shown(request)}`);
  return id;
}

export interface Deferred<T> {
  promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}

/** A model call that streams for ever, until it is aborted. `begun` resolves when it is under way. */
export function endless(): { step: Step; begun: Promise<void> } {
  const begun = deferred();
  const step: Step = () => {
    begun.resolve();
    return new Promise(() => undefined);
  };
  return { step, begun: begun.promise };
}

/** A workspace some of whose operations are the test's own. */
export function withOperations(
  own: (member: string, real: MemberWorkspace) => Partial<MemberWorkspace>,
): (real: Workspace) => Workspace {
  return (real) => ({
    root: real.root,
    forMember: (name, isolated) => {
      const view = real.forMember(name, isolated);
      const bound: MemberWorkspace = {
        readFile: (...args) => view.readFile(...args),
        readImage: (...args) => view.readImage(...args),
        writeFile: (...args) => view.writeFile(...args),
        editFile: (...args) => view.editFile(...args),
        previewWrite: (...args) => view.previewWrite(...args),
        previewEdit: (...args) => view.previewEdit(...args),
        identify: (...args) => view.identify(...args),
        forget: (...args) => view.forget(...args),
        runCommand: (...args) => view.runCommand(...args),
      };
      return { ...bound, ...own(name, view) };
    },
  });
}

/** Notes every operation that reaches the workspace, as `member operation`. */
export function recording(log: string[]): (real: Workspace) => Workspace {
  return withOperations((member, real) => ({
    readFile: (...args) => {
      log.push(`${member} readFile`);
      return real.readFile(...args);
    },
    writeFile: (...args) => {
      log.push(`${member} writeFile`);
      return real.writeFile(...args);
    },
    editFile: (...args) => {
      log.push(`${member} editFile`);
      return real.editFile(...args);
    },
    previewWrite: (...args) => {
      log.push(`${member} previewWrite`);
      return real.previewWrite(...args);
    },
    previewEdit: (...args) => {
      log.push(`${member} previewEdit`);
      return real.previewEdit(...args);
    },
    runCommand: (...args) => {
      log.push(`${member} runCommand`);
      return real.runCommand(...args);
    },
  }));
}
