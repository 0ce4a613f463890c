import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { ClassRuntime } from "../../../api/class-runtime.ts";
import { findCondition } from "../../../kube/condition.ts";
import type { KubeObject } from "../../../kube/object.ts";
import { manualEnv } from "../../../testing/manual-env.ts";
import { childKindOf } from "../child-kinds.ts";
import { evaluate, type Observation } from "../evaluate.ts";
import { classFunction, classRuntime } from "../example-class.ts";
import { reduce } from "../reduce.ts";
import { type ClassRuntimeSettings, defaultSettings } from "../settings.ts";
import { builtinTemplates } from "../templates/catalogue.ts";
import { Unsaid } from "../unsaid.ts";
import { queriesFor, recommend, reduceAnalysis } from "./analysis.ts";
import { type DecisionInput, decide } from "./decision.ts";
import { createPrometheus } from "./prometheus.ts";
import { cpuSize, isWorthwhile, memoryAlwaysAbove, memorySize } from "./sizes.ts";

const start = Date.parse("2026-05-01T12:00:00Z");
const at = (seconds: number): Date => new Date(start + seconds * 1000);
const iso = (seconds: number): string => `${at(seconds).toISOString().slice(0, 19)}Z`;

describe("the decision", () => {
  const base: DecisionInput = {
    mode: "enforce",
    previousTarget: 3,
    newTarget: 3,
    lastChangeAt: at(0),
    now: at(180),
    stabilityMs: 180_000,
    cooldownMs: 120_000,
    minimum: 1,
    maximum: 20,
  };
  const cases: readonly (readonly [string, Partial<DecisionInput>, object])[] = [
    ["off is skipped", { mode: "off" }, { kind: "SkipMode" }],
    ["observe is skipped, whatever the rest says", { mode: "observe", previousTarget: 1 }, { kind: "SkipMode" }],
    [
      "a stable target is applied and cools down",
      {},
      { kind: "Apply", target: 3, clamped: false, cooldownUntil: at(300) },
    ],
    [
      "a new target waits, from now on",
      { previousTarget: 2 },
      { kind: "WaitStability", target: 3, clamped: false, changed: true, waitMs: 180_000 },
    ],
    [
      "one second is missing",
      { now: at(179) },
      { kind: "WaitStability", target: 3, clamped: false, changed: false, waitMs: 1_000 },
    ],
    [
      "the cooldown is asked before stability",
      { now: at(10), cooldownUntil: at(60) },
      { kind: "WaitCooldown", target: 3, clamped: false, waitMs: 50_000 },
    ],
    [
      "the cooldown is over at its second",
      { cooldownUntil: at(180) },
      { kind: "Apply", target: 3, clamped: false, cooldownUntil: at(300) },
    ],
    [
      "too many are clamped",
      { newTarget: 99, previousTarget: 20 },
      { kind: "Apply", target: 20, clamped: true, cooldownUntil: at(300) },
    ],
    [
      "too few are clamped",
      { newTarget: 0, previousTarget: 1 },
      { kind: "Apply", target: 1, clamped: true, cooldownUntil: at(300) },
    ],
    [
      "a clamped target that did not move is no change",
      { newTarget: 50, previousTarget: 20, now: at(1) },
      { kind: "WaitStability", target: 20, clamped: true, changed: false, waitMs: 179_000 },
    ],
    [
      "a change is asked before the cooldown",
      { previousTarget: 2, cooldownUntil: at(900) },
      { kind: "WaitStability", target: 3, clamped: false, changed: true, waitMs: 180_000 },
    ],
  ];
  for (const [name, changes, expected] of cases)
    test(name, () => assert.deepEqual(decide({ ...base, ...changes }), expected));
});

