import type { CallLimiter } from '../model/limiter';
import type { LanguageModel } from '../model/port';
import type { TeamEvent } from '../team/events';
import type { Clock } from '../team/ports';
import type { CoreSettings } from '../team/settings';
import type { Team } from '../team/team';
import type { ToolTable } from '../tools';
import type { ActivityShare } from './activity';
import type { Ended } from './afterTurn';
import type { Conversation } from './conversation';
import type { ProjectInstructions } from './projectInstructions';
import type { WorkPlaces } from './workPlaces';

/** What a member's loop works with. */
export interface RunnerDeps {
  team: Team;
  clock: Clock;
  settings: () => CoreSettings;
  activity: ActivityShare;
  tools: ToolTable;
  /** A view that has read nothing yet; one for each conversation. */
  openWorkspace(): WorkPlaces;
  /** What the project says to agents; one for each conversation. */
  openInstructions(): ProjectInstructions;
  languageModel(): Promise<LanguageModel>;
  limiter: CallLimiter;
  /** Which conversation is the present one; another number means to begin that one. */
  conversationNumber(): number;
  openConversation(number: number): Promise<Conversation>;
  takeForeign(): Promise<void>;
  /** What follows the end of a turn: reports, status, roster. It is part of the turn for `whenIdle`. */
  afterTurn(end: Ended): Promise<void>;
  /** Carries out an approved shutdown. */
  leave(): Promise<void>;
  emit(event: TeamEvent): void;
}

/** Whose loop it is. */
export interface RunnerProfile {
  name: string;
  /** 0 for the lead. */
  incarnation: number;
  /** The system prompt; asked for at the begin of each turn. */
  system(): Promise<string>;
  model?: string;
  /** Its role leaves it only these of the tools for files and commands. */
  onlyTools?: readonly string[];
  /** After a restart a member waits for the human's word, or for new mail. */
  parked: boolean;
}
