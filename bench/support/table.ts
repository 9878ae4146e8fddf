import type { Spread } from './statistics';

export interface Row {
  figure: string;
  /** One value, or the spread of several runs. */
  value: number | Spread;
  unit: string;
  /** What was set as a goal; rows without one are there to be compared. */
  aim?: { atMost: number } | { atLeast: number };
}

/** The rows as a Markdown table with aligned columns. */
export function renderTable(rows: readonly Row[]): string {
  const cells = [['figure', 'median', 'min – max', 'aim', 'met'], ...rows.map(cellsOf)];
  const widths =
    cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = cells.map(
    (row) => `| ${row.map((cell, column) => pad(cell, widths[column] ?? 0, column)).join(' | ')} |`,
  );
  const rule = `|${widths.map((width, column) => (column === 0 ? ` ${'-'.repeat(width)} ` : ` ${'-'.repeat(width - 1)}: `)).join('|')}|`;
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}

function cellsOf({ figure, value, unit, aim }: Row): string[] {
  const spread = typeof value === 'number' ? undefined : value;
  const middle = typeof value === 'number' ? value : value.median;
  return [
    spread && spread.count > 1 ? `${figure} (n=${spread.count})` : figure,
    `${format(middle)} ${unit}`.trim(),
    spread ? `${format(spread.min)} – ${format(spread.max)}` : '',
    ...aimCells(aim, middle, unit),
  ];
}

function aimCells(aim: Row['aim'], middle: number, unit: string): [string, string] {
  if (aim === undefined) return ['', ''];
  const [sign, limit] = 'atMost' in aim ? ['≤', aim.atMost] : ['≥', aim.atLeast];
  const isMet = 'atMost' in aim ? middle <= limit : middle >= limit;
  return [`${sign} ${format(limit)} ${unit}`.trim(), isMet ? 'yes' : 'NO'];
}

function pad(cell: string, width: number, column: number): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}

function format(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return Number(value.toFixed(digits)).toString();
}
