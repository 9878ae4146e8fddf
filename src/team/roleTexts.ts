import type { GrantedRole } from '../protocol';
import type { TeamEvent } from './events';

/** What a role file gave, for whoever started the teammate. */
export function roleLines(granted: GrantedRole): string[] {
  const { file, tools } = granted;
  const lines = [`Its instructions come from ${file}.`];
  if (tools !== undefined) {
    lines.push(`Of the tools for files and commands it has ${tools.join(', ') || 'none'}.`);
  }
  return [...lines, ...roleGaps(granted)];
}

/** Told to the human: what the file asks for and the teammate did not get. */
export function roleNotices(name: string, granted: GrantedRole | undefined): TeamEvent[] {
  if (granted === undefined) return [];
  return roleGaps(granted).map((gap) => ({
    type: 'notice',
    level: 'info',
    text: `${granted.file}: ${gap}`,
    member: name,
  }));
}

function roleGaps({ unknownTools, unknownModel }: GrantedRole): string[] {
  const lines: string[] = [];
  if (unknownTools !== undefined) {
    lines.push(`The file also names ${unknownTools.join(', ')}: Handshake has no such tools.`);
  }
  if (unknownModel !== undefined) {
    lines.push(`The file asks for '${unknownModel}', which names no one model: the usual model is used.`);
  }
  return lines;
}
