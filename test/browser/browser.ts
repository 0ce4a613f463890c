import { existsSync } from "node:fs";
import type { TestContext } from "node:test";
import { type Browser, chromium, type Page } from "playwright-core";

/** Where Debian, Ubuntu, Fedora and macOS put it. */
const places = [
  process.env["CAPSTAN_CHROMIUM"],
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

export const chromiumPath: string | undefined = places.find((path) => path !== undefined && existsSync(path));
export const withoutChromium =
  chromiumPath === undefined && "needs Chromium: install the package `chromium`, or name it in CAPSTAN_CHROMIUM";

export async function startBrowser(context: Pick<TestContext, "after">): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: chromiumPath ?? "", args: ["--no-sandbox"] });
  context.after(() => browser.close());
  return browser;
}

export interface PageOptions {
  readonly colorScheme?: "light" | "dark";
  readonly width?: number;
  readonly height?: number;
}

/** A page in a browser profile of its own; whatever it complains about is kept. */
export async function openPage(
  browser: Browser,
  { colorScheme = "light", width = 1360, height = 900 }: PageOptions = {},
): Promise<{ readonly page: Page; readonly complaints: string[] }> {
  const profile = await browser.newContext({ colorScheme, viewport: { width, height }, reducedMotion: "reduce" });
  const page = await profile.newPage();
  page.setDefaultTimeout(60_000);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.text().includes("Content Security Policy"))
      complaints.push(message.text());
  });
  return { page, complaints };
}
