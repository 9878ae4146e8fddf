import type { Locator } from 'playwright-core';
import { eventually } from '../driver-wait';
import type { Workbench } from '../driver-workbench';

/** Editors, and what stands in their titles and in those of views. */

/** The tabs that are open, by what they are called. */
export async function tabs({ page }: Workbench): Promise<string[]> {
  const labels = await page.locator('.part.editor .tabs-container .tab .label-name').allInnerTexts();
  return labels.map((label) => label.trim());
}

/** Resolves when exactly these tabs are open; a pattern where VS Code adds words of its own. */
export async function hasTabs(window: Workbench, ...wanted: (string | RegExp)[]): Promise<void> {
  await eventually(
    () => tabs(window),
    (open) =>
      open.length === wanted.length &&
      wanted.every((each) =>
        open.some((label) => (typeof each === 'string' ? each === label : each.test(label))),
      ),
    `the tabs ${wanted.join(', ')}`,
  );
}

/** A button in the title of the active editor. */
export function editorAction({ page }: Workbench, label: string): Locator {
  return page
    .locator('.editor-group-container.active .editor-actions a.action-label')
    .and(page.getByLabel(new RegExp(`^${label}( \\(|$)`)));
}

/** Clicks a button in the title of a view, which are there under the pointer. */
export async function clickViewAction(window: Workbench, view: string, label: string): Promise<void> {
  const header = window.view(view).locator('.pane-header');
  await header.hover();
  await header
    .locator('.actions a.action-label')
    .and(window.page.getByLabel(new RegExp(`^${label}( \\(|$)`)))
    .click();
}

/** The side of the diff in sight that shows the new text. */
export function newSide({ page }: Workbench): Locator {
  return page.locator('.editor-group-container.active .monaco-diff-editor .editor.modified');
}

/** Checks or unchecks the box of a tree's row; the tree may be drawn anew meanwhile. */
export async function setBox(
  window: Workbench,
  view: string,
  rowText: string,
  checked: boolean,
): Promise<void> {
  const box = window.treeRow(view, rowText).getByRole('checkbox');
  const set = async (): Promise<boolean> => {
    if ((await box.getAttribute('aria-checked')) === String(checked)) return true;
    await box.click();
    return false;
  };
  await eventually(set, (done) => done, `the box of '${rowText}' to be ${checked ? 'checked' : 'clear'}`);
}