test("sizes move in steps of at most a quarter, inside their bounds", () => {
  const mebi = 1024 * 1024;
  const sizes = [
    memorySize(1000 * mebi, 4, undefined),
    memorySize(1000 * mebi, 1, 128 * mebi),
    memorySize(1, 1, undefined),
  ];
  assert.deepEqual(
    sizes.map((size) => [size.goalBytes / mebi, size.requestBytes / mebi, size.limitBytes / mebi]),
    [
      [256, 256, 384],
      [1008, 160, 240],
      [64, 64, 128],
    ],
  );
  assert.deepEqual(cpuSize(1000, 2, undefined), { goalMillis: 500, requestMillis: 500 });
  assert.deepEqual(cpuSize(1000, 2, 200), { goalMillis: 500, requestMillis: 250 });
  // The goal decides whether it is worth a step, not the step: 96 to 112 is little, 96 to 128 is not.
  const worthwhile = (current: number, goal: number) => isWorthwhile(current * mebi, goal * mebi, memoryAlwaysAbove);
  assert.deepEqual([worthwhile(96, 128), worthwhile(112, 128), worthwhile(1000, 1064)], [true, false, true]);
});

const enforcing: ClassRuntimeSettings = {
  ...defaultSettings,
  features: { ...defaultSettings.features, nfrEnforcement: true },
};
const enforcedClass = (status: ClassRuntime["status"]): ClassRuntime => ({
  ...classRuntime("cart", { enforcement: { mode: "enforce", dimensions: ["replicas"] } }),
  status: { phase: "available", phase_since: iso(-100), observed_generation: 1, ...status },
});

function observe(given: ClassRuntime, seconds: number, settings = enforcing, replicas = 1): Observation {
  const empty: Observation = {
    classRuntime: given,
    now: at(seconds),
    settings,
    templates: builtinTemplates,
    platform: { knative: false, serviceMonitors: false },
    routers: [],
    children: [],
    pods: [],
  };
  const children = evaluate(empty).wanted.map(({ kind, object }) => {
    const { spec } = object as unknown as { spec: object };
    const status = { observedGeneration: 1, updatedReplicas: replicas, availableReplicas: replicas };
    const made = { ...object, spec: { ...spec, replicas }, metadata: { ...object.metadata, generation: 1 }, status };
    return { kind: childKindOf(kind), object: made as unknown as KubeObject };
  });
  return { ...empty, children };
}

