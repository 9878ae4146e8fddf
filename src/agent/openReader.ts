import * as path from 'node:path';
import { rosterRecords } from '../team/adoption';
import { FreshLook } from '../team/freshLook';
import type { JournalItem } from '../team/ledger';
import type { Clock } from '../team/ports';
import { type Roster, readRoster } from '../team/roster';
import type { Core } from './coreApi';
import type { CoreOptions } from './coreOptions';
import { FolderWatch } from './folderWatch';
import { FollowedTeam } from './followedTeam';
import { JournalFollower, journalDirOf } from './journalFollower';
import { ReadOnlyError, type ReadOnlyReason } from './readOnly';
import { ReadOnlyCore } from './readOnlyCore';
import { TranscriptFollower } from './transcriptFollower';
import { Transcripts } from './transcripts';

export interface Reader {
  core: Core;
  /** Somebody else owns the team now, or nobody does. */
  ownerChanged(): void;
}

export interface ReaderOptions extends CoreOptions {
  clock: Clock;
  readJournal: () => Promise<readonly JournalItem[]>;
  reason: () => ReadOnlyReason;
  onRebuilt(): void;
}

/**
 * A core that shows the team of this storage as its owner's files tell of it.
 * @throws {StorageError} when the journal cannot be read
 */
export async function openReader(options: ReaderOptions): Promise<Reader> {
  const { workspace, storageDir, reason, clock } = options;
  const report = reportTo(options);
  const followed = newFollowed(options);
  const follower = new JournalFollower(followed, {
    journalDir: journalDirOf(storageDir),
    teamDir: path.join(workspace.root, '.team'),
    readJournal: options.readJournal,
    isRun: () => reason().kind === 'held',
    report,
  });
  const transcripts = new Transcripts(storageDir, report);
  const lead = new TranscriptFollower(
    path.join(storageDir, 'transcripts'),
    () => followed.team.state.conversation,
    (number) => transcripts.read('lead', number),
    (event) => followed.events.fire(event),
    report,
  );
  try {
    await follower.start();
    await lead.start();
  } catch (error) {
    follower.dispose();
    lead.dispose();
    throw error;
  }
  const core = new ReadOnlyCore({
    followed,
    newTeamName: path.basename(workspace.root) || 'team',
    clock,
    reason,
    readTranscript: (name, number) => transcripts.read(name, number),
    dispose() {
      follower.dispose();
      lead.dispose();
    },
  });
  return { core, ownerChanged: () => follower.refresh() };
}

/** A core that shows the roster of a team whose journal is elsewhere. */
export function openForeign(options: ReaderOptions, roster: Roster): Reader {
  const { workspace, clock, reason } = options;
  const dir = path.join(workspace.root, '.team');
  const followed = newFollowed(options);
  const recordsOf = (listed: Roster) => rosterRecords(listed, clock, true).map((record) => ({ record }));
  followed.take(recordsOf(roster));
  let shown = JSON.stringify(roster);
  const look = new FreshLook(async () => {
    const listed = await readRoster(dir);
    const text = JSON.stringify(listed);
    if (listed?.teamId !== roster.teamId || text === shown) return;
    shown = text;
    followed.begin(recordsOf(listed));
  });
  const watch = new FolderWatch(dir, () => void look.now(), reportTo(options));
  watch.start();
  // It may have changed since it was read.
  void look.now();
  const core = new ReadOnlyCore({
    followed,
    newTeamName: roster.teamName,
    clock,
    reason,
    readTranscript: async () => [],
    dispose: () => watch.dispose(),
  });
  return { core, ownerChanged: () => undefined };
}

function newFollowed({ clock, settings, reason, onRebuilt, ...options }: ReaderOptions): FollowedTeam {
  return new FollowedTeam({
    clock,
    settings,
    onRebuilt,
    refusal: () => new ReadOnlyError(reason()),
    report: reportTo(options),
  });
}

/** What goes wrong while looking on is the log's; whoever runs the team tells the human. */
function reportTo({ log }: Pick<CoreOptions, 'log'>): (error: unknown) => void {
  return (error) => log('info', error instanceof Error ? error.message : String(error));
}
