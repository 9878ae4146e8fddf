import type { Lease } from '../team/leaseRecords';
import { l10n } from './l10n';
import { plainLine } from './plainText';

/** More files than this are counted. */
const MOST = 8;

/**
 * The files that a member changes now, for its tooltip: one line each, with who changes the same one.
 * @param leases of the whole team
 */
export function leaseLines(leases: readonly Lease[], member: string): string[] {
  const own = leases.filter((lease) => lease.member === member);
  const lines = own.slice(0, MOST).map(({ key, path }) => {
    const file = plainLine(path, 80);
    const others = leases.filter((lease) => lease.key === key && lease.member !== member);
    return others.length === 0
      ? l10n.t('changes {0}', file)
      : l10n.t('changes {0}, and so does {1}', file, others.map((other) => other.member).join(', '));
  });
  if (own.length > MOST) lines.push(l10n.t('and {0} more files', own.length - MOST));
  return lines;
}
