import { shorten } from '../protocol';

/** A tool call in one line for people: the tool and what it is about. */
export function describeCall(name: string, input: unknown): string {
  const subject = subjectOf(input);
  return subject === '' ? name : `${name} ${shorten(subject.replace(/\s+/g, ' '), 80)}`;
}

const KEYS = [
  'command',
  'path',
  'name',
  'teammate',
  'to',
  'request_id',
  'task_id',
  'subject',
  'content',
  'plan',
];

function subjectOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return '';
  for (const key of KEYS) {
    const value = (input as Record<string, unknown>)[key];
    if (typeof value === 'string' && value !== '') return value;
  }
  return '';
}
