import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Pod } from "../../api/builtin/pod.ts";
import type { ClassRuntime, ClassRuntimePhase } from "../../api/class-runtime.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { Outcome } from "./act.ts";
import { childKindOf, type ObservedChild } from "./child-kinds.ts";
import { type Decision, evaluate, type Observation } from "./evaluate.ts";
import { classFunction, classRuntime, telemetry } from "./example-class.ts";
import { mayGo } from "./life-cycle.ts";
import type { Anomaly } from "./pod-trouble.ts";
import { reduce } from "./reduce.ts";
import { defaultSettings } from "./settings.ts";
import { builtinTemplates } from "./templates/catalogue.ts";

const now = new Date("2026-05-01T12:00:00Z");
const ago = (ms: number): string => `${new Date(now.getTime() - ms).toISOString().slice(0, 19)}Z`;
const nothing: Outcome = { applied: [], removed: [], orphans: [], refusals: [], unserved: [], enforced: [] };

const observation = (given: ClassRuntime, changes: Partial<Observation> = {}): Observation => ({
  classRuntime: given,
  now,
  settings: defaultSettings,
  templates: builtinTemplates,
  platform: { knative: false, serviceMonitors: false },
  routers: [],
  children: [],
  pods: [],
  ...changes,
});

/** The children as a cluster would have them, all ready or as the change says. */
function childrenOf(
  given: ClassRuntime,
  change: (child: ObservedChild) => ObservedChild | undefined = (child) => child,
) {
  const { wanted } = evaluate(observation(given));
  return wanted.flatMap(({ kind, object }): readonly ObservedChild[] => {
    const status = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1 };
    const made = { ...object, metadata: { ...object.metadata, generation: 1 }, status } as unknown as KubeObject;
    const child = change({ kind: childKindOf(kind), object: made });
    return child ? [child] : [];
  });
}

const inPhase = (phase: ClassRuntimePhase | undefined, sinceMs = 1_000, rest: Partial<ClassRuntime["status"]> = {}) =>
  phase === undefined
    ? {}
    : { status: { phase, phase_since: ago(sinceMs), observed_generation: 1, ...rest } as ClassRuntime["status"] };

function conclude(given: Observation, outcome: Partial<Outcome> = {}) {
  const decision = evaluate(given);
  return { decision, ...reduce(given, decision, { ...nothing, ...outcome }) };
}

const unready = (child: ObservedChild): ObservedChild =>
  child.kind === "Deployment"
    ? { ...child, object: { ...child.object, status: { observedGeneration: 1, availableReplicas: 0 } } as KubeObject }
    : child;

const pod = (app: string, status: Pod["status"], ageMs = 0, name = `${app}-x`): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "shop", labels: { app, "oaas.io/owner": "cart" }, creationTimestamp: ago(ageMs) },
  spec: { containers: [] },
  ...(status && { status }),
});

const container = (state: object, restartCount = 0, lastState: object = {}) => ({
  containerStatuses: [
    { name: "function", ready: false, restartCount, image: "example/echo:1", imageID: "", state, lastState },
  ],
});

