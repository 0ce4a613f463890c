import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { numberChanges } from "./change.ts";
import { anyone, type Command, type Identity } from "./command.ts";
import { type Decision, decide, type Moment, type Rules } from "./decide.ts";
import { Directory } from "./directory.ts";
import { defaultExpiryLimits } from "./expiry.ts";
import type { NewServiceTarget } from "./service.ts";

const rules: Rules = { expiry: defaultExpiryLimits, maxStates: 10, maxServicesPerOwner: 3 };
const startMs = Date.UTC(2026, 0, 1);
const at = (seconds: number): Moment => ({ wallMs: startMs + seconds * 1000, monotonicMs: seconds * 1000 });
const alice: Identity = { name: "alice", namespace: "team-a", isAdministrator: false };
const mallory: Identity = { name: "mallory", namespace: null, isAdministrator: false };

const service = (own: Partial<NewServiceTarget> = {}): NewServiceTarget => ({
  id: null,
  serviceName: "my-tool",
  host: "10.0.0.1",
  port: 9009,
  serviceType: "tool-invoker",
  serviceSubType: null,
  languageName: null,
  languageType: null,
  languageSubType: null,
  ...own,
});

/** A registry without storage: decides and applies at once. */
function world(): { directory: Directory; run(command: Command, seconds: number): Decision } {
  const directory = new Directory();
  return {
    directory,
    run(command, seconds) {
      const decision = decide(directory, command, at(seconds), rules);
      for (const change of numberChanges(decision.changes, directory.sequence)) directory.apply(change, at(seconds));
      const entry = "id" in command ? directory.get(command.id) : undefined;
      if (command.kind === "Return" && decision.answer.kind === "Done" && entry) directory.beat(entry, at(seconds));
      return decision;
    },
  };
}

const register = (newId: string, own: Partial<NewServiceTarget> = {}, by = anyone): Command => ({
  kind: "Register",
  target: service(own),
  newId,
  by,
});
const ping = (id: string, by = anyone): Command => ({ kind: "Return", id, by });
const check = (id: string): Command => ({ kind: "CheckExpiry", id });
const kinds = ({ changes }: Decision): string[] => changes.map(({ kind }) => kind);

describe("ids", () => {
  test("are assigned once and kept when the service comes back without its id", () => {
    const { run, directory } = world();
    run(register("one"), 0);
    run({ kind: "Deregister", id: "one", by: anyone }, 1);
    run(register("two"), 2);
    assert.equal(directory.get("two"), undefined);
    assert.equal(directory.get("one")?.instance.presence.kind, "Registered");
  });

  test("brought by the client are honoured", () => {
    const { run, directory } = world();
    run(register("new", { id: "kept" }), 0);
    assert.equal(directory.get("kept")?.instance.target.serviceName, "my-tool");
  });

  test("of a service that moved do not stay with its old place", () => {
    const { run, directory } = world();
    run(register("new", { id: "kept" }), 0);
    run(register("new", { id: "kept", port: 9010 }), 1);
    run(register("other"), 2);
    assert.equal(directory.registeredSize, 2);
    assert.equal(directory.get("other")?.instance.target.port, 9009);
  });
});

