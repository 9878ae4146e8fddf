/**
 * How models are named where several sources meet: `vscode:<vendor>/<id>` is one of VS Code's own models, any
 * other name is a model of the Anthropic Messages API at the endpoint of the key.
 */

const PREFIX = 'vscode:';

export interface VscodeModelId {
  vendor: string;
  /** Whatever the vendor calls it; may hold slashes. */
  id: string;
}

export function vscodeModelId({ vendor, id }: VscodeModelId): string {
  return `${PREFIX}${vendor}/${id}`;
}

export function isVscodeModel(model: string): boolean {
  return model.startsWith(PREFIX);
}

/** @returns undefined for the name of any other model */
export function parseVscodeModel(model: string): VscodeModelId | undefined {
  const slash = model.indexOf('/');
  if (!isVscodeModel(model) || slash < 0) return undefined;
  const vendor = model.slice(PREFIX.length, slash);
  const id = model.slice(slash + 1);
  return vendor === '' || id === '' ? undefined : { vendor, id };
}