describe("phases", () => {
  const cart = classRuntime("cart");
  const conflict: Anomaly = {
    reason: "Conflict",
    message: "Field manager ownership conflict applying Deployment/cart.",
  };
  const timeout = {
    type: "Degraded",
    status: "True" as const,
    reason: "Timeout",
    message: "late",
    lastTransitionTime: ago(1),
  };
  const crash = { ...timeout, reason: "CrashLoop" };
  const readyChildren = childrenOf(cart);
  const unreadyChildren = childrenOf(cart, unready);
  const without = childrenOf(cart, (child) => (child.kind === "Service" ? undefined : child));
  interface Case {
    readonly name: string;
    readonly from: ClassRuntimePhase | undefined;
    readonly sinceMs?: number;
    readonly status?: Partial<ClassRuntime["status"]>;
    readonly children: readonly ObservedChild[];
    readonly pods?: readonly Pod[];
    readonly refusals?: readonly Anomaly[];
    readonly to: ClassRuntimePhase;
    readonly trail?: readonly ClassRuntimePhase[];
    readonly reason?: string;
  }
  const cases: readonly Case[] = [
    {
      name: "the first apply went well",
      from: undefined,
      children: [],
      to: "progressing",
      trail: ["applying", "progressing"],
    },
    {
      name: "the first apply was refused",
      from: undefined,
      children: [],
      refusals: [conflict],
      to: "degraded",
      trail: ["applying", "degraded"],
      reason: "Conflict",
    },
    {
      name: "an installation is taken over",
      from: undefined,
      children: readyChildren,
      to: "progressing",
      trail: ["applying", "progressing"],
    },
    {
      name: "an interrupted apply went well",
      from: "applying",
      children: [],
      status: { observed_generation: 0 },
      to: "progressing",
    },
    { name: "all is ready", from: "progressing", children: readyChildren, to: "available" },
    { name: "nothing is ready yet", from: "progressing", children: unreadyChildren, to: "progressing", trail: [] },
    {
      name: "readiness takes too long",
      from: "progressing",
      sinceMs: 300_000,
      children: unreadyChildren,
      to: "degraded",
      reason: "Timeout",
    },
    {
      name: "a child stays missing",
      from: "progressing",
      sinceMs: 30_000,
      children: without,
      to: "degraded",
      reason: "ChildMissing",
    },
    {
      name: "a field is taken",
      from: "progressing",
      children: unreadyChildren,
      refusals: [conflict],
      to: "degraded",
      reason: "Conflict",
    },
    {
      name: "the spec has changed",
      from: "available",
      status: { observed_generation: 0 },
      children: readyChildren,
      to: "progressing",
    },
    { name: "a child is gone", from: "available", children: without, to: "progressing" },
    { name: "a child is not ready", from: "available", children: unreadyChildren, to: "progressing" },
    {
      name: "a pod crashes",
      from: "available",
      children: unreadyChildren,
      pods: [pod("cart", container({ waiting: { reason: "CrashLoopBackOff" } }, 4))],
      to: "degraded",
      reason: "CrashLoop",
    },
    {
      name: "late and still not ready",
      from: "degraded",
      status: { conditions: [timeout] },
      children: unreadyChildren,
      to: "degraded",
      trail: [],
      reason: "Timeout",
    },
    {
      name: "late and ready at last: through progressing",
      from: "degraded",
      status: { conditions: [timeout] },
      children: readyChildren,
      to: "progressing",
    },
    {
      name: "the crash is over",
      from: "degraded",
      status: { conditions: [crash] },
      children: unreadyChildren,
      to: "progressing",
    },
    {
      name: "a new spec is a new chance",
      from: "degraded",
      status: { conditions: [timeout], observed_generation: 0 },
      children: unreadyChildren,
      to: "progressing",
    },
  ];
  for (const { name, from, sinceMs, status, children, pods, refusals, to, trail, reason } of cases) {
    test(`${from ?? "new"} → ${to}: ${name}`, () => {
      const given: ClassRuntime = { ...cart, ...inPhase(from, sinceMs, status) };
      const result = conclude(observation(given, { children, ...(pods && { pods }) }), {
        ...(refusals && { refusals }),
      });
      assert.equal(result.status.phase, to);
      assert.deepEqual(result.assessment.trail, trail ?? [to]);
      let at: ClassRuntimePhase = from ?? "pending";
      for (const next of result.assessment.trail) {
        assert.ok(mayGo(at, next), `${at} → ${next}`);
        at = next;
      }
      assert.equal(result.assessment.degraded?.reason, reason);
      const isTrue = (type: string) =>
        result.status.conditions?.find((entry) => entry.type === type)?.status === "True";
      assert.deepEqual(
        ["Progressing", "Available", "Degraded"].filter(isTrue),
        to === "progressing" ? ["Progressing"] : to === "available" ? ["Available"] : ["Degraded"],
      );
      assert.equal(result.status.observed_generation, 1);
    });
  }

  test("time is asked for only while something is expected", () => {
    const at = (phase: ClassRuntimePhase, children: readonly ObservedChild[], sinceMs: number) =>
      conclude(observation({ ...cart, ...inPhase(phase, sinceMs) }, { children })).assessment.lookAgainMs;
    assert.equal(at("available", readyChildren, 5_000), undefined);
    assert.equal(at("progressing", unreadyChildren, 100_000), 200_000);
  });

  test("an available class looks again when a pod of a rollout has waited too long", () => {
    const at = (status: Pod["status"], ageMs: number) => {
      const given = { ...cart, ...inPhase("available", 5_000) };
      const pods = [pod("cart", status, ageMs)];
      return conclude(observation(given, { children: readyChildren, pods })).assessment.lookAgainMs;
    };
    assert.equal(at({ phase: "Pending" }, 20_000), 40_000);
    assert.equal(at({ phase: "Running", conditions: [{ type: "Ready", status: "True" }] }, 20_000), undefined);
  });

  test("tries after a refusal become rarer, up to the limit", () => {
    const waits = [0, 5_000, 20_000, 80_000, 1_000_000].map((sinceMs) => {
      const given = { ...cart, ...inPhase("degraded", sinceMs) };
      return conclude(observation(given, { children: readyChildren }), { refusals: [conflict] }).assessment.lookAgainMs;
    });
    assert.deepEqual(waits, [5_000, 5_000, 20_000, 80_000, 300_000]);
  });
});

