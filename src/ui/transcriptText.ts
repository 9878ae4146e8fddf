import type { TranscriptRecord } from '../agent/transcript';
import { type HandshakeRequest, permissionPayload } from '../protocol';
import { l10n } from './l10n';
import { outcomeText } from './requestText';

/**
 * A member's conversation as markdown source, for a read-only document.
 * @param requests those of the team: a call that had to be permitted says who decided
 */
export function transcriptMarkdown(
  name: string,
  records: readonly TranscriptRecord[],
  requests: readonly HandshakeRequest[] = [],
): string {
  const permissions = permissionLines(name, requests);
  const parts = [`# ${l10n.t('Transcript of {0}', name)}`];
  if (records.length === 0) parts.push(l10n.t('Nothing was said yet.'));
  for (const record of records) {
    const who = record.turn.role === 'assistant' ? name : l10n.t('to {0}', name);
    parts.push(`## ${who} · ${new Date(record.at).toISOString()}`);
    for (const block of record.turn.content) {
      switch (block.type) {
        case 'text':
          parts.push(block.text);
          break;
        case 'tool_use':
          parts.push(
            `**${block.name}** \`${block.id}\``,
            fenced(JSON.stringify(block.input, null, 2) ?? '', 'json'),
            ...(permissions.get(block.id) ?? []),
          );
          break;
        case 'tool_result': {
          const label = block.is_error ? l10n.t('Error result') : l10n.t('Result');
          parts.push(`**${label}** \`${block.tool_use_id}\``, fenced(block.content, 'text'));
          break;
        }
        case 'opaque':
          parts.push(`_${l10n.t('Not shown: {0}', String(block.raw.type ?? 'block'))}_`);
          break;
      }
    }
  }
  return `${parts.join('\n\n')}\n`;
}

/** How the permissions that a member asked for ended, by the call they were for. */
function permissionLines(name: string, requests: readonly HandshakeRequest[]): Map<string, string[]> {
  const lines = new Map<string, string[]>();
  for (const request of requests) {
    if (request.kind !== 'tool_permission' || request.from !== name) continue;
    const payload = permissionPayload.safeParse(request.payload);
    if (!payload.success) continue;
    const line = `_${l10n.t('Permission {0}: {1}', request.requestId, outcomeText(request))}_`;
    const { toolUseId } = payload.data;
    lines.set(toolUseId, [...(lines.get(toolUseId) ?? []), line]);
  }
  return lines;
}

/** A code block whose fence is longer than any run of backticks in it. */
export function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((run) => run[0].length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
