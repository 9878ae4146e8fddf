import * as vscode from 'vscode';
import type { ConversationStrings } from './webviewStrings';

/** The texts that stand in the Conversation's page. */
export function conversationStringTable(): ConversationStrings {
  return {
    log: vscode.l10n.t('Conversation with the lead'),
    // The page puts in the numbers.
    tooLong: vscode.l10n.t(
      '{0} characters are too many to send; {1} are possible. Put the text into a file and name that.',
    ),
    asWritten: vscode.l10n.t(
      'Drawn as Markdown, parts of this text would not be seen. It stands here as it was written.',
    ),
    input: vscode.l10n.t('Message to the lead'),
    placeholder: vscode.l10n.t('Tell the lead what to do. /help lists the commands.'),
    send: vscode.l10n.t('Send'),
    stop: vscode.l10n.t('Stop the lead'),
    intro: vscode.l10n.t(
      'Talk with the lead. It starts teammates in your workspace, and whatever needs an answer from you stands in one list.',
    ),
    tryAsking: vscode.l10n.t('Try one of these'),
    demo: vscode.l10n.t('Demo'),
    demoHint: vscode.l10n.t('A scripted demo answers here, not a language model.'),
    you: vscode.l10n.t('You'),
    lead: vscode.l10n.t('Lead'),
    working: vscode.l10n.t('The lead is working'),
    running: vscode.l10n.t('Running'),
    waiting: vscode.l10n.t('Waiting for your permission'),
    done: vscode.l10n.t('Done'),
    failed: vscode.l10n.t('Failed'),
    review: vscode.l10n.t('Review'),
    copy: vscode.l10n.t('Copy'),
    copied: vscode.l10n.t('Copied'),
    copyFailed: vscode.l10n.t('Not copied'),
    external: vscode.l10n.t('from outside the team'),
    toolInput: vscode.l10n.t('Input'),
    toolResult: vscode.l10n.t('Result'),
    imageLeftOut: vscode.l10n.t('image not loaded'),
    newMessages: vscode.l10n.t('To the newest'),
    mail_message: vscode.l10n.t('message'),
    mail_broadcast: vscode.l10n.t('to everybody'),
    mail_shutdown_request: vscode.l10n.t('shutdown request'),
    mail_shutdown_response: vscode.l10n.t('answer to a shutdown request'),
    mail_plan_request: vscode.l10n.t('asked for a plan'),
    mail_plan_approval_request: vscode.l10n.t('plan for approval'),
    mail_plan_approval_response: vscode.l10n.t('answer to a plan'),
    mail_permission_request: vscode.l10n.t('asks for permission'),
    mail_permission_response: vscode.l10n.t('answer to a permission request'),
    mail_result: vscode.l10n.t('result'),
    mail_idle_notification: vscode.l10n.t('is idle'),
    mail_error: vscode.l10n.t('error'),
  };
}
