import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const names = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'microsoft-edge',
  'microsoft-edge-stable',
];

const usualPlaces = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  '/snap/bin/chromium',
];

/**
 * The machine's Chromium: `CHROME_PATH`, else the first found on `PATH` or in the usual places.
 * @throws when there is none, with how to get one
 */
export function findChromium(): string {
  const chosen = process.env.CHROME_PATH;
  if (chosen) {
    if (isExecutable(chosen)) return chosen;
    throw new Error(`CHROME_PATH is '${chosen}', which cannot be run. Point it at Chromium, Chrome or Edge.`);
  }
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  const candidates = [
    ...names.flatMap((name) => folders.map((folder) => join(folder, name))),
    ...usualPlaces,
  ];
  const found = candidates.find(isExecutable);
  if (found !== undefined) return found;
  throw new Error(
    'No Chromium found. The tests drive VS Code in one: install Chromium, Chrome or Edge ' +
      '(Debian, as root: apt-get install -y chromium) or name one in CHROME_PATH.',
  );
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // Missing or not executable: either way not one to start.
  }
}

/** Starts the machine's Chromium, headless unless `HANDSHAKE_TEST_HEADED` is set. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: findChromium(),
    headless: !process.env.HANDSHAKE_TEST_HEADED,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'],
    // This process decides when its children end; see processes.ts.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
}
