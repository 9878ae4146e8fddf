import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { extensionsFolder } from './server';

const manifestSchema = z.object({ publisher: z.string(), name: z.string(), version: z.string() });

/**
 * Lists extension folders as installed in a server's data folder, where they lie and without packing them.
 * Loaded as under development they would need the smoke test driver, with which VS Code shows no
 * notifications and answers dialogs by itself.
 */
export async function installUnpacked(dataFolder: string, folders: readonly string[]): Promise<void> {
  const installed: object[] = [];
  for (const folder of folders) {
    const file = join(folder, 'package.json');
    const { publisher, name, version } = manifestSchema.parse(JSON.parse(await readFile(file, 'utf8')));
    installed.push({
      identifier: { id: `${publisher}.${name}` },
      version,
      location: { $mid: 1, scheme: 'file', path: folder },
      metadata: { source: 'vsix', isApplicationScoped: false, installedTimestamp: 0 },
    });
  }
  await mkdir(extensionsFolder(dataFolder), { recursive: true });
  await writeFile(join(extensionsFolder(dataFolder), 'extensions.json'), JSON.stringify(installed));
}
