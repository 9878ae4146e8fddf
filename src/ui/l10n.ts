/** A translation function with the signature of `vscode.l10n.t`. */
export type Translate = (message: string, ...args: (string | number | boolean)[]) => string;

let translate: Translate = (message, ...args) =>
  message.replace(/\{(\d+)\}/g, (whole, index: string) => {
    const value = args[Number(index)];
    return value === undefined ? whole : String(value);
  });

/** Called once at start with `vscode.l10n.t`; without it (plain Node) the English text is used. */
export function useTranslator(t: Translate): void {
  translate = t;
}

/** For the models of the UI, which do not import `vscode`. */
export const l10n = {
  t: (message: string, ...args: (string | number | boolean)[]): string => translate(message, ...args),
};
