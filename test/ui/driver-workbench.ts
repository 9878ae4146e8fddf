import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errors, type Frame, type Locator, type Page } from 'playwright-core';
import * as z from 'zod';
import { resultsFolder } from '../host/paths';
import { eventually, patience } from './driver-wait';

/** A row of a tree that is drawn (rows scrolled out of sight are not). */
export interface TreeRow {
  label: string;
  description: string;
  /** Depth, from 1. */
  level: number;
  /** What a screen reader says. */
  spoken: string;
  /** Undefined for a row without children. */
  expanded: boolean | undefined;
}

/** A notification that is on screen. */
export interface Notification {
  message: string;
  buttons: string[];
}

/**
 * One VS Code window, used as a person uses it. Every action waits until what it acts on is there, up to
 * the page's time-out; what only reads (`treeRows`, `badge`, …) says what is seen now: put it into
 * {@link eventually} to wait for a state.
 */
export class Workbench {
  constructor(readonly page: Page) {}

  // ── the window

  /** Resolves when the window is drawn and its extension host has begun to activate extensions. */
  async whenReady(): Promise<void> {
    await this.page.locator('.monaco-workbench .part.statusbar').waitFor();
    await this.page.locator('.monaco-workbench .composite-bar .action-item').first().waitFor();
  }

  /** Loads the window anew; its extension host starts again. The driver's own also waits for the old one's end. */
  async reload(): Promise<void> {
    await this.page.reload();
    await this.whenReady();
  }

  /**
   * Saves what is seen into the run's results.
   * @returns the file
   */
  async screenshot(name: string): Promise<string> {
    await mkdir(resultsFolder, { recursive: true });
    const file = join(resultsFolder, `${name.replace(/[^\w-]+/g, '-')}.png`);
    await this.page.screenshot({ path: file });
    return file;
  }

  /** What is seen now, in words: for whoever has no picture. */
  async words(): Promise<string> {
    const parts: [string, string, number][] = [
      ['Tabs', '.part.editor .tabs-container .tab .label-name', 200],
      ['Editor', '.part.editor .view-lines, .part.editor .monaco-list-row', 600],
      ['Box', '.quick-input-widget', 400],
      ['Notifications', '.notifications-toasts .notification-list-item-message', 800],
      ['Dialog', '.monaco-dialog-box', 400],
      ['Rows', '.pane .monaco-list-row', 1200],
    ];
    const found = await Promise.all(
      parts.map(async ([name, selector, most]) => {
        const texts = await this.page.locator(`${selector}:visible`).allInnerTexts();
        const text = texts.map((each) => each.replace(/\s+/g, ' ').trim()).join(' | ');
        return text === '' ? '' : `  ${name}: ${text.slice(0, most)}`;
      }),
    );
    return ['On screen:', ...found.filter((line) => line !== '')].join('\n');
  }

  /** Chooses a colour theme by its name, such as `Dark Modern` or `Dark High Contrast`, and waits for it. */
  async setTheme(name: string): Promise<void> {
    await this.runCommand('Preferences: Color Theme');
    await this.pick(name);
    const isDark = name.startsWith('Dark');
    const [dark, light] = name.includes('High Contrast') ? ['hc-black', 'hc-light'] : ['vs-dark', 'vs'];
    await this.page.locator(`.monaco-workbench.${isDark ? dark : light}`).waitFor();
    await this.page.locator('.quick-input-widget-closing').waitFor({ state: 'detached' });
  }

  // ── palette and quick input

