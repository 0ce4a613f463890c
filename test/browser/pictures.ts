import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";

const folder = join(import.meta.dirname, "../../docs/images");

/** Pictures for the documents are taken on demand only: `CAPSTAN_PICTURES=1 npm run test:machine -- test/browser`. */
export const wantsPictures = process.env["CAPSTAN_PICTURES"] === "1";

/** WebP by the browser's own encoder: a third of the size of PNG. */
export async function takePicture(page: Page, name: string): Promise<void> {
  if (!wantsPictures) return;
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 82 });
  await session.detach();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.webp`), Buffer.from(data, "base64"));
}
