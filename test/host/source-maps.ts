import { findSourceMap } from 'node:module';

/**
 * Puts the lines of the sources into a stack trace. Needed in VS Code's extension host, which formats
 * stack traces itself and so turns Node's own mapping off; the maps must have been on when the bundle was
 * loaded (`process.setSourceMapsEnabled`).
 */
export function mapStack(stack: string): string {
  return stack.replace(
    /(\/[^\s():]+\.js):(\d+):(\d+)/g,
    (place, file: string, line: string, column: string) => {
      const entry = findSourceMap(file)?.findEntry(Number(line) - 1, Number(column) - 1);
      if (entry === undefined || !('originalSource' in entry)) return place;
      const source = entry.originalSource.replace(/^file:\/\//, '');
      return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
    },
  );
}
