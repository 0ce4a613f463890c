// Runs cases against a target, a few at a time, and says for each how it went.
import { type Capability, type Case, Context } from "./case.ts";
import { embeddedTarget, type Target } from "./target.ts";

export type Outcome =
  | { readonly kind: "passed"; readonly name: string }
  | { readonly kind: "failed"; readonly name: string; readonly error: string }
  | { readonly kind: "skipped"; readonly name: string; readonly missing: readonly Capability[] };

export interface SuiteOptions {
  readonly only?: string;
  report(outcome: Outcome): void;
}

export interface SuiteResult {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const casesAtOnce = 4;

export async function runSuite(target: Target, cases: readonly Case[], options: SuiteOptions): Promise<SuiteResult> {
  const available = await capabilitiesOf(target);
  const runId = Math.floor(performance.timeOrigin % 1e7).toString(36);
  const chosen = cases.filter(({ name }) => options.only === undefined || name.includes(options.only));
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const waiting = [...chosen];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const outcome = await runCase(target, next, runId, available);
      counts[outcome.kind]++;
      options.report(outcome);
    }
  };
  await Promise.all(Array.from({ length: casesAtOnce }, worker));
  return counts;
}

/** Capabilities that the embedded server has only with a local node beside it. */
const ofControllers: ReadonlySet<Capability> = new Set([
  "namespace-controller",
  "garbage-collector",
  "workload-controllers",
]);

/** The embedded server alone, and beside a local node for the cases that need controllers: nothing is left out. */
export async function runEmbedded(cases: readonly Case[], options: SuiteOptions): Promise<SuiteResult> {
  const needsNode = ({ needs = [] }: Case): boolean => needs.some((need) => ofControllers.has(need));
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const withNode of [false, true]) {
    const target = await embeddedTarget({ withNode });
    const chosen = cases.filter((each) => needsNode(each) === withNode);
    const { passed, failed, skipped } = await runSuite(target, chosen, options);
    await target.close();
    counts.passed += passed;
    counts.failed += failed;
    counts.skipped += skipped;
  }
  return counts;
}

async function runCase(
  target: Target,
  each: Case,
  runId: string,
  available: ReadonlySet<Capability>,
): Promise<Outcome> {
  const missing = (each.needs ?? []).filter((need) => !available.has(need));
  if (missing.length > 0) return { kind: "skipped", name: each.name, missing };
  const context = new Context(target, runId);
  try {
    await each.run(context);
    return { kind: "passed", name: each.name };
  } catch (error) {
    return { kind: "failed", name: each.name, error: error instanceof Error ? error.message : String(error) };
  } finally {
    await context.cleanUp();
  }
}

/** What the server can do beyond answering requests, found out by asking. */
async function capabilitiesOf(target: Target): Promise<ReadonlySet<Capability>> {
  const found = new Set<Capability>();
  if (target.name === "embedded") found.add("embedded");
  if (["127.0.0.1", "localhost"].includes(new URL(target.server).hostname)) found.add("same-host");
  const answer = await target.send({ method: "GET", path: "/api/v1/namespaces/default/serviceaccounts/default" });
  // Only a running controller manager makes this object.
  if (answer.status === 200) {
    found.add("namespace-controller");
    found.add("garbage-collector");
    found.add("workload-controllers");
  }
  return found;
}
