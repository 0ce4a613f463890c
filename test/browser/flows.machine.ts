import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { Deployment } from "../../src/api/builtin/workloads.ts";
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { ServiceTarget } from "../../src/api/service-target.ts";
import { shop } from "../end-to-end/actions-examples.ts";
import { eventually } from "../end-to-end/embedded.ts";
import { openPage, startBrowser, withoutChromium } from "./browser.ts";
import { classRuntimes, service } from "./objects.ts";
import { takePicture } from "./pictures.ts";
import { type Stage, startStage } from "./stage.ts";

/** Scrolls by itself inside the page, where no question of the test disturbs it. A string: it is typed by the page. */
const scrolledFrames = 240;
const scrollSmoothly = `(async () => {
  const scroller = document.querySelector(".scroller");
  scroller.scrollTop = 0;
  for (let frame = 0; frame < ${scrolledFrames}; frame++) {
    scroller.scrollTop += 700;
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
})()`;

/** Asked from outside again and again: the page's own policy forbids what would wait inside it. */
const becomesTrue = async (page: Page, question: string): Promise<void> =>
  void (await eventually(
    () => page.evaluate(question),
    (answer) => assert.equal(answer, true, question),
  ));

/** Processor time of the page itself, which a busy machine does not change much. */
async function processorMsOf(page: Page, work: () => Promise<unknown>): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const total = async (): Promise<number> => {
    const { metrics } = await session.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1000;
  };
  const before = await total();
  await work();
  const spent = (await total()) - before;
  await session.detach();
  return spent;
}

