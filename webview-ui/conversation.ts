import './noEval';

import type {
  ConversationAction,
  ConversationEntry,
  FromConversation,
  ToConversation,
} from '../src/ui/messages';
import { CONVERSATION_ACTIONS, OLDER_ID, toConversation } from '../src/ui/messages';
import { conversationStrings } from '../src/ui/webviewStrings';
import { Composer } from './composer';
import { button, h, icon } from './dom';
import { EntryView } from './entryView';
import { catchLinks, connect, readStrings } from './host';

type State = Extract<ToConversation, { type: 'state' }>;

/** Pixels from the bottom within which the reader follows what comes. */
const FOLLOW_MARGIN = 24;

const strings = readStrings(conversationStrings);
const host = connect<ToConversation, FromConversation>(toConversation, receive);
const views = new Map<string, EntryView>();
const act = (action: ConversationAction) => host.post({ type: 'action', action });

const welcome = h('section', { class: 'welcome' });
const log = h('main', {
  class: 'log',
  role: 'log',
  'aria-live': 'polite',
  'aria-label': strings.log,
  tabindex: '0',
});
const toNewest = button({ appearance: 'secondary', label: strings.newMessages, icon: 'arrow-down' }, () => {
  look();
  following = true;
  follow();
});
toNewest.classList.add('newest');
toNewest.hidden = true;
const composer = new Composer(strings, {
  send: (text) => {
    following = true;
    host.post({ type: 'send', text });
  },
  stop: () => host.post({ type: 'stop' }),
  typed: (text) => host.post({ type: 'draft', text }),
});
/** In the place of the input where the window only shows the team. */
const readOnly = h('footer', { class: 'read-only', role: 'status' });
readOnly.hidden = true;
document.body.append(welcome, log, h('div', { class: 'over' }, toNewest), readOnly, composer.element);

let following = true;
/** Where the list stood when it was last looked at. */
let stood = { top: 0, height: 0 };
/** The first state has come. */
let stated = false;

log.addEventListener('scroll', () => {
  following = log.scrollHeight - log.scrollTop - log.clientHeight <= FOLLOW_MARGIN;
  if (following) toNewest.hidden = true;
  look();
});
// A wider or narrower view, or a taller input, keeps the newest in sight.
new ResizeObserver(() => follow()).observe(log);
catchLinks(log, (href) => host.post({ type: 'open_link', href }));

function follow(): void {
  // The reader has turned back, and the page has not been told of it yet.
  if (log.scrollTop < stood.top - 1 && log.scrollHeight >= stood.height) following = false;
  if (following) log.scrollTop = log.scrollHeight;
  else toNewest.hidden = false;
  look();
}

function look(): void {
  stood = { top: log.scrollTop, height: log.scrollHeight };
}

function receive(message: ToConversation): void {
  switch (message.type) {
    case 'state':
      showState(message);
      break;
    case 'upsert':
      upsert(message.entry);
      break;
    case 'append_text':
      views.get(message.id)?.append(message.text);
      return;
    case 'remove':
      views.get(message.id)?.element.remove();
      views.delete(message.id);
      break;
    case 'busy':
      composer.setBusy(message.busy);
      return;
    case 'draft':
      composer.setText(message.text);
      return;
  }
  toggleWelcome();
  group();
  if (message.type !== 'remove') follow();
}

function showState(state: State): void {
  const kept = new Set(state.entries.map((entry) => entry.id));
  for (const [id, view] of views) {
    if (kept.has(id)) continue;
    view.element.remove();
    views.delete(id);
  }
  state.entries.forEach((entry, index) => {
    const { element } = upsert(entry);
    const there = log.children.item(index);
    // What stands right is not moved, or it would lose the focus.
    if (there !== element) log.insertBefore(element, there);
  });
  composer.setBusy(state.busy);
  // Later ones know less than the input: what is being typed is on its way to the other side.
  if (!stated && composer.text === '') composer.setText(state.draft);
  stated = true;
  showWelcome(state);
  showReadOnly(state.readOnly);
}

function showReadOnly(shown: State['readOnly']): void {
  readOnly.hidden = shown === undefined;
  composer.element.hidden = shown !== undefined;
  const action = CONVERSATION_ACTIONS.find((candidate) => candidate === shown?.action);
  readOnly.replaceChildren(
    icon('lock'),
    h('span', { class: 'why' }, shown?.why ?? ''),
    shown && action ? button({ appearance: 'secondary', label: shown.label }, () => act(action)) : '',
  );
}

function upsert(entry: ConversationEntry): EntryView {
  const known = views.get(entry.id);
  if (known !== undefined) {
    known.update(entry);
    return known;
  }
  const view = new EntryView(entry, { strings, act }, follow);
  views.set(entry.id, view);
  if (entry.id === OLDER_ID) log.prepend(view.element);
  else log.append(view.element);
  return view;
}

function showWelcome(state: State): void {
  const actions = state.welcome.flatMap(({ action, label }, index) => {
    const known = CONVERSATION_ACTIONS.find((candidate) => candidate === action);
    if (known === undefined) return [];
    return [button({ appearance: index === 0 ? 'primary' : 'secondary', label }, () => act(known))];
  });
  const chips = state.suggestions.map((sentence) => {
    const chip = h('button', { class: 'chip', type: 'button' }, icon('comment'), h('span', {}, sentence));
    chip.addEventListener('click', () => host.post({ type: 'send', text: sentence }));
    return h('li', {}, chip);
  });
  welcome.replaceChildren(
    h('p', { class: 'intro' }, strings.intro),
    state.demo
      ? h('p', { class: 'hint' }, h('span', { class: 'tag' }, strings.demo), ' ', strings.demoHint)
      : '',
    actions.length > 0 ? h('div', { class: 'actions' }, ...actions) : '',
    chips.length > 0 ? h('h2', { id: 'try' }, strings.tryAsking) : '',
    chips.length > 0 ? h('ul', { class: 'chips', 'aria-labelledby': 'try' }, ...chips) : '',
  );
}

function toggleWelcome(): void {
  const empty = views.size === 0;
  welcome.hidden = !empty;
  log.hidden = empty;
}

/** Marks what the lead says after its own words and calls; who speaks is said once. */
function group(): void {
  let speaks = false;
  for (const element of log.children) {
    if (element.classList.contains('assistant')) {
      element.classList.toggle('goes-on', speaks);
      speaks = true;
    } else if (!element.classList.contains('tool')) speaks = false;
  }
}

toggleWelcome();
host.post({ type: 'ready' });
