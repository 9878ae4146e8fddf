import type { AcceptedMember, AcceptedProposal, AcceptedTask } from '../src/protocol/proposal';
import type { RequestView } from '../src/ui/messages';
import type { RequestStrings } from '../src/ui/webviewStrings';
import { h } from './dom';
import { type EditProblem, type Part, ProposalEdits } from './proposalEdits';
import { type FieldOptions, fieldRow, iconButton, problemId } from './proposalFields';

export interface ProposalFormHost {
  readonly strings: RequestStrings;
  /** The human changed something; what is typed is to be kept. */
  onEdited(kept: string): void;
}

/** A proposed team that waits for its answer: what is taken of it, and every field of it, in place. */
export class ProposalForm {
  readonly element = h('div', { class: 'proposal' });
  readonly edits: ProposalEdits;
  readonly #open = new Set<string>();
  readonly #whole = h('p', { class: 'problem', role: 'alert', hidden: true });
  #taken: readonly string[] = [];
  #roles: NonNullable<RequestView['proposal']>['roles'] = [];

  constructor(
    private readonly host: ProposalFormHost,
    proposal: NonNullable<RequestView['proposal']>,
    kept: string,
  ) {
    this.edits = new ProposalEdits(proposal.payload);
    if (kept !== '') this.edits.restore(kept);
    this.show(proposal);
    this.#draw();
  }

  /** Takes what changed outside: names that are taken by now, and the roles there are. */
  show({ taken, roles }: NonNullable<RequestView['proposal']>): void {
    this.#taken = taken;
    this.#roles = roles;
    this.#markProblems();
  }

  /** What is accepted, or undefined where it is all as it stands. */
  get accepted(): AcceptedProposal | undefined {
    return this.edits.isChanged() ? this.edits.accepted() : undefined;
  }

  /** Shows the first thing that is wrong and gives it the keyboard. @returns whether there is one */
  refuse(): boolean {
    const [first] = this.edits.problems(this.#taken);
    if (first === undefined) return false;
    if (first.part !== undefined) this.#open.add(first.part);
    this.#draw();
    this.#find(first)?.focus();
    return true;
  }

  #find({ part, field }: EditProblem): HTMLElement | undefined {
    const all = [...this.element.querySelectorAll<HTMLElement>('[data-field]')];
    return all.find(({ dataset }) => dataset.part === part && dataset.field === field) ?? all[0];
  }

  #draw(): void {
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset : {};
    const { strings } = this.host;
    const parts: HTMLElement[] = [this.#whole];
    parts.push(
      this.#table(strings.team, [strings.memberName, strings.memberRole, strings.memberTask], 'members', () =>
        this.edits.members.map((part) => this.#member(part)),
      ),
    );
    if (this.edits.tasks.length > 0) {
      parts.push(
        this.#table(
          strings.tasks,
          [strings.taskSubject, strings.taskWaits, strings.taskDescription],
          'tasks',
          () => this.edits.tasks.map((part) => this.#task(part)),
        ),
      );
    }
    this.element.replaceChildren(...parts);
    this.#markProblems();
    if (focused.part !== undefined) {
      const same = [...this.element.querySelectorAll<HTMLElement>('[data-field]')].find(
        ({ dataset }) => dataset.part === focused.part && dataset.field === focused.field,
      );
      same?.focus();
    }
  }

