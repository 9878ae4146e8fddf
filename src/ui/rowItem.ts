import * as vscode from 'vscode';

/** What every row of our trees shows. */
export interface RowLook {
  label: string;
  description: string;
  icon: { id: string; color?: string };
  contextValue: string;
  /** What a screen reader says. */
  spoken: string;
}

/** @param id tells the rows of one tree apart */
export function rowItem(
  row: RowLook,
  id: string,
  state = vscode.TreeItemCollapsibleState.None,
): vscode.TreeItem {
  const { icon } = row;
  const item = new vscode.TreeItem(row.label, state);
  item.id = id;
  item.description = row.description;
  item.iconPath = new vscode.ThemeIcon(
    icon.id,
    icon.color === undefined ? undefined : new vscode.ThemeColor(icon.color),
  );
  item.contextValue = row.contextValue;
  item.accessibilityInformation = { label: row.spoken };
  return item;
}
