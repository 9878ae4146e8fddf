import type * as z from 'zod';
import { l10n } from './l10n';
import { plainLine } from './plainText';

/**
 * Why an argument of a command cannot be used: which it is, what it is now and what is expected.
 * @param command the command's id
 * @param name the argument as docs/commands.md names it
 * @param value what was given
 */
export function argumentText(command: string, name: string, value: unknown, error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return error.message;
  const [inner, given] = issue.path.reduce<[string, unknown]>(
    ([where, at], key) => [
      typeof key === 'number' ? `${where}[${key}]` : `${where}.${String(key)}`,
      isRecord(at) ? at[key] : undefined,
    ],
    [name, value],
  );
  if (given === undefined) {
    return l10n.t("{0}: the argument '{1}' is missing. Expected: {2}.", command, inner, expected(issue));
  }
  return l10n.t(
    "{0}: the argument '{1}' cannot be used: it is {2}. Expected: {3}.",
    command,
    inner,
    described(given),
    expected(issue),
  );
}

function isRecord(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null;
}

function described(value: unknown): string {
  if (typeof value === 'string') {
    return value.trim() === '' ? l10n.t('an empty text') : l10n.t("the text '{0}'", plainLine(value, 40));
  }
  if (typeof value === 'number') return l10n.t('the number {0}', value);
  if (Array.isArray(value)) return l10n.t('a list of {0}', value.length);
  if (isRecord(value)) return l10n.t('an object');
  return plainLine(String(value), 40);
}

function expected(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return kind(issue.expected);
    case 'too_small':
      if (issue.origin === 'string') return l10n.t('a text that is not empty');
      return issue.inclusive
        ? l10n.t('a number, {0} or more', Number(issue.minimum))
        : l10n.t('a number above {0}', Number(issue.minimum));
    case 'too_big':
      return issue.origin === 'array'
        ? l10n.t('a list of at most {0}', Number(issue.maximum))
        : l10n.t('a number, {0} or less', Number(issue.maximum));
    case 'invalid_value':
      return l10n.t('one of {0}', issue.values.map((value) => String(value)).join(', '));
    default:
      return issue.message;
  }
}

function kind(type: string): string {
  switch (type) {
    case 'string':
      return l10n.t('a text');
    case 'number':
      return l10n.t('a number');
    case 'int':
      return l10n.t('a whole number');
    case 'boolean':
      return l10n.t('true or false');
    case 'array':
      return l10n.t('a list');
    case 'object':
      return l10n.t('an object');
    default:
      return type;
  }
}
