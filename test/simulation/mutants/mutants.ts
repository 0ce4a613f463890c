import { CapabilityBinding } from "../../../src/api/capability-binding.ts";
import { ClassRuntime } from "../../../src/api/class-runtime.ts";
import { sleep } from "../../../src/env/env.ts";
import type { Mutation } from "../mutation.ts";
import type { Plan } from "../plan.ts";
import { actions } from "../stories/actions.ts";
import { classes } from "../stories/classes.ts";
import { worlds } from "../stories/worlds.ts";
import type { Story } from "../story.ts";
import {
  answer,
  bodyOf,
  changing,
  done,
  isAbout,
  postponing,
  pretending,
  repeatingCreates,
  skippingAhead,
  watching,
  withBody,
} from "./transports.ts";

/** A bug of a known shape, where it shows, and the property that must notice it. */
export interface Mutant extends Mutation {
  readonly story: Story;
  readonly seed: number;
  readonly plan: Plan;
  readonly killedBy: RegExp;
}

const a = "a" as const;
const bindings = CapabilityBinding.plural;

export const mutants: readonly Mutant[] = [
  {
    name: "deletes whatever has the name, whichever uid it has",
    ...{ story: worlds, seed: 2, plan: [], killedBy: /^P7/ },
    transport: changing(
      ({ method }) => method === "DELETE",
      (request) => withBody(request, {}),
    ),
  },
  {
    name: "does not put back what somebody else has set",
    ...{ story: worlds, seed: 4, plan: [{ kind: "Meddle", atMs: 130_000, deed: "edit", pick: 1 }], killedBy: /^P[14]/ },
    transport: changing(
      (request) => isAbout(request, "PATCH", bindings),
      (request) => ({ ...request, target: request.target.replace("force=true", "force=false") }),
    ),
  },
  {
    name: "makes children under generated names",
    ...{ story: worlds, seed: 1, plan: [], killedBy: /^P/ },
    transport: changing(
      (request) => isAbout(request, "PATCH", bindings) && !request.target.includes("/status"),
      (request, env) => {
        const { metadata, ...rest } = bodyOf(request);
        const name = `${metadata?.name}-${env.uuid().slice(0, 5)}`;
        const target = request.target.replace(/(capabilitybindings\/)[^?]+/, `$1${name}`);
        return { ...withBody(request, { ...rest, metadata: { ...metadata, name } }), target };
      },
    ),
  },
  {
    name: "tells of children in the status before they are there",
    ...{ story: worlds, seed: 1, plan: [], killedBy: /^P15/ },
    transport: postponing(
      (request) => isAbout(request, "PATCH", bindings) && !request.target.includes("/status"),
      2_000,
    ),
  },
  {
    name: "takes the end of a watch for the deletion of everything",
    ...{
      story: worlds,
      seed: 1,
      plan: [{ kind: "Wire", who: a, atMs: 30_000, fault: "End", times: 20 }],
      killedBy: /^P/,
    },
    transport: watching(
      (event) => [event],
      (seen) => [...seen.values()].map((object) => ({ type: "DELETED", object })),
    ),
  },
  {
    name: "goes on from now after 410 Gone instead of listing again",
    ...{ story: worlds, seed: 1, killedBy: /^P4/ },
    plan: [{ kind: "Wire", who: a, atMs: 2_100, fault: "Gone", times: 20 }],
    relistEveryMs: 3_600_000,
    transport: skippingAhead,
  },
  {
    name: "goes on leading although its lease is not renewed",
    ...{ story: worlds, seed: 1, plan: [], killedBy: /^P19/ },
    transport: pretending(
      (request) => isAbout(request, "PUT", "leases"),
      (request) => answer(bodyOf(request)),
    ),
  },
  {
    name: "measures the lease with the wall clock",
    ...{ story: worlds, seed: 4, killedBy: /^P19/ },
    plan: [
      { kind: "Pause", who: a, atMs: 30_000, forMs: 60_000 },
      { kind: "ClockStep", who: a, atMs: 31_000, byMs: -3_600_000 },
    ],
    env: (env) => ({ ...env, monotonicMs: () => env.now().getTime() }),
  },
  {
    name: "measures windows by the clock of its own machine",
    ...{ story: actions, seed: 2006, killedBy: /^P2/ },
    plan: [{ kind: "ClockStep", who: a, atMs: 72_987, byMs: -3_600_000 }],
    ownTime: true,
  },
  {
    name: "forgets what others have written into a status",
    ...{ story: worlds, seed: 4, plan: [], killedBy: /^P14/ },
    transport: changing(
      (request) => isAbout(request, "PATCH", "worldinstances") && request.target.includes("/status"),
      (request) => {
        const { status, ...rest } = bodyOf(request) as { status?: { conditions?: { type: string }[] } };
        const conditions = status?.conditions?.filter(({ type }) => type !== "Lit");
        return withBody(request, { ...rest, status: { ...status, ...(conditions && { conditions }) } });
      },
    ),
  },
  {
    name: "looks again and again without waiting",
    ...{ story: worlds, seed: 1, plan: [], killedBy: /^P20/ },
    controller: (controller) => ({
      ...controller,
      reconcile: async (request, context) => {
        context.requeue(request.key, 500);
        return controller.reconcile(request, context);
      },
    }),
  },
  {
    name: "lets go of the finalizer before the children are gone",
    ...{ story: classes, seed: 1, plan: [], killedBy: /^P6/ },
    transport: pretending(
      ({ method }) => method === "DELETE",
      () => done,
    ),
  },
  {
    name: "never lets go of the finalizer",
    ...{ story: classes, seed: 1, plan: [], killedBy: /^P1 / },
    transport: pretending(
      (request) => isAbout(request, "PATCH", ClassRuntime.plural) && bodyOf(request).metadata?.finalizers === null,
      (request) => answer(bodyOf(request)),
    ),
  },
  {
    name: "sends a create twice",
    ...{ story: actions, seed: 1, plan: [], killedBy: /^P8/ },
    transport: repeatingCreates("jobs"),
  },
  {
    name: "acts before the intent is in the audit trail",
    ...{ story: actions, seed: 1, plan: [], killedBy: /^P11/ },
    trail: (trail, env) => ({
      append: async (records) => {
        void sleep(env, 5_000).then(() => trail.append(records));
        return records.length;
      },
    }),
  },
];
