import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { numberChanges } from "./change.ts";
import { anyone, type Command } from "./command.ts";
import type { Moment, Rules } from "./decide.ts";
import { Directory } from "./directory.ts";
import { Draft } from "./draft.ts";
import { defaultExpiryLimits, healthAt, isListedAt, isLiveAt, nextDueAtMs } from "./expiry.ts";
import { type Search, search, searchWhole } from "./queries.ts";
import type { NewServiceTarget, ServiceTarget } from "./service.ts";

const limits = { ...defaultExpiryLimits, missingAfterMs: 90, deregisterAfterMs: 600, forgetAfterMs: 1000 };
const rules: Rules = { expiry: limits, maxStates: 10, maxServicesPerOwner: 1000 };
const ids = ["a", "b", "c", "d", "e"];
const types = ["tool-invoker", "resource-provider", "multi-capability", "code-execution-engine"];

const target = fc.record({
  serviceName: fc.constantFrom("x", "y"),
  serviceType: fc.constantFrom(...types),
  serviceSubType: fc.constantFrom(null, "camel", "jvm"),
  languageName: fc.constantFrom(null, "yaml", "java"),
});
const id = fc.constantFrom(...ids);
type Step =
  | { readonly kind: "Register"; readonly id: string; readonly own: Partial<NewServiceTarget> }
  | { readonly kind: "Ping" | "Deregister" | "Trouble"; readonly id: string }
  | { readonly kind: "Wait"; readonly ms: number };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("Register" as const), id, own: target }),
  fc.record({ kind: fc.constantFrom("Ping" as const, "Deregister" as const, "Trouble" as const), id }),
  fc.record({ kind: fc.constant("Wait" as const), ms: fc.integer({ min: 1, max: 400 }) }),
);

/** The registry as one would write it in an afternoon: a list, and every rule spelled out. */
interface Naive {
  readonly own: Partial<NewServiceTarget>;
  readonly order: number;
  heardAt: number | undefined;
  isGone: boolean;
  saidGoodbye: boolean;
  trouble: boolean;
}

test("lookups agree with a naive model at every moment: never early, never late (P18)", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.boolean(), (steps, sweepOften) => {
      const directory = new Directory();
      const naive = new Map<string, Naive>();
      let nowMs = 0;
      let order = 0;
      const now = (): Moment => ({ wallMs: 1e12 + nowMs, monotonicMs: nowMs });
      const run = (commands: readonly Command[]): void => {
        const draft = new Draft(directory, now(), rules);
        for (const command of commands) draft.decide(command);
        for (const change of numberChanges(draft.changes, directory.sequence)) directory.apply(change, now());
      };
      const sweep = (): void => {
        const due = [...directory.entries()].filter(
          (entry) => (nextDueAtMs(entry, entry.hiddenSinceMs, limits) ?? Infinity) <= nowMs,
        );
        run(due.map(({ instance }) => ({ kind: "CheckExpiry", id: instance.target.id })));
      };
      for (const each of steps) {
        if (each.kind === "Wait") {
          nowMs += each.ms;
          for (const one of naive.values())
            if (!one.isGone && one.heardAt !== undefined && nowMs - one.heardAt >= limits.deregisterAfterMs)
              Object.assign(one, { isGone: true, goneAt: nowMs });
          if (sweepOften) sweep();
        } else {
          // What is asked of a service that only the sweep has not reached yet is answered as if it had.
          sweep();
          perform(each);
        }
        compare();
      }

      function perform(each: Exclude<Step, { kind: "Wait" }>): void {
        const known = naive.get(each.id);
        const entry = directory.get(each.id);
        if (each.kind === "Register") {
          const kept = entry ? known : undefined;
          naive.set(each.id, {
            own: each.own,
            order: kept?.order ?? ++order,
            heardAt: undefined,
            isGone: false,
            saidGoodbye: false,
            trouble: false,
          });
          run([{ kind: "Register", target: service(each.id, each.own), newId: "never", by: anyone }]);
        }
        if (each.kind === "Ping") {
          run([{ kind: "Return", id: each.id, by: anyone }]);
          const after = directory.get(each.id);
          if (after?.instance.presence.kind === "Registered") directory.beat(after, now());
          if (known && entry && !known.saidGoodbye) {
            if (known.isGone) known.trouble = false;
            Object.assign(known, { heardAt: nowMs, isGone: false });
          }
        }
        if (each.kind === "Deregister") {
          run([{ kind: "Deregister", id: each.id, by: anyone }]);
          if (known && !known.isGone) Object.assign(known, { isGone: true, saidGoodbye: true });
        }
        if (each.kind === "Trouble") {
          run([{ kind: "Report", id: each.id, health: "UNHEALTHY", reason: "", timestamp: null, by: anyone }]);
          if (known && !known.isGone) known.trouble = true;
        }
      }

      function compare(): void {
        const listed = [...naive].filter(([, one]) => !one.isGone).sort(([, a], [, b]) => a.order - b.order);
        const expected = listed.map(([name]) => name);
        const found = search(directory, {}, nowMs, limits).map(({ instance }) => instance.target.id);
        assert.deepEqual(found, expected);
        for (const [name, one] of naive) {
          const entry = directory.get(name);
          const silent = one.heardAt === undefined ? 0 : nowMs - one.heardAt;
          const live = !one.isGone && !one.trouble && silent < limits.missingAfterMs;
          assert.equal(entry !== undefined && isLiveAt(entry, nowMs, limits), live, `live ${name}`);
          if (entry && isListedAt(entry, nowMs, limits) && silent >= limits.missingAfterMs)
            assert.equal(healthAt(entry, nowMs, limits), "DOWN");
        }
        for (const asked of questions) {
          const answer = search(directory, asked, nowMs, limits).map(({ instance }) => instance.target.id);
          const wanted = listed.filter(([, { own }]) => matches(own, asked)).map(([name]) => name);
          assert.deepEqual(answer, wanted, JSON.stringify(asked));
          const whole = searchWhole(directory, asked, nowMs, limits);
          if (whole === undefined) continue;
          const targets = JSON.parse(whole.json) as ServiceTarget[];
          assert.deepEqual(
            targets.map(({ id }) => id),
            wanted,
            `as one text: ${JSON.stringify(asked)}`,
          );
          for (const one of targets) assert.deepEqual(one, directory.get(one.id)?.instance.target.toJSON());
        }
      }
    }),
    { numRuns: 300 },
  );
});

