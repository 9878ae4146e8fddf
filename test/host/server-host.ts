// An executable that takes the place of desktop VS Code in `runTests` of @vscode/test-electron: it reads
// the same flags, opens VS Code's server in a headless browser, runs the tests and exits with their code.
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { format } from 'node:util';
import type { Page } from 'playwright-core';
import { launchChromium } from './chromium';
import { messageOf } from './errors';
import { serverHostFromEnvironment } from './hosts';
import { resultsFolder } from './paths';
import { VscodeServer } from './server';
import { installUnpacked } from './unpacked-extensions';
import { readUserSettings, serverUserData, writeUserSettings } from './user-settings';
import { blockOutside, keepSecrets, workbenchUrl } from './workbench-page';

/**
 * Begins each line of the tests' own output. The workbench logs through the same channel, and far more.
 */
const outputMark = 'handshake-test> ';

/** Milliseconds after which a window whose extension host says nothing is given up. */
const silenceLimit = 120_000;

interface Arguments {
  extensions: string[];
  tests: string;
  userData: string;
  folder: string | undefined;
}

/** The flags `runTests` passes; those that only mean something to Electron are let go. */
function readArguments(all: readonly string[]): Arguments {
  const values = (name: string): string[] =>
    all.filter((each) => each.startsWith(`--${name}=`)).map((each) => each.slice(name.length + 3));
  const one = (name: string): string => {
    const [value] = values(name);
    if (value === undefined) throw new Error(`--${name}=… is missing`);
    return value;
  };
  return {
    extensions: values('extensionDevelopmentPath'),
    tests: one('extensionTestsPath'),
    userData: one('user-data-dir'),
    folder: all.find((each) => !each.startsWith('-')),
  };
}

async function main(): Promise<number> {
  const { extensions, tests, userData, folder } = readArguments(process.argv.slice(2));
  const host = serverHostFromEnvironment();
  await mkdir(userData, { recursive: true });
  await mkdir(resultsFolder, { recursive: true });
  const name = `extension-${process.env.HANDSHAKE_TEST_NAME || 'tests'}-${host.name}`;
  const log = createWriteStream(join(resultsFolder, `${name}.log`));
  const env = { ...process.env, HANDSHAKE_TEST_MARK: outputMark };
  await writeUserSettings(serverUserData(userData), await readUserSettings(userData));
  // A page takes one extension as under development, the last; the others stand there as installed.
  const [developed, ...installed] = extensions;
  await installUnpacked(userData, installed);
  const server = await VscodeServer.start({ host, dataFolder: userData, env, automation: true });
  const browser = await launchChromium();
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    await blockOutside(context);
    if (process.env.HANDSHAKE_TEST_SECRETS !== 'forgotten') await keepSecrets(context);
    const page = await context.newPage();
    const url = workbenchUrl({
      server,
      folder,
      extensions: developed === undefined ? [] : [developed],
      tests,
    });
    try {
      const code = await runTestsIn(page, server, url, (line) => log.write(line));
      if (code !== 0) await keepEvidence(page, name);
      return code;
    } catch (error) {
      await keepEvidence(page, name);
      throw error;
    }
  } finally {
    await browser.close();
    await server.stop();
    await new Promise<void>((resolve) => log.end(resolve));
  }
}

/** Opens the window, prints what its tests say and records the rest, and resolves with the code its tests end with. */
function runTestsIn(
  page: Page,
  server: VscodeServer,
  url: string,
  record: (line: string) => void,
): Promise<number> {
  return new Promise<number>((resolve, reject) => {
    const silence = setTimeout(
      () => reject(new Error(`No word from the extension host for ${silenceLimit / 1000} s.`)),
      silenceLimit,
    );
    const log = (type: string, args: unknown[]): void => {
      silence.refresh();
      const text = format(...args);
      if (text.startsWith(outputMark)) console.log(text.replaceAll(outputMark, ''));
      else record(`[${type}] ${text}\n`);
    };
    const exit = (code: number): void => {
      clearTimeout(silence);
      resolve(code);
    };
    const open = async (): Promise<void> => {
      await page.exposeFunction('codeAutomationLog', log);
      await page.exposeFunction('codeAutomationExit', exit);
      await page.goto(url, { timeout: silenceLimit });
    };
    page.on('crash', () => reject(new Error('The page crashed.')));
    void server.ended.then((last) => reject(new Error(`The server ended during the tests:\n${last}`)));
    open().catch(reject);
  });
}

async function keepEvidence(page: Page, name: string): Promise<void> {
  try {
    await page.screenshot({ path: join(resultsFolder, `${name}-failed.png`) });
  } catch (error) {
    console.error(`No screenshot of the failed window: ${messageOf(error)}`);
  }
  console.error(`What else the window said and showed: ${join(resultsFolder, name)}*`);
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(messageOf(error));
    process.exit(1);
  },
);