describe("enforcement", () => {
  const look = (given: ClassRuntime, seconds: number, settings = enforcing, replicas = 1) => {
    const observation = observe(given, seconds, settings, replicas);
    const decision = evaluate(observation);
    const { changes, verdict, notes } = decision.enforcement;
    const enforced = changes.map((change) => ({ ok: true as const, change }));
    const { status } = reduce(observation, decision, {
      applied: [],
      removed: [],
      orphans: [],
      refusals: [],
      unserved: [],
      enforced,
    });
    return { status, changes, verdict, notes: notes.map(({ reason }) => reason), next: { ...given, status } };
  };

  test("a recommendation waits to be stable, is applied, is in force, and survives restarts on the way", () => {
    const given = enforcedClass({ nfr_recommendations: { replicas: 3 } });
    const first = look(given, 0);
    assert.equal(first.verdict?.reason, "WaitStability");
    assert.deepEqual(first.notes, ["NFRSkippedStability"]);
    const again = look(first.next, 60);
    assert.deepEqual([again.verdict?.reason, again.notes], ["WaitStability", []]);
    assert.equal(again.status, first.next.status);
    const applied = look(again.next, 180);
    assert.deepEqual(
      applied.changes.map(({ target, holders }) => [target, holders.map(({ values }) => values)]),
      [[3, [{ replicas: 3 }]]],
    );
    assert.deepEqual(applied.status.last_applied_recommendations, [
      {
        component: "function",
        dimension: "replicas",
        target: 3,
        basis: "enforcer",
        confidence: 1,
        applied_at: iso(180),
      },
    ]);
    assert.equal(applied.status.last_applied_at, iso(180));
    assert.equal(findCondition(applied.status.conditions, "NfrEnforced")?.status, "True");
    const inForce = look(applied.next, 1000, enforcing, 3);
    assert.deepEqual([inForce.changes, inForce.verdict?.reason], [[], "Applied"]);
    assert.equal(inForce.status.last_applied_recommendations?.length, 1);
    assert.deepEqual(inForce.status.nfr_recommendations, { replicas: 3 });
  });

  test("after a change the next one waits for the cooldown, and says so once", () => {
    const given = enforcedClass({
      nfr_recommendations: { replicas: 5 },
      nfr_enforcement_state: { replicas: { target: 5, last_change_at: iso(-500), cooldown_until: iso(60) } },
    });
    const waiting = look(given, 0, enforcing, 3);
    assert.deepEqual([waiting.verdict?.reason, waiting.notes], ["WaitCooldown", ["NFRSkippedCooldown"]]);
    assert.deepEqual(look(waiting.next, 30, enforcing, 3).notes, []);
    assert.equal(look(waiting.next, 60, enforcing, 3).changes.length, 1);
  });

  const state = { replicas: { target: 3, last_change_at: iso(-500) } };
  const gates: readonly (readonly [string, ClassRuntime, Partial<ClassRuntimeSettings["enforcement"]>, string])[] = [
    ["nothing is recommended", enforcedClass({}), {}, "NoRecommendation"],
    [
      "the class is not available",
      enforcedClass({ phase: "progressing", nfr_recommendations: { replicas: 3 } }),
      {},
      "NotAvailable",
    ],
    [
      "the class is degraded for another reason",
      enforcedClass({ phase: "degraded", nfr_recommendations: { replicas: 3 } }),
      {},
      "NotAvailable",
    ],
    [
      "the recommendation is too old",
      enforcedClass({
        nfr_recommendations: { replicas: 3 },
        nfr_enforcement_state: state,
        nfr_recommendation_details: { replicas: { observed_at: iso(-700), observed_generation: 1 } },
      }),
      {},
      "RecommendationStale",
    ],
    [
      "the recommendation is for another spec",
      enforcedClass({
        nfr_recommendations: { replicas: 3 },
        nfr_recommendation_details: { replicas: { observed_at: iso(0), observed_generation: 0 } },
      }),
      {},
      "RecommendationStale",
    ],
  ];
  for (const [name, given, bounds, reason] of gates) {
    test(`nothing is changed when ${name}`, () => {
      const settings = { ...enforcing, enforcement: { ...enforcing.enforcement, ...bounds } };
      const { changes, verdict } = look(given, 0, settings);
      assert.deepEqual([changes, verdict?.reason], [[], reason]);
    });
  }

  test("memory needs confidence, cpu a load, and odgm_replicas is only recommended", () => {
    const reasonOf = (dimension: string, detail: object): string | undefined => {
      const given: ClassRuntime = {
        ...classRuntime("cart", { enforcement: { mode: "enforce", dimensions: [dimension] } }),
        status: {
          phase: "available",
          observed_generation: 1,
          nfr_recommendations: { [dimension]: 1_000_000_000 },
          nfr_recommendation_details: { [dimension]: { observed_at: iso(0), observed_generation: 1, ...detail } },
        },
      };
      return look(given, 0).verdict?.reason;
    };
    assert.equal(reasonOf("memory", { confidence: 0.3 }), "LowConfidence");
    assert.equal(reasonOf("memory", { confidence: 0.6 }), "WaitStability");
    assert.equal(reasonOf("cpu", { confidence: 0.6 }), "NotEnforceable");
    assert.equal(reasonOf("cpu", { confidence: 0.6, load: 0.95 }), "NotEnforceable");
    assert.equal(reasonOf("cpu", { confidence: 0.6, load: 0.5 }), "WaitStability");
    assert.equal(reasonOf("odgm_replicas", {}), "NotEnforceable");
  });

  test("replicas move by no more than the configured number at once", () => {
    const given = enforcedClass({
      nfr_recommendations: { replicas: 12 },
      nfr_enforcement_state: { replicas: { target: 12, last_change_at: iso(-500) } },
    });
    const settings = { ...enforcing, enforcement: { ...enforcing.enforcement, maxReplicaDelta: 4 } };
    assert.deepEqual(look(given, 0, settings, 2).changes[0]?.holders[0]?.values, { replicas: 6 });
  });

  test("a failed change degrades the class, is tried again later, and its success heals it", () => {
    const given = enforcedClass({ nfr_recommendations: { replicas: 3 }, nfr_enforcement_state: state });
    const observation = observe(given, 0);
    const decision = evaluate(observation);
    const enforced = decision.enforcement.changes.map((change) => ({
      ok: false as const,
      change,
      reason: "EnforceConflict" as const,
      message: "taken",
    }));
    const failed = reduce(observation, decision, {
      applied: [],
      removed: [],
      orphans: [],
      refusals: [],
      unserved: [],
      enforced,
    });
    assert.equal(failed.status.phase, "degraded");
    assert.equal(failed.assessment.degraded?.reason, "EnforceConflict");
    assert.equal(findCondition(failed.status.conditions, "NfrEnforced")?.reason, "EnforceConflict");
    assert.deepEqual(failed.status.nfr_recommendations, { replicas: 3 });
    const sick: ClassRuntime = { ...given, status: failed.status };
    const waiting = look(sick, 1);
    assert.equal(waiting.status.phase, "degraded");
    assert.equal(findCondition(waiting.status.conditions, "NfrEnforced")?.reason, "EnforceConflict");
    const healed = look(sick, 5);
    assert.equal(healed.changes.length, 1);
    assert.equal(healed.status.phase, "progressing");
  });
});

