/** From whatever a call to one of VS Code's models threw to a sentence for the user. */

import { ModelError, type ModelErrorKind } from './port';
import { redact } from './redact';

const SELECT = 'Choose another with "Handshake: Select Model".';

/** @param label how the user knows the model */
export function describeLmFailure(error: unknown, label: string): ModelError {
  if (error instanceof ModelError) return error;
  const [kind, sentence] = classify(error, label);
  return new ModelError(kind, redact(sentence, []), { cause: redact(String(error), []) });
}

export function noAccess(label: string): ModelError {
  return new ModelError(
    'no_access',
    `Handshake may not use ${label} yet: VS Code asks you for that, and only when you act. Choose "Allow Access", or send a message, and answer VS Code's question.`,
  );
}

function classify(error: unknown, label: string): [ModelErrorKind, string] {
  const said = quote(error);
  switch (codeOf(error)) {
    case 'NoPermissions':
      return [
        'no_access',
        `${label} may not be used by Handshake: ${said}. Choose "Allow Access" to be asked again, or choose another model with "Handshake: Select Model".`,
      ];
    case 'NotFound':
      return ['unknown_model', `VS Code no longer offers ${label}: ${said}. ${SELECT}`];
    case 'Blocked':
      return [
        'quota',
        `${label} refused the call: ${said}. A limit of your plan is used up, or its filter kept the content back. Wait, or choose another model with "Handshake: Select Model".`,
      ];
  }
  if (/rate.?limit|too many requests|\b429\b/i.test(said))
    return ['rate_limit', `${label} limits the rate of calls: ${said}. Try again a little later.`];
  if (/quota|billing|usage limit|\b402\b/i.test(said))
    return ['quota', `${label} refused the call because of a limit of your plan: ${said}. ${SELECT}`];
  if (/overloaded|\b529\b|\b503\b/i.test(said))
    return ['overloaded', `${label} is overloaded: ${said}. Try again a little later.`];
  if (/token|context|too (long|large)/i.test(said) && /exceed|limit|too (long|large)|maximum/i.test(said))
    return ['too_long', `The conversation is too long for ${label}: ${said}. ${SELECT}`];
  return ['other', `${label} failed: ${said}. Try again, or choose another model.`];
}

/** `LanguageModelError` names its kind in `code`; of other errors that extensions throw the deepest one says why. */
function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function quote(error: unknown): string {
  let deepest = error;
  for (let depth = 0; depth < 8 && deepest instanceof Error && deepest.cause instanceof Error; depth++) {
    deepest = deepest.cause;
  }
  const message = deepest instanceof Error ? deepest.message : String(deepest);
  const line = message.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
  if (line === '') return 'it did not say why';
  return line.length > 300 ? `${line.slice(0, 297)}…` : line;
}
