import { h, spoken } from './dom';

export interface DiffTexts {
  addedLine: string;
  removedLine: string;
  changes: string;
}

/** A unified diff, line by line, coloured; the signs stay, so that colour is not the only mark. */
export function renderDiff(diff: string, texts: DiffTexts): HTMLElement {
  const lines = diff.replace(/\n$/, '').split('\n');
  let inHunk = false;
  const rows = lines.map((line) => {
    if (line.startsWith('@@')) inHunk = true;
    else if (line.startsWith('diff ') || line.startsWith('Index: ')) inHunk = false;
    const kind = inHunk || !isHeader(line) ? kindOf(line) : 'head';
    const said = kind === 'added' ? texts.addedLine : kind === 'removed' ? texts.removedLine : undefined;
    return h(
      'div',
      { class: `line ${kind}` },
      said === undefined ? undefined : spoken(`${said}: `),
      line || ' ',
    );
  });
  return h('div', { class: 'diff', tabindex: '0', role: 'group', 'aria-label': texts.changes }, ...rows);
}

function isHeader(line: string): boolean {
  return line.startsWith('--- ') || line.startsWith('+++ ');
}

function kindOf(line: string): 'added' | 'removed' | 'hunk' | 'same' | 'head' {
  if (line.startsWith('@@')) return 'hunk';
  if (line.startsWith('+')) return 'added';
  if (line.startsWith('-')) return 'removed';
  return line.startsWith('diff ') || line.startsWith('Index: ') ? 'head' : 'same';
}