  /** Runs a command by its title as the palette shows it, category included. */
  async runCommand(title: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      await this.page.locator('.quick-input-widget-closing').waitFor({ state: 'detached' });
      await this.page.keyboard.press('F1');
      try {
        await this.pick(title, '>', patience / 4);
        return;
      } catch (error) {
        // A webview that takes the focus back late closes the palette: a person opens it again.
        if (attempt === 3 || (await this.quickInput.isVisible())) throw error;
      }
    }
  }

  /** The box that the palette, quick picks and input boxes share. */
  get quickInput(): Locator {
    return this.page.locator('.quick-input-widget:visible');
  }

  /** Types an answer into the open input box and confirms it; what is asked next comes in the same box. */
  async answerInput(text: string): Promise<void> {
    const input = this.quickInput.locator('input').first();
    await input.fill(text);
    const asked = await this.question();
    // Given to the box: an editor that was opening may have taken the focus.
    await input.press('Enter');
    await eventually(
      () => this.question(),
      (now) => now !== asked,
      `the answer '${text}' to be taken`,
    );
  }

  /** All that the open box says and holds; empty when none is open. */
  private async question(): Promise<string> {
    return String(await this.quickInput.evaluateAll(readQuestion));
  }

  /** Clicks the entry of the open quick pick that has this label, typing it first as a filter. */
  async pick(label: string, prefix = '', timeout = patience): Promise<void> {
    await this.quickInput.locator('input').first().fill(`${prefix}${label}`, { timeout });
    await this.quickInput
      .locator('.quick-input-list .monaco-list-row')
      .filter({ has: this.page.locator('.label-name').getByText(label, { exact: true }) })
      .first()
      .click({ timeout });
  }

  /** The labels of the open quick pick, as far as they are drawn. */
  async pickLabels(): Promise<string[]> {
    const labels = await this.quickInput
      .locator('.quick-input-list .monaco-list-row .label-name')
      .allInnerTexts();
    return labels.map((label) => label.trim());
  }

  // ── views

  private container(title: string): Locator {
    // The spoken name goes on with the badge's tooltip or the keybinding.
    const spoken = new RegExp(`^${literally(title)}( \\(| - |$)`);
    return this.page
      .locator('.composite-bar .action-item')
      .filter({ has: this.page.locator('a.action-label').and(this.page.getByLabel(spoken)) })
      .first();
  }

  /** Shows a view container by its title; one that is shown already stays. */
  async openView(containerTitle: string): Promise<void> {
    const item = this.container(containerTitle);
    await item.waitFor();
    if ((await item.getAttribute('aria-selected')) !== 'true') await item.click();
  }

  /** Chooses from the context menu of a view container's icon; several entries lead through submenus. */
  async chooseFromContainerMenu(containerTitle: string, ...entries: string[]): Promise<void> {
    const chosen = async (): Promise<boolean> => {
      await this.container(containerTitle).click({ button: 'right' });
      for (const entry of entries.slice(0, -1)) await this.menuItem(entry).hover();
      return this.takes(entries.at(-1) ?? '');
    };
    await eventually(chosen, (taken) => taken, `the menu to take '${entries.at(-1)}'`);
  }

  /** Drags the edge of the primary side bar, which is on the left. */
  async widenSideBar(pixels: number): Promise<void> {
    const box = await this.page.locator('.part.sidebar').boundingBox();
    if (box === null) throw new Error('The side bar is hidden');
    const [x, y] = [box.x + box.width, box.y + box.height / 2];
    await this.page.mouse.move(x, y);
    await this.page.mouse.down();
    await this.page.mouse.move(x + pixels, y, { steps: 4 });
    await this.page.mouse.up();
  }

  /** The badge on a view container's icon, such as `2`; undefined without one. */
  async badge(containerTitle: string): Promise<string | undefined> {
    const badge = this.container(containerTitle).locator('.badge:visible .badge-content');
    const text = await textOf(badge);
    return text === '' ? undefined : text;
  }

  /** A view of the side bar or panel, by its title, with header and body. */
  view(title: string): Locator {
    // The spoken name of a view that has a description goes on with it.
    const spoken = new RegExp(`^${literally(title)}( - .*)? Section$`);
    return this.page
      .locator('.pane')
      .filter({ has: this.page.locator('.pane-header').and(this.page.getByLabel(spoken)) });
  }

  // ── trees

  /** The drawn rows of a tree view, top to bottom. */
  async treeRows(viewTitle: string): Promise<TreeRow[]> {
    const rows = this.view(viewTitle).locator('.monaco-list-rows > .monaco-list-row');
    const drawn = drawnRows.parse(await rows.evaluateAll(readRows));
    return drawn.sort((a, b) => a.index - b.index).map(({ row }) => row);
  }

  /** The row whose label or description holds this text. */
  treeRow(viewTitle: string, text: string): Locator {
    return this.rowsWith(viewTitle, text).first();
  }

  private rowsWith(viewTitle: string, text: string): Locator {
    const rows = this.view(viewTitle)
      .locator('.monaco-list-rows > .monaco-list-row')
      .filter({ hasText: text });
    // A member is meant by its name, not what stands under it; rows come in no order of theirs.
    return viewTitle === 'Team' ? rows.and(this.page.locator('[aria-level="1"]')) : rows;
  }

  /** Clicks a button that a tree row shows under the pointer; goes after the row when it moves meanwhile. */
  async clickInlineAction(viewTitle: string, rowText: string, actionLabel: string): Promise<void> {
    await eventually(
      () => this.treeRows(viewTitle),
      (rows) => !rows.some(isLeaving),
      'the rows that are about to leave',
    );
    const clicked = async (): Promise<boolean> => {
      await this.treeRow(viewTitle, rowText).hover();
      try {
        await this.inlineAction(viewTitle, rowText, actionLabel).click({ timeout: patience / 20 });
        return true;
      } catch (error) {
        if (error instanceof errors.TimeoutError) return false;
        throw error;
      }
    };
    await eventually(clicked, (done) => done, `the button '${actionLabel}' of the row '${rowText}'`);
  }

  /** A button of a tree row, to look at or to click without moving there first. */
  inlineAction(viewTitle: string, rowText: string, actionLabel: string): Locator {
    return this.treeRow(viewTitle, rowText)
      .locator('.actions a.action-label')
      .and(
        // VS Code adds a keybinding to the name where there is one.
        this.page.getByLabel(new RegExp(`^${literally(actionLabel)}( \\(|$)`)),
      );
  }

  /** Chooses an entry of a tree row's context menu. */
  async chooseFromContextMenu(viewTitle: string, rowText: string, entry: string): Promise<void> {
    const chosen = async (): Promise<boolean> => {
      await this.openContextMenu(viewTitle, rowText);
      return this.takes(entry);
    };
    await eventually(chosen, (taken) => taken, `the menu to take '${entry}'`);
  }

  /** Chooses from the menu that the second mouse button opens on something that stays where it is. */
  async chooseFromMenuOf(target: Locator, entry: string): Promise<void> {
    const chosen = async (): Promise<boolean> => {
      await target.click({ button: 'right' });
      return this.takes(entry);
    };
    await eventually(chosen, (taken) => taken, `the menu to take '${entry}'`);
  }

  private menuItem(entry: string): Locator {
    return this.page.getByRole('menuitem', { name: entry, exact: true });
  }

  /**
   * Clicks an entry of the open menu until it is taken: a menu takes no click in its first tenth of a second.
   * @returns false when the menu went by itself, as it does when something else takes the focus
   */
  private async takes(entry: string): Promise<boolean> {
    const item = this.menuItem(entry);
    for (let clicked = false; ; ) {
      try {
        await item.click({ timeout: patience / 20 });
        clicked = true;
        await item.waitFor({ state: 'hidden', timeout: patience / 60 });
        return true;
      } catch (error) {
        if (!(error instanceof errors.TimeoutError)) throw error;
        if (!(await item.isVisible())) return clicked;
      }
    }
  }

  /** Rows are drawn anew while a tree changes, and an element may become another row's: looks what was met. */
  private async openContextMenu(viewTitle: string, rowText: string): Promise<void> {
    const focused = this.view(viewTitle).locator('.monaco-list-row.focused');
    const opened = async (): Promise<boolean> => {
      const box = await this.treeRow(viewTitle, rowText).boundingBox();
      if (box === null) return false;
      await this.page.mouse.click(box.x + box.width / 2, box.y + box.height / 2, { button: 'right' });
      await this.page.getByRole('menuitem').first().waitFor();
      if ((await this.rowsWith(viewTitle, rowText).and(focused).count()) > 0) return true;
      await this.page.keyboard.press('Escape');
      return false;
    };
    await eventually(opened, (met) => met, `the menu of the row '${rowText}'`);
  }

  // ── status bar, notifications, dialogs

  /** The item of the status bar whose text or spoken label holds this. */
  statusBarItem(text: string | RegExp): Locator {
    return this.page.locator('.statusbar-item').filter({ hasText: text }).first();
  }

  /** The visible text of all status bar items, empty ones left out. */
  async statusBarTexts(): Promise<string[]> {
    const texts = await this.page.locator('.statusbar-item').allInnerTexts();
    return texts.map(oneLine).filter((text) => text !== '');
  }

  private get toasts(): Locator {
    return this.page.locator('.notification-toast .notification-list-item');
  }

  /** The notifications on screen, newest first. */
  async notifications(): Promise<Notification[]> {
    const found: Notification[] = [];
    for (const toast of await this.toasts.all()) {
      const message = await textOf(toast.locator('.notification-list-item-message'));
      const buttons = await toast
        .locator('.notification-list-item-buttons-container .monaco-button')
        .allInnerTexts();
      found.push({ message, buttons: buttons.map(oneLine) });
    }
    return found;
  }

  /** Clicks a button of the notification whose message holds this text. */
  async clickNotificationButton(messageText: string, button: string): Promise<void> {
    await this.toasts
      .filter({ hasText: messageText })
      .locator('.notification-list-item-buttons-container .monaco-button')
      .getByText(button, { exact: true })
      .click();
  }

  /** Clicks a button of the open modal dialog. */
  async clickDialogButton(button: string): Promise<void> {
    await this.page.locator('.monaco-dialog-box .monaco-button').getByText(button, { exact: true }).click();
  }

  // ── webviews

  /**
   * The document inside a webview (a webview is a frame in a frame), once it is there.
   * @param holds tells it from other webviews; a string means: this text is to be seen in it
   */
  webviewFrame(holds: string | ((frame: Frame) => Promise<boolean>)): Promise<Frame> {
    const matches =
      typeof holds === 'string' ? (frame: Frame) => frame.getByText(holds).first().isVisible() : holds;
    return eventually(
      async () => (await this.webviewFrames(matches))[0],
      (frame): frame is Frame => frame !== undefined,
      typeof holds === 'string' ? `a webview with the text '${holds}'` : 'the webview',
    );
  }

  /** The documents of all webviews of which this holds now. */
  async webviewFrames(holds: (frame: Frame) => Promise<boolean>): Promise<Frame[]> {
    const found: Frame[] = [];
    for (const frame of this.page.frames()) {
      if (isWebviewDocument(frame) && (await isTrueIn(frame, holds))) found.push(frame);
    }
    return found;
  }
}

