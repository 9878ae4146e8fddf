import type { RequestView } from '../src/ui/messages';
import type { RequestStrings } from '../src/ui/webviewStrings';
import { renderDiff } from './diff';
import { copyButton, h } from './dom';
import { proposalOutcome } from './proposalOutcome';
import { renderWhole } from './wholeText';

/** Who asked whom, when, and what the teammate is doing meanwhile, as terms and details. */
export function requestFacts(view: RequestView, strings: RequestStrings): HTMLElement[] {
  const rows: HTMLElement[] = [];
  const add = (term: string, ...detail: (Node | string)[]) =>
    rows.push(h('div', {}, h('dt', {}, term), h('dd', {}, ...detail)));
  const aboutSender = view.kind !== 'shutdown' && view.role !== undefined;
  const aboutReceiver = view.kind === 'shutdown' && view.role !== undefined;
  add(strings.from, aboutSender ? `${view.from} (${view.role})` : view.from);
  add(strings.to, aboutReceiver ? `${view.to} (${view.role})` : view.to);
  const at = new Date(view.createdAt);
  const clock = at.toLocaleString(document.documentElement.lang, { dateStyle: 'medium', timeStyle: 'short' });
  add(strings.asked, h('time', { datetime: at.toISOString() }, clock));
  if (view.doing !== undefined) add(strings.now, view.doing);
  add(strings.requestId, h('code', {}, view.requestId));
  return rows;
}

/**
 * What is asked for: the plan, the command, the change. All of it, never cut.
 * @param proposal the form of a proposed team that can be edited
 */
export function requestContent(
  view: RequestView,
  strings: RequestStrings,
  proposal?: HTMLElement,
): HTMLElement[] {
  const parts: HTMLElement[] = [];
  if (view.command !== undefined) parts.push(section(strings.command, code(view.command, strings)));
  if (view.path !== undefined) parts.push(section(strings.path, h('code', { class: 'path' }, view.path)));
  if (view.reason !== undefined && view.reason !== '') {
    parts.push(section(strings.reason, h('p', { class: 'plain' }, view.reason)));
  }
  if (view.diff !== undefined) parts.push(section(strings.changes, renderDiff(view.diff, strings)));
  if (view.plan !== undefined) {
    parts.push(
      section(
        strings.plan,
        h('div', { class: 'markdown plan' }, belowHeading(renderWhole(view.plan, strings))),
      ),
    );
  }
  if (view.proposal !== undefined) {
    if (view.proposal.estimate !== undefined) parts.push(h('p', { class: 'allows' }, view.proposal.estimate));
    parts.push(proposal ?? proposalOutcome(view.proposal, strings));
  }
  const lists = [list(strings.files, view.files), list(strings.commands, view.commands)].filter(
    (part) => part !== undefined,
  );
  if (lists.length > 0) parts.push(section(strings.scope, ...lists));
  if (view.plan !== undefined && view.status === 'pending') {
    parts.push(h('p', { class: 'allows' }, strings.planAllows));
  }
  return parts;
}

function section(heading: string, ...body: HTMLElement[]): HTMLElement {
  return h('section', {}, h('h2', {}, heading), ...body);
}

/** The text's own headings stand below that of the section. */
function belowHeading(fragment: DocumentFragment): DocumentFragment {
  for (const heading of fragment.querySelectorAll('h1, h2, h3, h4, h5, h6')) {
    const level = Math.min(6, Number(heading.localName.slice(1)) + 2);
    heading.replaceWith(h(`h${level}`, {}, ...heading.childNodes));
  }
  return fragment;
}

function code(text: string, strings: RequestStrings): HTMLElement {
  return h(
    'div',
    { class: 'code' },
    h('pre', { tabindex: '0' }, text),
    copyButton(() => text, strings),
  );
}

function list(label: string, items: readonly string[] | undefined): HTMLElement | undefined {
  if (items === undefined || items.length === 0) return undefined;
  const rows = items.map((item) => h('li', {}, h('code', {}, item)));
  return h('div', { class: 'scope' }, h('div', { class: 'label' }, label), h('ul', {}, ...rows));
}