describe("anomalies of pods", () => {
  const cart = classRuntime("cart");
  const children = childrenOf(cart, unready);
  const cases: readonly (readonly [name: string, Pod, reason: string | undefined, says?: RegExp])[] = [
    ["a pod that starts", pod("cart", container({ waiting: { reason: "ContainerCreating" } })), undefined],
    [
      "a crash loop",
      pod("cart", container({ waiting: { reason: "CrashLoopBackOff" } }, 5)),
      "CrashLoop",
      /^Pod cart-x restart count=5\.$/,
    ],
    [
      "a container that keeps failing, seen while it runs",
      pod("cart", container({ running: { startedAt: ago(1_000) } }, 3)),
      "CrashLoop",
    ],
    ["one restart is no loop", pod("cart", container({ running: { startedAt: ago(1_000) } }, 1)), undefined],
    [
      "killed for lack of memory",
      pod(
        "cart",
        container({ waiting: { reason: "CrashLoopBackOff" } }, 2, {
          terminated: { exitCode: 137, reason: "OOMKilled" },
        }),
      ),
      "OutOfMemory",
    ],
    [
      "an image that cannot be pulled, a moment ago",
      pod("cart", container({ waiting: { reason: "ErrImagePull" } }), 1_000),
      undefined,
    ],
    [
      "an image that cannot be pulled",
      pod("cart", container({ waiting: { reason: "ImagePullBackOff" } }), 60_000),
      "ImagePull",
      /example\/echo:1/,
    ],
    [
      "no node has room",
      pod(
        "cart",
        { conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes" }] },
        60_000,
      ),
      "Unschedulable",
      /0\/3 nodes/,
    ],
    ["a pod of something else", pod("other", container({ waiting: { reason: "CrashLoopBackOff" } }, 5)), undefined],
  ];
  for (const [name, given, reason, says] of cases) {
    test(name, () => {
      const { decision } = conclude(observation(cart, { children, pods: [given] }));
      assert.equal(decision.anomalies[0]?.reason, reason);
      if (says) assert.match(decision.anomalies[0]?.message ?? "", says);
      if (reason) assert.equal(decision.functions[0]?.reason, reason);
    });
  }

  test("pods that a quota forbids", () => {
    const refused = childrenOf(cart, (child) => ({
      ...child,
      object: {
        ...child.object,
        status: {
          conditions: [
            {
              type: "ReplicaFailure",
              status: "True",
              reason: "FailedCreate",
              message: 'pods "x" is forbidden: exceeded quota: small',
            },
          ],
        },
      } as KubeObject,
    }));
    assert.equal(evaluate(observation(cart, { children: refused })).anomalies[0]?.reason, "QuotaExceeded");
  });
});

describe("surplus", () => {
  const old = classRuntime("cart", { functions: [classFunction("a"), classFunction("b")] });
  const children = childrenOf(old);
  const one = classRuntime("cart", { functions: [classFunction("a")] });

  test("what an earlier spec left is removed quietly", () => {
    const { remove, anomalies } = evaluate(observation(one, { children }));
    assert.deepEqual(remove.map(({ object }) => object.metadata.name).sort(), [
      "cart-fn-0",
      "cart-fn-0",
      "cart-fn-1",
      "cart-fn-1",
    ]);
    assert.deepEqual(anomalies, []);
  });

  test("what nobody owns is removed and reported; what a namesake owns is left alone", () => {
    const owned = (uid: string | undefined): ObservedChild[] =>
      childrenOf(old, (child) => {
        const { ownerReferences: _old, ...metadata } = child.object.metadata;
        const [reference] = _old ?? [];
        const owners = uid && reference ? { ownerReferences: [{ ...reference, uid }] } : {};
        return { ...child, object: { ...child.object, metadata: { ...metadata, ...owners } } };
      });
    const unowned = evaluate(observation(one, { children: owned(undefined) }));
    assert.equal(unowned.remove.length, 4);
    assert.equal(unowned.anomalies[0]?.message, "Found unmanaged Deployment/cart-fn-0; cleanup scheduled.");
    assert.deepEqual(evaluate(observation(one, { children: owned("uid-former-cart") })).remove, []);
  });

  test("nothing is removed while the spec cannot be rendered", () => {
    const broken = classRuntime("cart", { functions: [{ function_key: "a" }] });
    const decision = evaluate(observation(broken, { children }));
    assert.deepEqual([decision.remove, decision.apply], [[], []]);
    assert.equal(decision.anomalies[0]?.reason, "ApplyInvalid");
  });
});

describe("what is applied", () => {
  const cart = {
    ...classRuntime("cart", { functions: [classFunction("a", {}, { config: { A: "1" } })] }),
    ...inPhase("available"),
  };
  const applied = (children: readonly ObservedChild[], given: ClassRuntime = cart): readonly string[] =>
    evaluate(observation(given, { children })).apply.map(({ kind, name }) => `${kind}/${name}`);
  const edited = (edit: (object: Record<string, never>) => void): ObservedChild[] =>
    childrenOf(cart, (child) => {
      if (child.kind !== "Deployment") return child;
      const object = structuredClone(child.object);
      edit((object as unknown as { spec: Record<string, never> }).spec);
      return { ...child, object };
    });

  test("nothing at rest, and only the difference for a new spec or a stranger's edit", () => {
    assert.deepEqual(applied(childrenOf(cart)), []);
    const next = { ...cart, metadata: { ...cart.metadata, generation: 2 } };
    const renewed = (definition: ReturnType<typeof classFunction>): readonly string[] =>
      applied(childrenOf(cart), { ...next, spec: { ...cart.spec, functions: [definition] } });
    assert.deepEqual(applied(childrenOf(cart), next), [], "the same children");
    assert.deepEqual(renewed(classFunction("a", { container_image: "i:2" }, { config: { A: "1" } })), [
      "Deployment/cart",
    ]);
    assert.deepEqual(renewed(classFunction("a")), ["Deployment/cart"], "a variable less");
    assert.deepEqual(applied(childrenOf(cart), { ...next, spec: { ...cart.spec, package_class_key: "p.C" } }), [
      "Deployment/cart",
      "Service/cart",
    ]);
    assert.deepEqual(applied(childrenOf(cart, (child) => (child.kind === "Service" ? undefined : child))), [
      "Service/cart",
    ]);
    assert.deepEqual(applied(edited((spec) => Object.assign(spec, { replicas: 3 }))), ["Deployment/cart"]);
  });

  test("what others add is no difference", () => {
    assert.deepEqual(
      applied(
        edited((spec) => {
          const { template } = spec as unknown as { template: { spec: { containers: object[] } } };
          Object.assign(template.spec.containers[0] ?? {}, {
            imagePullPolicy: "Always",
            env: [
              { name: "Z", value: "x" },
              { name: "A", value: "1" },
            ],
          });
          template.spec.containers.push({ name: "sidecar", image: "proxy" });
        }),
      ),
      [],
    );
  });
});

test("what is not wanted any more is taken back, though it looks like something that others have added", () => {
  const cart = { ...classRuntime("cart"), ...inPhase("available") };
  const routers = [{ service: "router", port: 17447 }];
  const made = (given: Partial<Observation>): readonly ObservedChild[] =>
    evaluate(observation(cart, given)).wanted.map(({ kind, object }) => ({
      kind: childKindOf(kind),
      object: object as KubeObject,
    }));
  const applied = (given: Partial<Observation>): readonly string[] =>
    evaluate(observation(cart, given)).apply.map(({ kind, name }) => `${kind}/${name}`);
  assert.deepEqual(applied({ children: made({ routers }), routers }), []);
  assert.deepEqual(applied({ children: made({ routers }) }), ["Deployment/cart"], "the router has gone");
  const platform = { knative: false, serviceMonitors: true };
  assert.deepEqual(
    applied({ children: made({}), platform }),
    ["Service/cart", "ServiceMonitor/cart"],
    "the annotations for scraping have to go",
  );
});

test("telemetry without an endpoint is said to be degraded", () => {
  const given = classRuntime("cart", { telemetry });
  const types = (settings = defaultSettings): Decision | readonly string[] =>
    (conclude(observation(given, { settings })).status.conditions ?? [])
      .filter(({ type }) => type.startsWith("Telemetry"))
      .map(({ type, status, reason }) => `${type}=${status}/${reason}`);
  assert.deepEqual(types(), ["TelemetryConfigured=True/TelemetryEnabled", "TelemetryDegraded=True/NoEndpoint"]);
  assert.deepEqual(types({ ...defaultSettings, telemetry: { enabled: true, endpoint: "http://otel:4317" } }), [
    "TelemetryConfigured=True/TelemetryEnabled",
    "TelemetryDegraded=False/EndpointConfigured",
  ]);
});
