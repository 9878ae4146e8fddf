import type { Core } from '../agent/coreApi';
import { LEAD } from '../protocol';
import { l10n } from './l10n';

/** Members with work from before a restart, that wait for the human's word to go on; the lead first. */
export function leftWork(core: Core): string[] {
  return [LEAD, ...core.members().map(({ name }) => name)].filter(
    (name) => core.activity(name).hold?.kind === 'restart',
  );
}

/** One sentence on whose work it is. */
export function leftWorkText(names: readonly string[]): string {
  const [first = '', ...others] = names;
  const all = [first === LEAD ? l10n.t('The lead') : first, ...others];
  const last = all.pop() ?? '';
  const who = all.length === 0 ? last : l10n.t('{0} and {1}', all.join(', '), last);
  return l10n.t('{0} had work left when this window was closed.', who);
}