const isWebviewDocument = (frame: Frame): boolean => frame.url().includes('fake.html');

/** A frame may be replaced while it is asked; it is then not the one. */
async function isTrueIn(frame: Frame, probe: (frame: Frame) => Promise<boolean>): Promise<boolean> {
  try {
    return await probe(frame);
  } catch (error) {
    if (frame.isDetached() || /navigat|destroyed|detached/i.test(String(error))) return false;
    throw error;
  }
}

/** As much of a page's element as is read. */
interface RowElement {
  getAttribute(name: string): string | null;
  querySelector(selector: string): { textContent: string | null } | null;
}

/** Runs in the page: all rows at one moment, since each may be gone the next. */
function readRows(rows: RowElement[]): unknown {
  return rows.map((row) => ({
    index: Number(row.getAttribute('data-index')),
    row: {
      label: row.querySelector('.label-name')?.textContent ?? '',
      description: row.querySelector('.label-description')?.textContent ?? '',
      level: Number(row.getAttribute('aria-level')),
      spoken: row.getAttribute('aria-label') ?? '',
      expanded: row.getAttribute('aria-expanded'),
    },
  }));
}

/** Runs in the page. */
function readQuestion(
  boxes: { textContent: string | null; querySelector(selector: string): unknown }[],
): string {
  return boxes
    .map((box) => {
      const input = box.querySelector('input') as { value: string; placeholder: string } | null;
      return [box.textContent, input?.placeholder, input?.value].join('|');
    })
    .join();
}

const lineText = z.string().transform((text) => oneLine(text));
const drawnRows = z.array(
  z.object({
    index: z.number(),
    row: z.object({
      label: lineText,
      description: lineText,
      level: z.number(),
      spoken: z.string(),
      expanded: z
        .string()
        .nullable()
        .transform((value) => (value === null ? undefined : value === 'true')),
    }),
  }),
);

/** The text of the first of the elements, empty when there is none. */
async function textOf(elements: Locator): Promise<string> {
  const [text = ''] = await elements.allTextContents();
  return oneLine(text);
}

const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** A decided request leaves its place after a moment; a click that meets the list moving is lost. */
function isLeaving({ level, label, spoken }: TreeRow): boolean {
  return level === 1 && label !== 'Decided' && /, (approved|rejected|withdrawn)/.test(spoken);
}