describe("analysis", () => {
  const entry = (service: string, template = "dev") => ({
    function_key: service,
    service,
    port: 80,
    predicted_url: "http://x/",
    template,
  });
  const measured = (functions: ReturnType<typeof entry>[]): ClassRuntime => ({
    ...classRuntime("cart"),
    status: { functions },
  });

  test("queries are upstream's, and match no pod of another class", () => {
    const dev = queriesFor(measured([entry("cart")]));
    assert.deepEqual(dev, {
      p99Ms:
        '1000 * histogram_quantile(0.99, sum(rate(http_server_requests_seconds_bucket{oaas_owner="cart",namespace="shop"}[5m])) by (le))',
      cpuMillis:
        '1000 * sum(rate(container_cpu_usage_seconds_total{namespace="shop", pod=~"cart-[a-z0-9]+-[a-z0-9]+", container!=""}[5m]))',
      memoryBytes:
        'sum(container_memory_working_set_bytes{namespace="shop", pod=~"cart-[a-z0-9]+-[a-z0-9]+", container!=""})',
    });
    const knative = queriesFor(measured([entry("cart-fn-0", "knative"), entry("cart-fn-1", "knative")]));
    assert.equal(
      knative?.rps,
      'sum(rate(activator_request_count{namespace_name="shop", configuration_name=~"cart-fn-0|cart-fn-1"}[1m]))',
    );
  });

  const cases: readonly (readonly [
    string,
    Parameters<typeof classRuntime>[1],
    Parameters<typeof recommend>[1],
    object,
  ])[] = [
    ["without a target cpu decides", {}, { cpuMillis: 1200 }, { replicas: 3, cpu: 1560 }],
    [
      "with a target it grows with it",
      { nfr_requirements: { min_throughput_rps: 100 } },
      { cpuMillis: 500, rps: 50 },
      { replicas: 2, cpu: 650 },
    ],
    [
      "a target without traffic changes nothing",
      { nfr_requirements: { min_throughput_rps: 100 } },
      { cpuMillis: 500, rps: 0 },
      { replicas: 1, cpu: 650 },
    ],
    [
      "slow answers add one",
      {},
      { cpuMillis: 200, p99Ms: 251, memoryBytes: 1000 },
      { replicas: 2, cpu: 260, memory: 1200 },
    ],
    [
      "a latency of one's own counts",
      { nfr_requirements: { max_latency_ms: 50 } },
      { cpuMillis: 200, p99Ms: 60 },
      { replicas: 2, cpu: 260 },
    ],
    [
      "several functions share the load",
      { functions: [classFunction("a"), classFunction("b")] },
      { cpuMillis: 2000 },
      { replicas: 2, cpu: 2600 },
    ],
    ["nothing measured, nothing said", {}, {}, {}],
  ];
  for (const [name, spec, values, expected] of cases) {
    test(name, () => assert.deepEqual(recommend(classRuntime("cart", spec), values, 500), expected));
  }

  test("Prometheus is asked for a range, then for now, and trouble has a name", async () => {
    const asked: string[] = [];
    const answers: Record<string, unknown> = {
      query_range: {
        status: "success",
        data: {
          result: [
            {
              values: [
                [1, "2"],
                [2, "NaN"],
                [3, "4"],
              ],
            },
          ],
        },
      },
      query: { status: "success", data: { result: [{ value: [1, "7"] }] } },
    };
    const prometheus = createPrometheus({
      env: manualEnv({ start: at(0) }),
      async http({ target }) {
        const url = new URL(target, "http://p");
        asked.push(`${url.pathname} ${[...url.searchParams.keys()].join()}`);
        const body = Buffer.from(JSON.stringify(answers[url.pathname.split("/").at(-1) ?? ""]));
        return {
          status: 200,
          headers: {},
          body: (async function* () {
            yield body;
          })(),
        };
      },
    });
    const { signal } = new AbortController();
    assert.equal(await prometheus.value("up", signal), 3);
    answers["query_range"] = { status: "success", data: { result: [] } };
    assert.equal(await prometheus.value("up", signal), 7);
    assert.deepEqual(asked, [
      "/api/v1/query_range query,start,end,step",
      "/api/v1/query_range query,start,end,step",
      "/api/v1/query query",
    ]);
    answers["query_range"] = { status: "error", error: "parse error" };
    await assert.rejects(prometheus.value("up", signal), /query_range was answered with 200: parse error/);
  });
});

