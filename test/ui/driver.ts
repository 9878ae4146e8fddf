import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchChromium } from '../host/chromium';
import { messageOf } from '../host/errors';
import { endProcess, extensionHostPids } from '../host/extension-hosts';
import { type HostName, serverHost, serverHostFromEnvironment } from '../host/hosts';
import {
  copySample,
  makeTempFolder,
  makeTestHome,
  removeFolder,
  resultsFolder,
  root,
  testEnvironment,
} from '../host/paths';
import type { Witness } from '../host/run-mocha';
import { VscodeServer } from '../host/server';
import { installUnpacked } from '../host/unpacked-extensions';
import { serverUserData, type UserSettings, writeUserSettings } from '../host/user-settings';
import { blockOutside, keepSecrets, workbenchUrl } from '../host/workbench-page';
import { patience } from './driver-wait';
import { Workbench } from './driver-workbench';

export interface DriverOptions {
  /** Default: the host that the run was started for, else the newest. */
  host?: HostName;
  /**
   * The folder, or `.code-workspace` file, to open. Default: a fresh copy of the sample workspace. `none`: a window
   * without one.
   */
  folder?: string;
  /** More environment variables for the extension host, which has a home of its own and no model account. */
  env?: Record<string, string>;
  /** User settings (application scope included), there before the window opens. */
  settings?: UserSettings;
  /** Folders of the extensions that are installed. Default: this project's. */
  extensions?: readonly string[];
  /** Default: a free one. Workspace storage hangs on it: fix it, with `dataFolder`, to test a server restart. */
  port?: number;
  /** The server's data. Default: a fresh one, removed in the end. One that is given is kept. */
  dataFolder?: string;
  /** Default true: SecretStorage lasts over reloads. */
  secretsLast?: boolean;
  /** Default true: folders are trusted without asking. */
  trustAll?: boolean;
}

/**
 * A person at a real VS Code: its server on this machine, in a headless browser, with the extension
 * installed. What can be done in the window is inherited from {@link Workbench}.
 */
export class WorkbenchDriver extends Workbench {
  private constructor(
    page: Page,
    /** The folder that is open; undefined in an empty window. */
    readonly folder: string | undefined,
    readonly server: VscodeServer,
    private readonly context: BrowserContext,
    private readonly browser: Browser,
    private readonly dataFolder: string,
    private readonly temp: string,
  ) {
    super(page);
  }

  /** Starts server and browser and resolves when the workbench is there. Close it in the end. */
  static async start(options: DriverOptions = {}): Promise<WorkbenchDriver> {
    const temp = await makeTempFolder('ui');
    const folder = await folderToOpen(options.folder, temp);
    const dataFolder = options.dataFolder ?? join(temp, 'data');
    await mkdir(dataFolder, { recursive: true });
    await writeUserSettings(serverUserData(dataFolder), options.settings ?? {});
    await installUnpacked(dataFolder, options.extensions ?? [root]);
    const server = await VscodeServer.start({
      host: options.host ? serverHost(options.host) : serverHostFromEnvironment(),
      dataFolder,
      port: options.port,
      env: testEnvironment(await makeTestHome(temp), options.env),
      trustAll: options.trustAll,
    });
    const browser = await launchChromium();
    const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
    context.setDefaultTimeout(patience);
    await blockOutside(context);
    if (options.secretsLast ?? true) await keepSecrets(context);
    const page = await context.newPage();
    const driver = new WorkbenchDriver(page, folder, server, context, browser, dataFolder, temp);
    await page.goto(workbenchUrl({ server, folder }));
    await driver.whenReady();
    return driver;
  }

  /** Another window of the same browser: on the same folder, on another, or (`none`) without one. */
  async openWindow(folder = this.folder): Promise<Workbench> {
    const page = await this.context.newPage();
    await page.goto(workbenchUrl({ server: this.server, folder: folder === 'none' ? undefined : folder }));
    const workbench = new Workbench(page);
    await workbench.whenReady();
    return workbench;
  }

  /** Replaces the user's settings and reloads the window, which then has read them for certain. */
  async replaceUserSettings(settings: UserSettings): Promise<void> {
    await writeUserSettings(serverUserData(this.dataFolder), settings);
    await this.reload();
  }

  /**
   * Loads the window anew, with the old extension host gone before the new one starts. A page that is left
   * while it is busy can lose the message that ends its host; the host then waits hours for the page to come
   * back, and VS Code gives the new one another storage folder (`…-1`), as if it were a second window.
   */
  override async reload(): Promise<void> {
    const before = await this.extensionHostPids();
    await this.page.goto('about:blank');
    const left = async (): Promise<number[]> =>
      (await this.extensionHostPids()).filter((pid) => before.includes(pid));
    const others = this.context.pages().length - 1;
    const end = performance.now() + 3_000;
    let waiting = await left();
    while (waiting.length > others && performance.now() < end) waiting = await left();
    // With other windows open there is no telling whose host it is.
    if (others === 0) for (const pid of waiting) endProcess(pid);
    await this.page.goto(workbenchUrl({ server: this.server, folder: this.folder }));
    await this.whenReady();
  }

  /** The process ids of the extension hosts, one for each window (and one more while a window reloads). */
  extensionHostPids(): Promise<number[]> {
    return extensionHostPids(this.server.pid);
  }

  /** Kills the extension hosts hard. Reload afterwards: VS Code gives up restarting after three crashes. */
  async killExtensionHost(): Promise<void> {
    for (const pid of await this.extensionHostPids()) endProcess(pid);
  }

  /** Ends the browser and the server, and removes what was made for them. */
  async close(): Promise<void> {
    await this.browser.close();
    await this.server.stop();
    await removeFolder(this.temp);
  }

  /**
   * Keeps what was to be seen, as a picture and in words, unless the mocha test passed; call it in `afterEach`.
   * @param test `this.currentTest` of the hook
   */
  async witness(
    test: (Witness & { state?: string | undefined; fullTitle(): string }) | undefined,
  ): Promise<void> {
    if (test === undefined || test.state === 'passed') return;
    try {
      test.seen = await this.words();
      await this.screenshot(`failed ${test.fullTitle()}`);
    } catch (error) {
      console.error(`What the failed test saw could not be kept in ${resultsFolder}: ${messageOf(error)}`);
    }
  }
}

async function folderToOpen(wanted: string | undefined, temp: string): Promise<string | undefined> {
  if (wanted === 'none') return undefined;
  if (wanted !== undefined) return wanted;
  const folder = join(temp, 'sample');
  await copySample(folder);
  return folder;
}