describe("what people do", { skip: withoutChromium, timeout: 900_000 }, () => {
  const ends: (() => unknown)[] = [];
  const context = { after: (end: () => unknown): void => void ends.push(end) };
  let stage: Stage;
  let browser: Browser;
  before(async () => {
    stage = await startStage(context as never);
    browser = await startBrowser(context as never);
  });
  after(async () => {
    for (const end of ends.toReversed()) await end();
  });

  async function signedIn(who: string, path: string): Promise<Page> {
    const { page } = await openPage(browser);
    await page.goto(stage.linkFor(who));
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await page.goto(`${stage.url}/#/${path}`);
    return page;
  }

  const read = (name: string): Promise<KubernetesExecution> =>
    stage.cluster.admin.get(KubernetesExecution, { namespace: shop, name });

  async function waiting(name: string, replicas: number): Promise<void> {
    await stage.askFor(name, replicas);
    await eventually(
      () => read(name),
      ({ status }) => assert.equal(status?.phase, "waiting_approval", status?.message),
    );
  }

  test("an action is approved by who may, and by nobody else", async (context) => {
    await waiting("grow", 5);

    await context.test("who asked is refused, in the server's words", async () => {
      const page = await signedIn("alice", "actions/shop/grow");
      await page.getByText("Whoever asked for an action cannot approve it.").waitFor();
      await page.getByRole("button", { name: "Approve" }).click();
      await page.getByText("whoever asked for the action cannot approve it").waitFor();
      assert.equal((await read("grow")).status?.approval, undefined);
      await takePicture(page, "action-refused-light");
      await page.context().close();
    });

    await context.test("who may not decide is told what it takes", async () => {
      const page = await signedIn("carol", "actions/shop/grow");
      await page.getByText("RBAC does not let you decide").waitFor();
      assert.equal(await page.getByRole("button", { name: "Approve" }).isDisabled(), true);
      assert.equal(await page.getByRole("button", { name: "Reject" }).isDisabled(), true);
      await page.context().close();
    });

    await context.test("an approver approves, sees it run, and finds it in the trail", async () => {
      const page = await signedIn("bob", "actions/shop/grow");
      await page.getByText("replicas: 3").waitFor();
      await page.getByLabel("Reason").fill("agreed in the morning round");
      await page.getByRole("button", { name: "Approve" }).click();
      await page.getByText("Approved by bob").waitFor();
      await eventually(
        async () => {
          await stage.cluster.runJobs();
          return read("grow");
        },
        ({ status }) => assert.match(status?.phase ?? "", /completed|rollback_ready/),
      );
      const { spec } = await stage.cluster.admin.get(Deployment, { namespace: shop, name: "web" });
      assert.equal(spec.replicas, 5);
      await page.getByText("Deployment shop/web: scaled").waitFor();
      await page.getByText("agreed in the morning round").first().waitFor();
      const trail = page.getByRole("table", { name: "Audit trail" });
      await trail.getByRole("cell", { name: "bob", exact: true }).first().waitFor();
      await trail.getByRole("cell", { name: "executing", exact: true }).waitFor();
      await takePicture(page, "action-done-light");
      await page.context().close();
    });
  });

  test("an action is rejected, with the reason", async () => {
    await waiting("shrink", 1);
    const page = await signedIn("bob", "actions?phase=waiting_approval");
    await page.getByRole("link", { name: "shrink" }).click();
    await page.getByLabel("Reason").fill("not before the weekend");
    await page.getByRole("button", { name: "Reject" }).click();
    await page.getByText("Rejected by bob").waitFor();
    await page.getByText("approval rejected").first().waitFor();
    assert.equal((await read("shrink")).status?.approval?.reason, "not before the weekend");
    await page.context().close();
  });

  test("what happens is seen at once, without a reload", async () => {
    const page = await signedIn("bob", "class-runtimes/oaas-demo/ledger");
    await page.getByText("waiting for bank.Ledger.post").first().waitFor();
    await page.evaluate("globalThis.isStillHere = true");
    const ledger = classRuntimes().find(({ metadata }) => metadata.name === "ledger");
    assert.ok(ledger);
    await stage.put({ ...ledger, status: { phase: "available", message: "everything is ready" } } as never);
    await page.getByText("everything is ready").first().waitFor();
    await page.getByRole("img", { name: /It is available now/ }).waitFor();

    await page.goto(`${stage.url}/#/services`);
    await page.getByText("weather-0").waitFor();
    await stage.put(service(77, "HEALTHY"));
    await page.getByRole("link", { name: "camel-route-77" }).waitFor();
    await stage.put(service(77, "DOWN"));
    await page
      .getByRole("row", { name: /camel-route-77/ })
      .getByText("down")
      .waitFor();
    await page.goto(`${stage.url}/#/`);
    await page.getByText("camel-route-77 at").waitFor();
    assert.equal(await page.evaluate("globalThis.isStillHere"), true);
    await page.context().close();
  });

  test("everything can be reached and done with the keyboard", async () => {
    const page = await signedIn("bob", "services");
    await page.getByText("weather-0").waitFor();
    const focused = (): Promise<string> =>
      page.evaluate("(document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent).trim()");
    const isOutlined = (): Promise<boolean> =>
      page.evaluate("getComputedStyle(document.activeElement).outlineStyle !== 'none'");

    await page.reload();
    await page.getByText("weather-0").waitFor();
    await page.keyboard.press("Tab");
    assert.equal(await focused(), "Skip to the content");
    assert.ok(await isOutlined());
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate("document.activeElement.id"), "main");

    const met: string[] = [];
    while (met.at(-1) !== "weather-0" && met.length < 40) {
      await page.keyboard.press("Tab");
      met.push(await focused());
      assert.ok(await isOutlined(), `the focus on ${met.at(-1)} cannot be seen`);
    }
    assert.ok(
      met.some((name) => name.startsWith("all")),
      "the filters come before the rows",
    );
    assert.ok(met.includes("Find by name"));
    await page.keyboard.press("ArrowDown");
    await becomesTrue(page, "document.activeElement.textContent === 'files-1'");
    await page.keyboard.press("End");
    await becomesTrue(
      page,
      "document.activeElement.closest('tr')?.getAttribute('aria-rowindex') === document.querySelector('table').getAttribute('aria-rowcount')",
    );
    await page.keyboard.press("Home");
    await becomesTrue(page, "document.activeElement.textContent === 'weather-0'");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "st-00000" }).waitFor();
    await becomesTrue(page, "document.activeElement.tagName === 'H1'");

    await page.goto(`${stage.url}/#/worlds/anvil-demo/stormy-world`);
    await page.getByText("To mend it:").waitFor();
    await page.getByRole("link", { name: "core-physics-engine needs time.source from core-time-source" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("taken").waitFor();
    await page.context().close();
  });

  test("a namespace narrows every list, and stays chosen", async () => {
    const page = await signedIn("bob", "");
    await page.getByText("Requirement unresolved").waitFor();
    await page.getByLabel("Namespace").fill("minecraft");
    await page.getByText("Update blocked").waitFor();
    await page.getByText("Requirement unresolved").waitFor({ state: "detached" });
    await page.reload();
    await page.getByText("Update blocked").waitFor();
    assert.equal(await page.getByText("Requirement unresolved").count(), 0);
    await page.getByLabel("Namespace").fill("");
    await page.getByText("Requirement unresolved").waitFor();
    await page.context().close();
  });

  test("what objects say is text and never a page", async () => {
    const hostile = "<img src=x onerror=alert(1)><script>alert(2)</script>";
    const [first] = classRuntimes();
    assert.ok(first);
    const object = { ...first, metadata: { name: "hostile", namespace: "oaas-demo" } };
    await stage.put({ ...object, status: { phase: "degraded", message: hostile } } as never);
    const page = await signedIn("bob", "class-runtimes/oaas-demo/hostile");
    let alerts = 0;
    page.on("dialog", (dialog) => {
      alerts++;
      void dialog.dismiss();
    });
    await page.getByText(hostile).first().waitFor();
    assert.equal(await page.locator("main img, main script").count(), 0);
    const ran = await page.evaluate(`(() => {
      const script = document.createElement("script");
      try { script.textContent = "globalThis.wasRun = true"; document.body.append(script); } catch {}
      return globalThis.wasRun === true;
    })()`);
    assert.equal(ran, false, "the policy lets no inline script run");
    assert.equal(alerts, 0);
    await page.context().close();
  });

  test("ten thousand rows cost no more of the page than fifty", async (context) => {
    const total = 10_000;
    const started = performance.now();
    for (let index = 100; index < 100 + total; index += 50)
      await Promise.all(Array.from({ length: 50 }, (_, at) => stage.put(service(index + at, "HEALTHY"))));
    context.diagnostic(`${total} services were registered in ${Math.round(performance.now() - started)} ms`);
    const page = await signedIn("bob", "services");
    const { items } = await stage.cluster.admin.list(ServiceTarget);
    assert.ok(items.length > total);
    const rowCount = items.length + 1;
    await page.locator(`table[aria-rowcount="${rowCount}"]`).waitFor({ timeout: 120_000 });
    const rows = (): Promise<number> => page.locator("table.virtual tbody tr").count();
    const mostRows: number[] = [];
    await page.locator("table.virtual tbody a").first().focus();
    for (let step = 0; step < 60; step++) {
      await page.keyboard.press("PageDown");
      mostRows.push(await rows());
    }
    await page.keyboard.press("End");
    await becomesTrue(page, `document.activeElement.closest("tr")?.getAttribute("aria-rowindex") === "${rowCount}"`);
    mostRows.push(await rows());
    assert.ok(Math.max(...mostRows) <= 70, `${Math.max(...mostRows)} rows were in the page at once`);

    await stage.put(service(9_999, "DOWN"));
    await page.getByRole("button", { name: /^down/ }).click();
    await page.getByRole("row", { name: /calendar-9999/ }).waitFor();
    await page.getByLabel("Find by name").fill("calendar-9999");
    await page.getByText(`1 of ${items.length}`).waitFor();
    await page.getByLabel("Find by name").fill("");
    await page.getByRole("button", { name: /^all/ }).click();
    const perFrame = (await processorMsOf(page, () => page.evaluate(scrollSmoothly))) / scrolledFrames;
    context.diagnostic(
      `a frame of scrolling takes ${perFrame.toFixed(1)} ms of processor time, at two screens a frame`,
    );
    const change = await processorMsOf(page, async () => {
      await stage.put(service(10_050, "UNHEALTHY"));
      await page.locator(".chip", { hasText: "unhealthy" }).waitFor();
    });
    context.diagnostic(`one change among ${total} takes ${change.toFixed(1)} ms`);
    // A display has 16 ms for a frame; the bound leaves room for a slow machine and none for drawing every row.
    assert.ok(perFrame < 60, `${perFrame} ms for a frame`);
    await takePicture(page, "services-ten-thousand-light");
    await page.context().close();
  });
});
