import { join } from "node:path";
import type { Page } from "playwright-core";

/** What runs inside the page is typed with the page's own library, so it stands with the page's sources. */
const inPage = (await import(join(import.meta.dirname, "../../web/inspect/accessibility.ts"))) as {
  structureProblems(): readonly string[];
  contrastProblems(): readonly string[];
};

/** What a person with a screen reader, a keyboard or tired eyes would stumble over on the page as it is now. */
export async function obstaclesOn(page: Page): Promise<readonly string[]> {
  return [
    ...(await namelessThings(page)),
    ...(await page.evaluate(inPage.structureProblems)),
    ...(await page.evaluate(inPage.contrastProblems)),
  ];
}

const namedRoles = new Set([
  "button",
  "checkbox",
  "combobox",
  "heading",
  "image",
  "img",
  "link",
  "meter",
  "navigation",
  "searchbox",
  "table",
  "textbox",
]);

/** By the names that the browser itself computes for screen readers. */
async function namelessThings(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  await session.detach();
  return nodes.flatMap(({ ignored, role, name, nodeId }) =>
    !ignored && namedRoles.has(role?.value ?? "") && !String(name?.value ?? "").trim()
      ? [`a ${role?.value} has no name (node ${nodeId})`]
      : [],
  );
}
