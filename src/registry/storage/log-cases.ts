import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { NewChange } from "../model/change.ts";
import { type Instance, registered } from "../model/instance.ts";
import { LogBehindError, type RegistryLog } from "./registry-log.ts";

/** What every place to keep the registry must do; run on memory, SQLite and PostgreSQL. */
export function describeLog(name: string, storage: LogUnderTest): void {
  const using = async (
    work: (log: RegistryLog, reopen: () => Promise<RegistryLog>) => Promise<void>,
  ): Promise<void> => {
    await storage.reset();
    await work(await storage.open(), storage.open);
    await storage.close();
  };

  describe(`${name}: the registry's log`, { timeout: 180_000 }, () => {
    test("numbers changes without gaps and keeps the newest state of each service", () =>
      using(async (log, reopen) => {
        const first = await commit(log, 0, [change("a"), change("b")]);
        assert.deepEqual(
          first.map(({ sequence }) => sequence),
          [1, 2],
        );
        assert.equal(first[1]?.instance?.order, 2, "the first number is the place in the order");
        await commit(log, 2, [change("a", { port: 2 }), change("a", { port: 3 })]);
        const loaded = await (await reopen()).load();
        assert.equal(loaded.sequence, 4);
        const ports = loaded.services.map(({ instance }) => `${instance.target.id}:${instance.target.port}`).sort();
        assert.deepEqual(ports, ["a:3", "b:1"]);
      }));

    test("hands a writer what it has missed before it decides", () =>
      using(async (log, reopen) => {
        const other = await reopen();
        await commit(log, 0, [change("a")]);
        let seen: readonly string[] = [];
        const made = await other.commit({
          applied: 0,
          confirm: [],
          decide(missed) {
            seen = missed.map(({ id, sequence }) => `${sequence}:${id}`);
            return [change("b")];
          },
        });
        assert.deepEqual(seen, ["1:a"]);
        assert.equal(made[0]?.sequence, 2);
      }));

    test("gives many writers one order, and loses none of their changes", () =>
      using(async (log, reopen) => {
        const writers = [log, await reopen(), await reopen()];
        const applied = writers.map(() => 0);
        const seen = writers.map((): string[] => []);
        await Promise.all(
          writers.map(async (writer, index) => {
            for (let round = 0; round < 10; round++) {
              const made = await writer.commit({
                applied: applied[index] ?? 0,
                confirm: [],
                decide(missed) {
                  seen[index]?.push(...missed.map(({ id }) => id));
                  applied[index] = missed.at(-1)?.sequence ?? applied[index] ?? 0;
                  return [change(`${index}-${round}`)];
                },
              });
              seen[index]?.push(...made.map(({ id }) => id));
              applied[index] = made.at(-1)?.sequence ?? 0;
            }
          }),
        );
        const { changes } = await log.changesAfter(0, 100);
        const order = changes.map(({ id }) => id);
        assert.equal(new Set(order).size, 30);
        for (const own of seen) assert.deepEqual(own, order.slice(0, own.length));
      }));

    test("writes nothing when the decision fails or changes nothing", () =>
      using(async (log) => {
        const broken = log.commit({
          applied: 0,
          confirm: [],
          decide: () => {
            throw new Error("no");
          },
        });
        await assert.rejects(broken, /no/);
        assert.deepEqual(await commit(log, 0, []), []);
        assert.equal((await log.load()).sequence, 0);
      }));

    test("keeps heartbeats by their age, until a service begins anew or is forgotten", () =>
      using(async (log, reopen) => {
        await commit(log, 0, [change("a", {}, true), change("b", {}, true)]);
        await log.saveBeats([
          { id: "a", ageMs: 1000 },
          { id: "b", ageMs: 0 },
        ]);
        const loaded = await (await reopen()).load();
        const seen = new Map(loaded.services.map(({ instance, lastSeenMs }) => [instance.target.id, lastSeenMs ?? 0]));
        const apart = (seen.get("b") ?? 0) - (seen.get("a") ?? 0);
        assert.ok(Math.abs(apart - 1000) < 50, `${apart} ms apart`);
        await commit(log, 2, [change("a"), { kind: "Forgotten", id: "b", atMs: 1, instance: null }]);
        const after = await log.load();
        assert.deepEqual(
          after.services.map(({ instance, lastSeenMs }) => [instance.target.id, lastSeenMs]),
          [["a", undefined]],
        );
      }));

    test("gives back what happened after a number, and says how far it reaches back", () =>
      using(async (log) => {
        await commit(
          log,
          0,
          ["a", "b", "c", "d"].map((id) => change(id)),
        );
        const page = await log.changesAfter(1, 2);
        assert.deepEqual(
          page.changes.map(({ id }) => id),
          ["b", "c"],
        );
        assert.equal(page.oldest, 1);
        await log.prune(2);
        const rest = await log.changesAfter(0, 10);
        assert.deepEqual(
          rest.changes.map(({ id }) => id),
          ["c", "d"],
        );
        assert.equal(rest.oldest, 3);
        assert.equal((await log.load()).services.length, 4, "the services themselves stay");
        await assert.rejects(commit(log, 1, [change("e")]), LogBehindError);
      }));
  });
}

export interface LogUnderTest {
  /** Another replica's look at the same log. */
  readonly open: () => Promise<RegistryLog>;
  reset(): Promise<void>;
  /** Closes everything that was opened. */
  close(): Promise<void>;
}

const commit = (log: RegistryLog, applied: number, changes: readonly NewChange[]): ReturnType<RegistryLog["commit"]> =>
  log.commit({ applied, confirm: [], decide: () => changes });

const change = (id: string, own: { readonly port?: number } = {}, pinged = false): NewChange => ({
  kind: "Registered",
  id,
  atMs: 1,
  instance: { ...exampleInstance, pinged, target: { ...exampleInstance.target, id, ...own } },
});

export const exampleInstance: Instance = {
  target: {
    id: "",
    serviceName: "it's \u{1F680} a name",
    host: "h",
    port: 1,
    serviceType: null,
    serviceSubType: null,
    languageName: null,
    languageType: null,
    languageSubType: null,
  },
  owner: "",
  namespace: null,
  registeredAtMs: 1,
  order: 0,
  report: "PENDING",
  reason: "",
  pinged: false,
  missing: false,
  presence: registered,
  states: [],
  lastFailureAtMs: null,
};