const questions: readonly Search[] = [
  { serviceName: "x" },
  ...types.map((serviceType) => ({ serviceType })),
  { serviceName: "y", serviceType: "tool-invoker" },
  { serviceType: "code-execution-engine", serviceSubType: "camel", languageName: "yaml" },
  { serviceType: "code-execution-engine", serviceSubType: "jvm" },
  { serviceName: "x", languageName: "java" },
];

function matches(own: Partial<NewServiceTarget>, asked: Search): boolean {
  const isExact = asked.serviceSubType !== undefined || asked.languageName !== undefined;
  if (asked.serviceName !== undefined && own.serviceName !== asked.serviceName) return false;
  if (asked.serviceSubType !== undefined && own.serviceSubType !== asked.serviceSubType) return false;
  if (asked.languageName !== undefined && own.languageName !== asked.languageName) return false;
  if (asked.serviceType === undefined || own.serviceType === asked.serviceType) return true;
  return !isExact && own.serviceType === "multi-capability";
}

const service = (id: string, own: Partial<NewServiceTarget>): NewServiceTarget => ({
  id,
  serviceName: "x",
  host: id,
  port: 1,
  serviceType: null,
  serviceSubType: null,
  languageName: null,
  languageType: null,
  languageSubType: null,
  ...own,
});

test("who owns a name is what a look at every service would say", () => {
  const owners = ["", "alice", "bob"];
  const life = fc.record({
    kind: fc.constantFrom("Register" as const, "Deregister" as const, "Return" as const, "CheckExpiry" as const),
    id,
    serviceName: fc.constantFrom("x", "y"),
    owner: fc.constantFrom(...owners),
    isAdministrator: fc.boolean(),
    waitMs: fc.constantFrom(0, 700, 1_500),
  });
  fc.assert(
    fc.property(fc.array(life, { maxLength: 60 }), (lives) => {
      const directory = new Directory();
      let nowMs = 0;
      for (const { kind, id: which, serviceName, owner, isAdministrator, waitMs } of lives) {
        nowMs += waitMs;
        const now: Moment = { wallMs: 1e12 + nowMs, monotonicMs: nowMs };
        const by = { name: owner, namespace: null, isAdministrator };
        const draft = new Draft(directory, now, rules);
        draft.decide(
          kind === "Register"
            ? { kind, by, newId: which, target: { ...plain, id: which, serviceName } }
            : { kind, id: which, by },
        );
        for (const change of numberChanges(draft.changes, directory.sequence)) directory.apply(change, now);
        for (const name of ["x", "y"])
          for (const asking of owners) {
            const others = directory
              .named(name)
              .map(({ instance }) => instance.owner)
              .filter((other) => other !== "" && other !== asking);
            const found = directory.otherOwnerOf(name, asking);
            assert.equal(found === undefined, others.length === 0);
            if (found !== undefined) assert.ok(others.includes(found));
          }
      }
    }),
  );
});

const plain: Omit<NewServiceTarget, "id" | "serviceName"> = {
  host: "h",
  port: 1,
  serviceType: null,
  serviceSubType: null,
  languageName: null,
  languageType: null,
  languageSubType: null,
};
