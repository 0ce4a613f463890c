import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { shop } from "../end-to-end/actions-examples.ts";
import { eventually } from "../end-to-end/embedded.ts";
import { obstaclesOn } from "./accessibility.ts";
import { openPage, startBrowser, withoutChromium } from "./browser.ts";
import { takePicture } from "./pictures.ts";
import { type Stage, startStage } from "./stage.ts";

/** Every page, and a text that is there only when it shows what it is for. */
const pages: readonly (readonly [name: string, path: string, title: string, shows: string])[] = [
  ["overview", "", "Overview", "Requirement unresolved"],
  ["worlds", "worlds", "Worlds", "weather requires time.source"],
  ["world", "worlds/anvil-demo/stormy-world", "stormy-world", "To mend it:"],
  ["world-bound", "worlds/anvil-demo/anvil-sample-world/0", "anvil-sample-world", "taken"],
  ["class-runtimes", "class-runtimes", "Class runtimes", "media.Thumbnailer"],
  ["class-runtime", "class-runtimes/oaas-demo/greeter", "greeter", "demo.Greeter.count"],
  ["class-runtime-degraded", "class-runtimes/oaas-demo/thumbnailer", "thumbnailer", "exited with code 137"],
  ["versions", "versions/minecraft/survival", "Versions", "bluemap 3.20 supports"],
  ["version-of-plugin", "versions/minecraft/lobby/essentialsx", "Versions", "Supports Minecraft"],
  ["actions", "actions", "Actions", "scale-web"],
  ["action", "actions/shop/scale-web", "scale-web", "What would change"],
  ["services", "services", "Live services", "missing in action"],
  ["browse", "browse/bindings", "All objects", "core-physics-engine"],
  ["object", "plugins/minecraft/bluemap", "bluemap", "resolvedVersion"],
  ["nothing", "browse/workflows", "All objects", "No workflow runs."],
  ["not-here", "no/such/page/at/all", "Not here", "There is no such page"],
];

describe("every page", { skip: withoutChromium, timeout: 600_000 }, () => {
  const ends: (() => unknown)[] = [];
  const context = { after: (end: () => unknown): void => void ends.push(end) };
  let stage: Stage;
  let browser: Browser;
  before(async () => {
    stage = await startStage(context as never);
    browser = await startBrowser(context as never);
    await stage.askFor("scale-web", 5);
    await eventually(
      () => stage.cluster.admin.get(KubernetesExecution, { namespace: shop, name: "scale-web" }),
      ({ status }) => assert.equal(status?.phase, "waiting_approval"),
    );
  });
  after(async () => {
    for (const end of ends.toReversed()) await end();
  });

  for (const colorScheme of ["light", "dark"] as const)
    test(`in the ${colorScheme}: shows its matter, and nothing that bars anybody`, async (context) => {
      const { page, complaints } = await openPage(browser, { colorScheme });
      await page.goto(stage.linkFor("bob"));
      for (const [name, path, title, shows] of pages)
        await context.test(name, async () => {
          await page.goto(`${stage.url}/#/${path}`);
          await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
          await page.getByText(shows).first().waitFor({ state: "attached" });
          assert.deepEqual(await obstaclesOn(page), []);
          await takePicture(page, `${name}-${colorScheme}`);
        });
      assert.deepEqual(complaints, []);
      await page.context().close();
    });

  test("fits a phone and a wide screen, and the menu opens", async () => {
    for (const width of [360, 768, 2560]) {
      const { page } = await openPage(browser, { width, height: 800 });
      await page.goto(stage.linkFor("bob"));
      for (const [name, path, title] of pages) {
        await page.goto(`${stage.url}/#/${path}`);
        await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
        const overflow = await page.evaluate<number>(
          "document.documentElement.scrollWidth - document.documentElement.clientWidth",
        );
        assert.ok(overflow <= 0, `${name} is ${overflow}px too wide for ${width}px`);
        if (width === 360 && name === "overview") await takePicture(page, "overview-phone");
      }
      const menu = page.getByRole("button", { name: "Menu" });
      if (width < 800) {
        await menu.click();
        await page.getByRole("link", { name: "Live services" }).click();
        await page.getByRole("heading", { level: 1, name: "Live services" }).waitFor();
        await page.getByRole("button", { name: "Menu", expanded: false }).waitFor();
      } else assert.equal(await menu.isVisible(), false);
      await page.context().close();
    }
  });

  test("sign-in tells how, takes a token, and says why not", async () => {
    const { page } = await openPage(browser);
    await page.goto(stage.url);
    await page.getByRole("heading", { level: 1, name: "Sign in to Capstan" }).waitFor();
    assert.deepEqual(await obstaclesOn(page), []);
    await takePicture(page, "sign-in-light");
    await page.getByLabel("Bearer token").fill("nobody-knows-this");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("The cluster does not accept this token").waitFor();
    await page.getByLabel("Bearer token").fill("carol");
    await page.getByLabel("Bearer token").press("Enter");
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await page.getByText("carol", { exact: true }).waitFor();
    assert.equal(await page.evaluate("document.cookie"), "", "no script can read the session");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { level: 1, name: "Sign in to Capstan" }).waitFor();

    const link = stage.linkFor("bob");
    await page.goto(link);
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await page.context().clearCookies();
    await page.goto(link);
    await page.getByText("That link has been used or is too old.").waitFor();
    await page.context().close();
  });
});