test("two writers that interleave in any way lose nothing", () => {
  const step = fc.record({
    writer: fc.constantFrom("reconcile", "analyzer", "stranger"),
    delay: fc.nat(3),
    value: fc.integer({ min: 1, max: 9 }),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 25 }), (steps) => {
      // A store that refuses a write whose version is not the latest, as the API does.
      let stored = { version: 0, object: enforcedClass({ nfr_enforcement_state: {} }) };
      const waiting: {
        readonly due: number;
        readonly version: number;
        readonly status: ClassRuntime["status"];
        readonly note: () => void;
      }[] = [];
      let lastRecommended: number | undefined;
      let applied = 0;
      let strangers = 0;
      const deliver = (tick: number): void => {
        for (const write of waiting.splice(0)) {
          if (write.due > tick) waiting.push(write);
          else if (write.version === stored.version) {
            stored = {
              version: stored.version + 1,
              object: { ...stored.object, ...(write.status && { status: write.status }) },
            };
            write.note();
          }
        }
      };
      const unsaid = new Unsaid();
      let replicas = 1;
      const reconcile = (object: ClassRuntime, version: number, due: number, tick: number): void => {
        const observation = observe(object, tick * 200, enforcing, replicas);
        const decision = evaluate(observation);
        const enforced = decision.enforcement.changes.map((change) => ({ ok: true as const, change }));
        for (const { target } of decision.enforcement.changes) replicas = target;
        applied += enforced.length;
        const outcome = unsaid.add("cart", {
          applied: [],
          removed: [],
          orphans: [],
          refusals: [],
          unserved: [],
          enforced,
        });
        const { status } = reduce(observation, decision, outcome);
        waiting.push({ due, version, status, note: () => unsaid.told("cart") });
      };
      steps.forEach(({ writer, delay, value }, tick) => {
        deliver(tick);
        const { object, version } = stored;
        const due = tick + delay;
        if (writer === "analyzer") {
          const status = reduceAnalysis(object, { replicas: value }, undefined, 1, at(tick));
          waiting.push({
            due,
            version,
            status,
            note: () => {
              lastRecommended = value;
            },
          });
        } else if (writer === "stranger") {
          const status = {
            ...object.status,
            conditions: [
              ...(object.status?.conditions ?? []).filter(({ type }) => type !== "Unknown"),
              {
                type: "Unknown",
                status: "True" as const,
                reason: `S${strangers}`,
                message: "",
                lastTransitionTime: iso(tick),
              },
            ],
          };
          waiting.push({
            due,
            version,
            status,
            note: () => {
              strangers++;
            },
          });
        } else {
          reconcile(object, version, due, tick);
        }
      });
      deliver(Number.POSITIVE_INFINITY);
      // Whoever was too late looks again.
      reconcile(stored.object, stored.version, 0, steps.length);
      deliver(Number.POSITIVE_INFINITY);
      const { status } = stored.object;
      assert.equal(status?.nfr_recommendations?.["replicas"], lastRecommended);
      assert.equal(status?.last_applied_recommendations?.length ?? 0, applied);
      if (strangers > 0) assert.ok(status?.conditions?.some(({ type }) => type === "Unknown"));
      const types = (status?.conditions ?? []).map(({ type }) => type);
      assert.equal(new Set(types).size, types.length);
    }),
    { numRuns: 300 },
  );
});
