import './noEval';

import type { TextArea } from '@vscode/webview-ui-toolkit';
import type { FromRequestPanel, RequestView, ToRequestPanel } from '../src/ui/messages';
import { LONGEST_FEEDBACK, toRequestPanel } from '../src/ui/messages';
import { requestStrings } from '../src/ui/webviewStrings';
import { button, h, icon, visible } from './dom';
import { catchLinks, connect, readStrings } from './host';
import { ProposalForm } from './proposalForm';
import { requestContent, requestFacts } from './requestContent';
import { tooLong } from './tooLong';

const strings = readStrings(requestStrings);
const host = connect<ToRequestPanel, FromRequestPanel>(toRequestPanel, receive);

let view: RequestView | undefined;
/** Set while a proposal stands here that can be answered. */
let form: ProposalForm | undefined;
let deciding = false;
/** The button whose answer is on its way; it is disabled meanwhile and loses the focus. */
let pressed: HTMLElement | undefined;
/** What facts and content on the page were made from; they are drawn again only where that changed. */
let drawnFacts = '';
let drawnContent = '';

const title = h('h1', { class: 'title' });
const state = h('span', { class: 'state' });
const facts = h('dl', { class: 'facts' });
const content = h('div', { class: 'content' });
const overdueHint = h('p', { class: 'overdue-hint', role: 'status', hidden: true }, strings.overdueHint);
// The toolkit's element is registered by `connect`, so the constructor gives a TextArea.
const feedback = h('vscode-text-area', { rows: '3', resize: 'vertical' }, strings.feedback) as TextArea;
const approve = button({ appearance: 'primary', label: strings.approve, icon: 'check' }, () => decide(true));
const reject = button({ appearance: 'secondary', label: strings.reject, icon: 'close' }, () => decide(false));
const forceStop = button(
  { appearance: 'secondary', label: strings.forceStop, icon: 'debug-stop', title: strings.forceStopHint },
  () => {
    if (view === undefined || deciding) return;
    pressed = forceStop;
    setDeciding(true);
    host.post({ type: 'force_stop', requestId: view.requestId });
  },
);
forceStop.classList.add('danger');
const failure = h('div', { class: 'failure', role: 'alert', hidden: true });
const progress = h('span', { class: 'progress', role: 'status' });
const outcome = h('div', { class: 'outcome', role: 'status', tabindex: '-1', hidden: true });
const answer = h(
  'div',
  { class: 'answer', hidden: true },
  feedback,
  h('div', { class: 'actions' }, approve, reject, progress, forceStop),
);
const main = h('main', { hidden: true }, h('header', {}, title, state), overdueHint, facts, content);
const footer = h('footer', {}, failure, outcome, answer);
const missing = h('p', { class: 'missing', role: 'status' }, strings.loading);
document.body.append(missing, main, footer);

feedback.addEventListener('input', () => host.post({ type: 'draft', text: feedback.value }));
catchLinks(content, (href) => host.post({ type: 'open_link', href }));

function receive(message: ToRequestPanel): void {
  switch (message.type) {
    case 'missing':
      missing.textContent = message.text;
      missing.hidden = false;
      main.hidden = true;
      footer.hidden = true;
      return;
    case 'failed':
      setDeciding(false);
      tellFailure(message.text);
      giveBackFocus();
      return;
    case 'show':
      show(message);
      return;
  }
}

function tellFailure(text: string): void {
  failure.replaceChildren(icon('error'), h('span', {}, text));
  failure.hidden = false;
}

/** The toolkit enables the button itself with the next frame only. */
function giveBackFocus(): void {
  const button = pressed;
  pressed = undefined;
  requestAnimationFrame(() => button?.focus());
}

function show(message: Extract<ToRequestPanel, { type: 'show' }>): void {
  // What is being typed here is newer than the draft that comes back.
  if (view === undefined) feedback.value = message.draft;
  view = message.view;
  missing.hidden = true;
  main.hidden = false;
  footer.hidden = false;
  title.replaceChildren(...visible(view.title));
  drawState(view);
  drawFacts(view);
  drawProposal(view, message.edits ?? '');
  drawContent(view);
  drawAnswer(view);
  if (message.focusFeedback && !answer.hidden) feedback.focus();
}