describe("a life", () => {
  test("is pending, healthy, missing, deregistered, revived with its id", () => {
    const { run, directory } = world();
    const health = (): string | undefined => directory.get("id")?.instance.states.at(-1)?.reason;
    run(register("id"), 0);
    assert.equal(health(), "pending health check");
    assert.deepEqual(kinds(run(ping("id"), 10)), ["Updated"]);
    assert.equal(health(), "healthy");
    assert.deepEqual(kinds(run(ping("id"), 20)), [], "a heartbeat in good standing changes nothing durable");
    assert.deepEqual(kinds(run(check("id"), 109.999)), []);
    assert.deepEqual(kinds(run(check("id"), 110)), ["Updated"]);
    assert.equal(health(), "missing in action");
    assert.deepEqual(kinds(run(check("id"), 619.999)), []);
    assert.deepEqual(kinds(run(check("id"), 620)), ["Deregistered"]);
    assert.equal(health(), "inactive due to service auto-deregistration");
    assert.equal(directory.registeredSize, 0);
    assert.deepEqual(kinds(run(ping("id"), 700)), ["Registered"]);
    assert.equal(directory.registered()[0]?.instance.target.id, "id");
    assert.deepEqual(kinds(run(check("id"), 789)), []);
  });

  test("after a long stall becomes missing and deregistered in one look", () => {
    const { run } = world();
    run(register("id"), 0);
    run(ping("id"), 1);
    assert.deepEqual(kinds(run(check("id"), 5000)), ["Updated", "Deregistered"]);
  });

  test("without a heartbeat never expires", () => {
    const { run, directory } = world();
    run(register("id"), 0);
    assert.deepEqual(kinds(run(check("id"), 1e6)), []);
    assert.equal(directory.get("id")?.instance.report, "PENDING");
  });

  test("that said goodbye is not revived by a late heartbeat, and is forgotten in time", () => {
    const { run, directory } = world();
    run(register("id"), 0);
    run({ kind: "Deregister", id: "id", by: anyone }, 1);
    assert.equal(run(ping("id"), 2).answer.kind, "Unknown");
    assert.deepEqual(kinds(run(check("id"), 3600)), []);
    assert.deepEqual(kinds(run(check("id"), 3601)), ["Forgotten"]);
    assert.equal(directory.size, 0);
  });

  test("that reported trouble stays unhealthy when it is heard again", () => {
    const { run, directory } = world();
    const report = (health: "HEALTHY" | "UNHEALTHY", seconds: number): Decision =>
      run({ kind: "Report", id: "id", health, reason: health, timestamp: null, by: anyone }, seconds);
    run(register("id"), 0);
    run(ping("id"), 1);
    report("UNHEALTHY", 2);
    run(check("id"), 100);
    run(ping("id"), 101);
    assert.equal(directory.get("id")?.instance.report, "UNHEALTHY");
    report("HEALTHY", 102);
    assert.equal(directory.get("id")?.instance.report, "HEALTHY");
  });

  test("begins anew with a registration: a client that sends no heartbeats any more does not expire", () => {
    const { run, directory } = world();
    run(register("id"), 0);
    run(ping("id"), 1);
    run(register("id", { id: "id" }), 2);
    assert.deepEqual(kinds(run(check("id"), 1000)), []);
    assert.equal(directory.get("id")?.lastSeenMs, undefined);
  });
});

describe("what is unknown", () => {
  for (const command of [
    ping("nobody"),
    check("nobody"),
    { kind: "Deregister", id: "nobody", by: anyone },
    { kind: "Report", id: "nobody", health: "HEALTHY", reason: "", timestamp: null, by: anyone },
  ] as const) {
    test(`stays unknown: ${command.kind} creates nothing`, () => {
      const { run, directory } = world();
      assert.deepEqual(run(command, 0), { changes: [], answer: { kind: "Unknown" } });
      assert.equal(directory.size, 0);
    });
  }
});

describe("ownership", () => {
  const refusal = ({ answer }: Decision): string => (answer.kind === "Refused" ? answer.reason : answer.kind);
  test("of an id keeps others from touching it", () => {
    const { run } = world();
    run(register("id", {}, alice), 0);
    assert.equal(refusal(run(ping("id", mallory), 1)), "NotOwner");
    assert.equal(refusal(run({ kind: "Deregister", id: "id", by: mallory }, 1)), "NotOwner");
    assert.equal(refusal(run(register("x", { id: "id", serviceName: "other" }, mallory), 1)), "NotOwner");
    assert.equal(refusal(run(ping("id", alice), 2)), "Done");
  });

  test("of a name keeps others from poisoning it", () => {
    const { run } = world();
    run(register("id", {}, alice), 0);
    assert.equal(refusal(run(register("x", { host: "evil" }, mallory), 1)), "NameTaken");
    assert.equal(refusal(run(register("y", { host: "10.0.0.2" }, alice), 1)), "Done");
  });

  test("is limited in number", () => {
    const { run } = world();
    for (const port of [1, 2, 3]) run(register(`id-${port}`, { port }, alice), 0);
    assert.equal(refusal(run(register("id-4", { port: 4 }, alice), 0)), "TooManyServices");
    assert.equal(refusal(run(register("id-1", { port: 1 }, alice), 0)), "Done", "who is known may come back");
  });
});

test("the history holds the newest states, and drops the older half when it is full", () => {
  const { run, directory } = world();
  run(register("id"), 0);
  const lengths: number[] = [];
  for (let second = 1; second <= 12; second++) {
    run({ kind: "Report", id: "id", health: "UNHEALTHY", reason: `${second}`, timestamp: null, by: anyone }, second);
    lengths.push(directory.get("id")?.instance.states.length ?? 0);
  }
  assert.deepEqual(lengths, [2, 3, 4, 5, 6, 7, 8, 9, 10, 6, 7, 8]);
  assert.equal(directory.get("id")?.instance.states.at(-1)?.reason, "12");
});