  #table(caption: string, head: readonly string[], kind: string, rows: () => HTMLElement[]): HTMLElement {
    const { strings } = this.host;
    const titles = [
      h('th', { scope: 'col', class: 'take' }, strings.take),
      ...head.map((text, index) => h('th', { scope: 'col', class: index === 2 ? 'wide' : '' }, text)),
      h('td'),
    ];
    return h(
      'section',
      {},
      h('h2', {}, caption),
      h(
        'table',
        { class: `members ${kind}`, 'aria-label': caption },
        h('thead', {}, h('tr', {}, ...titles)),
        h('tbody', {}, ...rows()),
      ),
    );
  }

  #member(part: Part<AcceptedMember>): HTMLElement {
    const { strings } = this.host;
    const { value } = part;
    const id = `member:${value.of}`;
    const tags = [
      value.require_plan ? strings.planFirst : undefined,
      value.model === undefined ? undefined : `${strings.model}: ${value.model}`,
      value.task === undefined ? undefined : `${strings.beginsWith}: ${this.#subjectOf(value.task)}`,
      this.#isIsolated(value.task) ? strings.isolated : undefined,
    ];
    return this.#row(
      id,
      value.of,
      part,
      [
        h('th', { scope: 'row' }, value.name),
        h('td', {}, value.role),
        h('td', {}, h('p', { class: 'plain' }, value.prompt), ...tagElements(tags)),
      ],
      () => this.#memberFields(id, part),
    );
  }

  #memberFields(id: string, part: Part<AcceptedMember>): HTMLElement[] {
    const { strings } = this.host;
    const { value } = part;
    const set = (change: Partial<AcceptedMember>) => this.#set(part, { ...part.value, ...change });
    const field = (options: Omit<FieldOptions, 'part'>) => fieldRow({ ...options, part: id });
    const tasks = this.edits.tasks.filter(({ taken }) => taken);
    const choices = [
      { value: '', label: strings.noTask },
      ...tasks.map((task) => ({ value: task.value.of, label: task.value.subject })),
    ];
    return [
      field({
        field: 'name',
        label: strings.memberName,
        value: value.name,
        // As the roster would have it.
        onInput: (name) => set({ name: name.trim().toLowerCase() }),
      }),
      field({
        field: 'role',
        label: strings.memberRole,
        value: value.role,
        offers: this.#roles.map(({ name, description }) => ({ value: name, label: description })),
        onInput: (role) => set({ role }),
      }),
      field({
        field: 'prompt',
        label: strings.memberTask,
        value: value.prompt,
        lines: true,
        onInput: (prompt) => set({ prompt }),
      }),
      ...(this.edits.tasks.length === 0
        ? []
        : [
            field({
              field: 'task',
              label: strings.beginsWith,
              value: value.task ?? '',
              choices,
              onInput: (task) => set({ task: task === '' ? undefined : task }),
            }),
          ]),
      field({
        field: 'model',
        label: strings.model,
        value: value.model ?? '',
        placeholder: strings.usualModel,
        onInput: (model) => set({ model: model.trim() === '' ? undefined : model }),
      }),
      field({
        field: 'require_plan',
        label: strings.planFirst,
        checked: value.require_plan,
        onCheck: (require_plan) => set({ require_plan }),
      }),
    ];
  }

  #task(part: Part<AcceptedTask>): HTMLElement {
    const { strings } = this.host;
    const { value } = part;
    const id = `task:${value.of}`;
    const taken = this.edits.accepted().tasks.find(({ of }) => of === value.of) ?? value;
    const waits = taken.blocked_by.map((key) => this.#subjectOf(key)).join(', ');
    const tags = [
      value.priority === 0 ? undefined : `${strings.taskPriority}: ${value.priority}`,
      value.isolated ? strings.isolated : undefined,
    ];
    return this.#row(
      id,
      value.subject || value.of,
      part,
      [
        h('th', { scope: 'row' }, value.subject),
        h('td', {}, waits || strings.none),
        h('td', {}, h('p', { class: 'plain' }, value.description), ...tagElements(tags)),
      ],
      () => this.#taskFields(id, part),
    );
  }

  #taskFields(id: string, part: Part<AcceptedTask>): HTMLElement[] {
    const { strings } = this.host;
    const { value } = part;
    const set = (change: Partial<AcceptedTask>) => this.#set(part, { ...part.value, ...change });
    const field = (options: Omit<FieldOptions, 'part'>) => fieldRow({ ...options, part: id });
    const others = this.edits.tasks.filter((task) => task !== part && task.taken);
    return [
      field({
        field: 'subject',
        label: strings.taskSubject,
        value: value.subject,
        onInput: (subject) => set({ subject }),
      }),
      field({
        field: 'description',
        label: strings.taskDescription,
        value: value.description,
        lines: true,
        onInput: (description) => set({ description }),
      }),
      field({
        field: 'priority',
        label: strings.taskPriority,
        value: String(value.priority),
        numeric: true,
        onInput: (text) => set({ priority: text.trim() === '' ? Number.NaN : Number(text) }),
      }),
      field({
        field: 'isolated',
        label: strings.isolated,
        checked: value.isolated === true,
        onCheck: (isolated) => {
          const { isolated: _, ...rest } = part.value;
          this.#set(part, isolated ? { ...rest, isolated } : rest);
        },
      }),
      ...(others.length === 0
        ? []
        : [
            fieldRow({
              part: id,
              field: 'blocked_by',
              label: strings.taskWaits,
              boxes: others.map((other) => ({
                value: other.value.of,
                label: other.value.subject,
                checked: value.blocked_by.includes(other.value.of),
              })),
              onBox: (key, on) => {
                const rest = part.value.blocked_by.filter((other) => other !== key);
                set({ blocked_by: on ? [...rest, key] : rest });
              },
            }),
          ]),
    ];
  }

  #row<T extends { of: string }>(
    id: string,
    name: string,
    part: Part<T>,
    cells: HTMLElement[],
    fields: () => HTMLElement[],
  ): HTMLElement {
    const { strings } = this.host;
    const box = h('input', {
      type: 'checkbox',
      checked: part.taken,
      'aria-label': strings.takeOne.replace('{0}', name),
      'data-part': id,
      'data-field': 'taken',
    });
    box.addEventListener('change', () => {
      part.taken = box.checked;
      this.#edited();
      this.#draw();
    });
    const open = this.#open.has(id);
    const label = (open ? strings.fold : strings.edit).replace('{0}', name);
    const toggle = iconButton(open ? 'chevron-up' : 'edit', label, () => {
      if (open) this.#open.delete(id);
      else this.#open.add(id);
      this.#draw();
    });
    toggle.dataset.part = id;
    toggle.dataset.field = 'toggle';
    toggle.setAttribute('aria-expanded', String(open));
    const content = open
      ? [h('td', { colspan: String(cells.length) }, h('div', { class: 'fields' }, ...fields()))]
      : cells;
    const row = h(
      'tr',
      { class: part.taken ? '' : 'not-taken' },
      h('td', { class: 'take' }, box),
      ...content,
      h('td', { class: 'toggle' }, toggle),
    );
    if (!open) cells.at(-1)?.append(h('p', { class: 'problem', id: problemId(id, ''), hidden: true }));
    return row;
  }

  #set<T>(part: Part<T>, value: T): void {
    part.value = value;
    this.#edited();
    this.#markProblems();
  }

  #edited(): void {
    this.host.onEdited(this.edits.kept());
  }

  #subjectOf(key: string): string {
    return this.edits.tasks.find(({ value }) => value.of === key)?.value.subject ?? key;
  }

  #isIsolated(key: string | undefined): boolean {
    return this.edits.tasks.some(({ taken, value }) => taken && value.of === key && value.isolated);
  }

  /** Says each problem at its field, or in its row where the fields are not shown. */
  #markProblems(): void {
    const problems = this.edits.problems(this.#taken);
    for (const element of this.element.querySelectorAll<HTMLElement>('.problem')) element.hidden = true;
    for (const field of this.element.querySelectorAll('[aria-invalid]'))
      field.removeAttribute('aria-invalid');
    for (const problem of problems) {
      const text = this.#textOf(problem);
      const { part, field } = problem;
      const place =
        part === undefined
          ? this.#whole
          : (document.getElementById(problemId(part, field)) ?? document.getElementById(problemId(part, '')));
      if (!place?.hidden) continue;
      place.textContent = text;
      place.hidden = false;
      if (part !== undefined) this.#find(problem)?.setAttribute('aria-invalid', 'true');
    }
  }

  #textOf({ code }: EditProblem): string {
    const { strings } = this.host;
    switch (code) {
      case 'nothing':
      case 'name':
      case 'name_twice':
      case 'name_taken':
      case 'role':
      case 'prompt':
      case 'subject':
      case 'priority':
      case 'circle':
      case 'task_twice':
      case 'task_waits':
        return strings[`problem_${code}`];
      default:
        return strings.problem_other;
    }
  }
}

function tagElements(tags: readonly (string | undefined)[]): HTMLElement[] {
  return tags.flatMap((tag) => (tag === undefined ? [] : [h('span', { class: 'tag' }, tag)]));
}
