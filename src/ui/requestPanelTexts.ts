import * as vscode from 'vscode';
import type { RequestTexts } from './requestPanelModel';
import { maxConcurrentCallsSetting } from './settings';
import type { RequestStrings } from './webviewStrings';

export function requestTexts(): RequestTexts {
  return {
    planTitle: (name) => vscode.l10n.t('Plan of {0}', name),
    shutdownTitle: (name) => vscode.l10n.t('Shut down {0}', name),
    commandTitle: (name, folder) =>
      folder === undefined
        ? vscode.l10n.t('{0} wants to run a command', name)
        : vscode.l10n.t('{0} wants to run a command in {1}', name, folder),
    editTitle: (name, folder) =>
      folder === undefined
        ? vscode.l10n.t('{0} wants to change a file', name)
        : vscode.l10n.t('{0} wants to change a file in {1}', name, folder),
    teamTitle: (name) => vscode.l10n.t('{0} proposes a team', name),
    you: vscode.l10n.t('you'),
    lead: vscode.l10n.t('lead'),
    runtime: vscode.l10n.t('Handshake'),
    approvedBy: (who) => vscode.l10n.t('Approved by {0}.', who),
    rejectedBy: (who) => vscode.l10n.t('Rejected by {0}.', who),
    withCommand: (who) => vscode.l10n.t('{0}, with a command', who),
    throughApi: (who) => vscode.l10n.t('{0}, through the API', who),
    withFeedback: (sentence, feedback) => vscode.l10n.t('{0} Feedback: {1}', sentence, feedback),
    agreedToStop: (name) => vscode.l10n.t('{0} agreed to shut down.', name),
    refusedToStop: (name) => vscode.l10n.t('{0} declined to shut down.', name),
    withdrawn: (reason) => vscode.l10n.t('No longer needed: {0}', reason),
    withdrawnNoReason: vscode.l10n.t('No longer needed.'),
    noTeam: vscode.l10n.t('There is no team in this window.'),
    unknownRequest: (requestId) =>
      vscode.l10n.t(
        'There is no request {0} in this team. It may belong to an earlier team or to another folder.',
        requestId,
      ),
    estimate: (calls) =>
      vscode.l10n.t(
        'The lead expects about {0} model calls at once. At most {1} are made at once (setting handshake.maxConcurrentCalls).',
        calls,
        maxConcurrentCallsSetting(),
      ),
    notUnderstood: vscode.l10n.t(
      'What this panel sent was not understood. Nothing was decided; see the log.',
    ),
    otherRequest: vscode.l10n.t('This panel shows another request. Nothing was decided.'),
  };
}

