import { KubernetesExecution } from "../../../src/api/kubernetes-execution.ts";
import { specHashOf } from "../../../src/controllers/action-executor/spec-hash.ts";
import { done } from "../../../src/runtime/result.ts";
import { actions } from "../stories/actions.ts";
import { approvals } from "../stories/approvals.ts";
import { classes } from "../stories/classes.ts";
import { services } from "../stories/services.ts";
import { worlds } from "../stories/worlds.ts";
import type { Mutant } from "./mutants.ts";
import { bodyOf, changing, isAbout, withBody } from "./transports.ts";
import { checkingTheFirst, seeing, trustingTheCache, withoutFence } from "./views.ts";

const a = "a" as const;

/** What is believed of the API, what actions and approvals promise, and the registry. */
export const actionAndRegistryMutants: readonly Mutant[] = [
  {
    name: "writes a status for whatever version is there by now",
    ...{ story: worlds, seed: 6, killedBy: /^P15/ },
    plan: [
      { kind: "Wire", who: a, atMs: 20_000, fault: "Late", times: 20 },
      { kind: "Intruder", atMs: 5_000, forMs: 140_000, version: "same" },
    ],
    transport: withoutFence("worldinstances"),
  },
  {
    name: "takes a Job for absent that it has not heard of",
    ...{ story: actions, seed: 1, killedBy: /^P12/ },
    // The one that takes over was not told of the Job that the other made before it was stopped, and finds its validation old.
    plan: [
      { kind: "Wire", who: "b", atMs: 4_440, fault: "Silent", times: 1 },
      { kind: "Pause", who: a, atMs: 4_450, forMs: 120_000 },
      { kind: "Pause", who: "b", atMs: 10_000, forMs: 32_000 },
    ],
    relistEveryMs: 3_600_000,
    transport: trustingTheCache("jobs"),
  },
  {
    name: "looks at the first of two children only",
    ...{ story: classes, seed: 1, killedBy: /^P20/ },
    plan: [{ kind: "Crash", who: a, atWrite: 27, point: "after" }],
    transport: checkingTheFirst("deployments", "services"),
  },
  {
    name: "cleans up only what it saw being deleted",
    ...{ story: classes, seed: 1, killedBy: /^P1 / },
    plan: [{ kind: "Pause", who: a, atMs: 42_000, forMs: 25_000 }],
    controller: (controller) => {
      const alive = new Set<string>();
      return {
        ...controller,
        reconcile: async (request, context) => {
          const object = context.read.get(controller.options.reconciles, request.key);
          const { uid = "", deletionTimestamp } = object?.metadata ?? {};
          if (deletionTimestamp === undefined) alive.add(uid);
          return alive.has(uid) ? controller.reconcile(request, context) : done;
        },
      };
    },
  },
  {
    name: "takes any approval for one of what it runs",
    ...{ story: approvals, seed: 2, plan: [], killedBy: /^P10/ },
    transport: seeing(KubernetesExecution.plural, (object) => {
      const { status, spec } = object as KubernetesExecution;
      if (!status?.approval) return object;
      const approval = { ...status.approval, specHash: specHashOf(spec) };
      return { ...object, status: { ...status, approval } } as KubernetesExecution;
    }),
  },
  {
    name: "lets whoever asked approve it",
    ...{ story: approvals, seed: 3, plan: [], killedBy: /^P10/ },
    transport: seeing(KubernetesExecution.plural, (object) => {
      const { status } = object as KubernetesExecution;
      if (!status?.approval) return object;
      return { ...object, status: { ...status, approval: { ...status.approval, by: "bob" } } } as KubernetesExecution;
    }),
  },
  {
    name: "drops a row of the trail that could not be written",
    ...{ story: actions, seed: 1, plan: [], killedBy: /^P11/ },
    trail: (trail) => {
      let appends = 0;
      return { append: async (records) => (++appends % 5 === 0 ? records.length : trail.append(records)) };
    },
  },
  {
    name: "does not keep a Job until its result was read",
    ...{ story: actions, seed: 1, killedBy: /^P9/ },
    plan: [{ kind: "Pause", who: a, atMs: 4_480, forMs: 12_000 }],
    transport: changing(
      (request) => isAbout(request, "POST", "jobs"),
      (request) => {
        const { metadata, spec, ...rest } = bodyOf(request) as { metadata: object; spec: object };
        const short = { ...spec, ttlSecondsAfterFinished: 1 };
        return withBody(request, { ...rest, metadata: { ...metadata, finalizers: [] }, spec: short });
      },
    ),
  },
  {
    name: "has a second entry for who registers twice",
    ...{ story: services, seed: 1, plan: [], killedBy: /^P(4|20)/ },
    registration: ({ id: _, ...target }, env) => ({ ...target, port: 1 + Math.floor(env.random() * 60_000) }),
  },
  {
    name: "waits twice as long until a silent service is missing",
    ...{ story: services, seed: 1, plan: [], killedBy: /^P18/ },
    registry: { missingAfterMs: 30_000, deregisterAfterMs: 80_000 },
  },
];
