import type * as vscode from 'vscode';
import type { Attention } from '../model/attention';
import type { ListedModel } from '../model/modelList';
import type { Decider } from './decider';
import type { FileKeys } from './fileKeys';
import type { KeyStore } from './keyStore';
import type { ModelChoice } from './modelChoice';
import type { ReviewDesk } from './reviewDesk';
import type { Session } from './session';

/** The Conversation, as commands and notifications use it. */
export interface ConversationPort {
  /** As an editor tab. */
  open(): void;
  /** As a view, with the focus in it. */
  reveal(): Promise<void>;
  isVisible(): boolean;
}

/** What the human's seat is made of: everything that commands, trees and notifications share. */
export interface Seat {
  readonly session: Session;
  readonly decider: Decider;
  readonly choice: ModelChoice;
  readonly keys: KeyStore;
  readonly files: FileKeys;
  readonly attention: Attention;
  readonly conversation: ConversationPort;
  readonly panels: { show(requestId: string, options?: { focusFeedback?: boolean }): void };
  readonly transcripts: { open(name: string): Promise<void> };
  readonly tasks: { open(taskId: string): Promise<void> };
  readonly desk: ReviewDesk;
  /** The one request selected in the Requests view. */
  selectedRequest(): string | undefined;
  /** The one task selected in the Board view. */
  selectedTask(): string | undefined;
  /** The models the endpoint offers; rejects with a sentence for the user. */
  listModels(signal: AbortSignal): Promise<readonly ListedModel[]>;
  /** VS Code's own, by the names that Handshake gives them. */
  listVscodeModels(): Promise<readonly ListedModel[]>;
  readonly log: vscode.LogOutputChannel;
}