/** The texts that stand in the panel's page. */
export function requestStringTable(): RequestStrings {
  return {
    // The page puts in the numbers.
    tooLong: vscode.l10n.t(
      '{0} characters are too many to send; {1} are possible. Put the text into a file and name that.',
    ),
    asWritten: vscode.l10n.t(
      'Drawn as Markdown, parts of this text would not be seen. It stands here as it was written.',
    ),
    loading: vscode.l10n.t('Loading the request…'),
    from: vscode.l10n.t('Asked by'),
    to: vscode.l10n.t('Answered by'),
    asked: vscode.l10n.t('Asked at'),
    now: vscode.l10n.t('Doing now'),
    requestId: vscode.l10n.t('Request'),
    overdue: vscode.l10n.t('Overdue'),
    overdueHint: vscode.l10n.t(
      'Nobody has answered in time. Nothing is decided by silence: it waits until somebody does.',
    ),
    pending: vscode.l10n.t('Pending'),
    approved: vscode.l10n.t('Approved'),
    rejected: vscode.l10n.t('Rejected'),
    cancelled: vscode.l10n.t('Withdrawn'),
    plan: vscode.l10n.t('Plan'),
    reason: vscode.l10n.t('Reason'),
    command: vscode.l10n.t('Command'),
    path: vscode.l10n.t('File'),
    changes: vscode.l10n.t('Changes'),
    scope: vscode.l10n.t('The plan names'),
    files: vscode.l10n.t('Files'),
    commands: vscode.l10n.t('Commands'),
    planAllows: vscode.l10n.t(
      'Approving allows changes to any file of the workspace for this task. Each command is still asked for.',
    ),
    team: vscode.l10n.t('Teammates'),
    memberName: vscode.l10n.t('Name'),
    memberRole: vscode.l10n.t('Role'),
    memberTask: vscode.l10n.t('What to do'),
    planFirst: vscode.l10n.t('plan first'),
    tasks: vscode.l10n.t('Tasks for the board'),
    take: vscode.l10n.t('Take'),
    takeOne: vscode.l10n.t('Take {0}'),
    edit: vscode.l10n.t('Edit {0}'),
    fold: vscode.l10n.t('Close the fields of {0}'),
    taskSubject: vscode.l10n.t('Task'),
    taskDescription: vscode.l10n.t('What is to be done'),
    taskWaits: vscode.l10n.t('Waits for'),
    taskPriority: vscode.l10n.t('Priority'),
    isolated: vscode.l10n.t('in a worktree of its own'),
    beginsWith: vscode.l10n.t('Begins with'),
    noTask: vscode.l10n.t('no task'),
    nothingTaken: vscode.l10n.t('left out'),
    usualModel: vscode.l10n.t('the usual one'),
    was: vscode.l10n.t('was: {0}'),
    none: vscode.l10n.t('none'),
    yes: vscode.l10n.t('yes'),
    no: vscode.l10n.t('no'),
    approveChanged: vscode.l10n.t('Approve With Changes'),
    problem_nothing: vscode.l10n.t('Take at least one teammate or task, or reject.'),
    problem_name: vscode.l10n.t(
      'A name begins with a letter and has up to 32 letters, digits, - and _; words such as lead and all are not names.',
    ),
    problem_name_twice: vscode.l10n.t('Another teammate here has this name.'),
    problem_name_taken: vscode.l10n.t('There is a teammate of this name already.'),
    problem_role: vscode.l10n.t('Give a role, such as coder.'),
    problem_prompt: vscode.l10n.t('Say what to do.'),
    problem_subject: vscode.l10n.t('Give the task a subject.'),
    problem_priority: vscode.l10n.t('A priority is a whole number from -1000 to 1000.'),
    problem_circle: vscode.l10n.t('These tasks would wait for each other for ever.'),
    problem_task_twice: vscode.l10n.t('Another teammate begins with this task.'),
    problem_task_waits: vscode.l10n.t('This task waits for another; nobody can begin with it.'),
    problem_other: vscode.l10n.t('This does not fit what was proposed.'),
    model: vscode.l10n.t('Model'),
    feedback: vscode.l10n.t('Feedback'),
    feedbackPlan: vscode.l10n.t('Optional. When you reject, a sentence on what to change helps.'),
    feedbackShutdown: vscode.l10n.t('Optional. Reaches whoever asked.'),
    feedbackProposal: vscode.l10n.t('Optional. The lead reads it with your answer.'),
    feedbackPermission: vscode.l10n.t('Optional. The member reads it with your answer.'),
    approve: vscode.l10n.t('Approve'),
    reject: vscode.l10n.t('Reject'),
    forceStop: vscode.l10n.t('Force stop'),
    forceStopHint: vscode.l10n.t('Stops the teammate at once, in the middle of what it is doing.'),
    deciding: vscode.l10n.t('Sending your answer…'),
    copy: vscode.l10n.t('Copy'),
    copied: vscode.l10n.t('Copied'),
    copyFailed: vscode.l10n.t('Not copied'),
    imageLeftOut: vscode.l10n.t('image not loaded'),
    addedLine: vscode.l10n.t('added'),
    removedLine: vscode.l10n.t('removed'),
  };
}