function drawState(shown: RequestView): void {
  const label = shown.overdue ? strings.overdue : strings[shown.status];
  state.className = `state ${shown.overdue ? 'overdue' : shown.status}`;
  state.textContent = label;
  overdueHint.hidden = !shown.overdue;
}

function drawFacts(shown: RequestView): void {
  const { from, to, role, doing, createdAt } = shown;
  const key = JSON.stringify({ from, to, role, doing, createdAt });
  if (key === drawnFacts) return;
  drawnFacts = key;
  facts.replaceChildren(...requestFacts(shown, strings));
}

function drawContent(shown: RequestView): void {
  const { plan, reason, command, path, diff, files, commands, proposal, status } = shown;
  // A form that is being filled in is not drawn again.
  const team = form === undefined ? proposal : status;
  const key = JSON.stringify({ plan, reason, command, path, diff, files, commands, team });
  if (key === drawnContent) return;
  drawnContent = key;
  content.replaceChildren(...requestContent(shown, strings, form?.element));
}

/** The form of a proposal that can be answered here; its edits are newer than those that come back. */
function drawProposal({ proposal, status, readOnly }: RequestView, kept: string): void {
  if (proposal === undefined || status !== 'pending' || readOnly !== undefined) {
    form = undefined;
    return;
  }
  if (form === undefined) {
    const onEdited = (text: string): void => {
      host.post({ type: 'edits', text });
      labelApprove();
    };
    form = new ProposalForm({ strings, onEdited }, proposal, kept);
  } else form.show(proposal);
  labelApprove();
}

/** Says on the button when what it approves is not what was asked for. */
function labelApprove(): void {
  const label = form?.accepted === undefined ? strings.approve : strings.approveChanged;
  if (approve.getAttribute('aria-label') === label) return;
  approve.setAttribute('aria-label', label);
  approve.lastChild?.replaceWith(label);
}

function drawAnswer(shown: RequestView): void {
  const pending = shown.status === 'pending' && shown.readOnly === undefined;
  const hadFocus = pressed !== undefined || answer.contains(document.activeElement);
  if (!pending) setDeciding(false);
  answer.hidden = !pending;
  outcome.hidden = pending;
  feedback.placeholder = placeholder(shown);
  forceStop.hidden = !shown.canForceStop;
  if (pending) return;
  const pictures = {
    approved: 'pass',
    rejected: 'circle-slash',
    cancelled: 'circle-slash',
    pending: 'lock',
  };
  outcome.className = `outcome ${shown.status}`;
  const sentence = h('span', {}, shown.readOnly ?? shown.outcome ?? strings[shown.status]);
  if (outcome.textContent !== sentence.textContent)
    outcome.replaceChildren(icon(pictures[shown.status]), sentence);
  // The buttons that had the focus are gone; the keyboard goes on from what took their place.
  if (hadFocus) outcome.focus();
  pressed = undefined;
}

function placeholder(shown: RequestView): string {
  if (shown.kind === 'plan_approval') return strings.feedbackPlan;
  if (shown.kind === 'team_proposal') return strings.feedbackProposal;
  return shown.kind === 'shutdown' ? strings.feedbackShutdown : strings.feedbackPermission;
}

function decide(approved: boolean): void {
  if (view === undefined || deciding) return;
  if (approved && form?.refuse()) return;
  const problem = tooLong(feedback.value, LONGEST_FEEDBACK, strings);
  if (problem !== undefined) {
    tellFailure(problem);
    return;
  }
  pressed = approved ? approve : reject;
  setDeciding(true);
  const accepted = approved ? form?.accepted : undefined;
  host.post({
    type: 'decide',
    requestId: view.requestId,
    approve: approved,
    feedback: feedback.value,
    ...(accepted === undefined ? {} : { accepted }),
  });
}

function setDeciding(now: boolean): void {
  deciding = now;
  for (const element of [approve, reject, forceStop]) element.toggleAttribute('disabled', now);
  progress.textContent = now ? strings.deciding : '';
  if (now) failure.hidden = true;
}

host.setState({ requestId: document.body.dataset.requestId ?? '' });
host.post({ type: 'ready' });
