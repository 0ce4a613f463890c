import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { specHashOf } from "../../src/controllers/action-executor/spec-hash.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { applyChanges, type Change, keyOf, sortByKey } from "../../web/live/collection.ts";
import { concernsOf, type Fleet } from "../../web/model/attention.ts";
import { countsOf } from "../../web/model/counts.ts";
import { comparisonsOf, targetOf } from "../../web/model/execution-diff.ts";
import { lineDiff } from "../../web/model/line-diff.ts";
import { isWanted } from "../../web/model/service-filter.ts";
import { specHashOf as specHashInBrowser } from "../../web/model/spec-hash.ts";
import { ago } from "../../web/model/time.ts";
import { timelineOf } from "../../web/model/timeline.ts";
import { matricesOf, supportedBy } from "../../web/model/version-matrix.ts";
import { classRuntimes, fewServices, minecraftObjects } from "./objects.ts";

const nothing: Fleet = {
  worlds: [],
  bindings: [],
  classRuntimes: [],
  servers: [],
  plugins: [],
  executions: [],
  remediations: [],
  services: [],
};

const ofKind = <T>(objects: readonly KubeObject[], kind: string): readonly T[] =>
  objects.filter((object) => object.kind === kind) as unknown as readonly T[];

const execution = (name: string, spec: object, status: object): KubernetesExecution =>
  ({
    kind: "KubernetesExecution",
    metadata: { name, namespace: "shop" },
    spec,
    status,
  }) as unknown as KubernetesExecution;

describe("what needs attention", () => {
  test("is empty when all is well", () => {
    assert.deepEqual(concernsOf(nothing), []);
  });

  test("is told for every system, what waits for a person first", () => {
    const objects = minecraftObjects();
    const concerns = concernsOf({
      ...nothing,
      worlds: [
        {
          kind: "WorldInstance",
          metadata: { name: "stormy", namespace: "a" },
          status: {
            phase: "Error",
            message: "weather requires time.source",
            conditions: [{ type: "BindingsResolved", status: "False", reason: "UnresolvedRequired" }],
          },
        } as never,
      ],
      classRuntimes: classRuntimes() as never,
      servers: ofKind(objects, "PaperMCServer"),
      plugins: ofKind(objects, "Plugin"),
      services: fewServices() as never,
      executions: [
        execution("done", { action: "delete_pod" }, { phase: "completed" }),
        execution("broken", { action: "delete_pod" }, { phase: "failed", message: "the pod is gone" }),
        execution("waits", { action: "delete_pod" }, { phase: "waiting_approval" }),
        execution("decided", { action: "delete_pod" }, { phase: "waiting_approval", approval: { by: "bob" } }),
      ],
    });
    assert.deepEqual(concerns.map(({ title, name }) => `${title}: ${name}`).toSorted(), [
      "Action failed: broken",
      "Class runtime degraded: thumbnailer",
      "Requirement unresolved: stormy",
      "Service missing: search-3",
      "Service unhealthy: files-6",
      "Update blocked: survival",
      "Waits for approval: waits",
    ]);
    assert.equal(concerns[0]?.name, "waits");
    assert.deepEqual(concerns[0]?.place, ["actions", "shop", "waits"]);
    assert.deepEqual(
      concerns.slice(-2).map(({ tone }) => tone),
      ["wait", "wait"],
      "what only waits comes after what is broken",
    );
  });
});

test("states are counted with bad news first", () => {
  assert.deepEqual(
    countsOf(["HEALTHY", "HEALTHY", "DOWN", undefined]).map(({ word, count, tone }) => [word, count, tone]),
    [
      ["DOWN", 1, "bad"],
      ["pending", 1, "wait"],
      ["HEALTHY", 2, "good"],
    ],
  );
});

describe("a followed list", () => {
  const object = (name: string, version: number): KubeObject =>
    ({ metadata: { name, namespace: "n", uid: name, resourceVersion: String(version) } }) as KubeObject;

  test("is the same after bursts of changes as after a new list", () => {
    const change = fc.record({
      type: fc.constantFrom("ADDED", "MODIFIED", "DELETED"),
      name: fc.stringMatching(/^[a-e]{1,2}$/),
    });
    fc.assert(
      fc.property(fc.array(fc.array(change)), (bursts) => {
        const known = new Map<string, KubeObject>();
        let items: readonly KubeObject[] = [];
        let version = 0;
        for (const burst of bursts) {
          const changes = burst.map(({ type, name }): Change<KubeObject> => ({ type, item: object(name, ++version) }));
          for (const { type, item } of changes)
            if (type === "DELETED") known.delete(keyOf(item));
            else known.set(keyOf(item), item);
          const before = [...items];
          const next = applyChanges(items, changes);
          assert.deepEqual(items, before, "the list that is shown is not changed under the reader");
          items = next;
        }
        assert.deepEqual(items, sortByKey([...known.values()]));
      }),
    );
  });

  test("keeps an object that was made anew when its forerunner's end is told late", () => {
    const anew = { ...object("a", 2), metadata: { ...object("a", 2).metadata, uid: "second" } };
    assert.deepEqual(applyChanges([anew], [{ type: "DELETED", item: object("a", 1) }]), [anew]);
  });
});

describe("a comparison of two texts", () => {
  test("says what was removed and added, and gives both texts back", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 12 }).map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = lineDiff(before, after);
        if (before === after) return assert.deepEqual(lines, []);
        if (lines.some(({ kind }) => kind === "skipped")) return;
        const side = (wanted: string) =>
          lines.flatMap((line) =>
            line.kind === "same" || line.kind === wanted ? ["text" in line ? line.text : ""] : [],
          );
        assert.deepEqual(side("removed"), before === "" ? [] : before.split("\n"));
        assert.deepEqual(side("added"), after === "" ? [] : after.split("\n"));
      }),
    );
  });

  test("leaves out what is far from any change", () => {
    const many = Array.from({ length: 50 }, (_, index) => `line ${index}`);
    const lines = lineDiff(many.join("\n"), many.with(25, "other").join("\n"));
    assert.deepEqual(
      lines.map((line) => (line.kind === "skipped" ? line.count : line.kind)),
      [22, "same", "same", "same", "removed", "added", "same", "same", "same", 21],
    );
  });
});

test("an approval speaks of the same hash that the executor computes, whatever the spec", async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), fc.boolean(), async (parameters, cancel) => {
      const spec = { action: "patch_deployment", parameters, cancel, approvalReceived: true } as never;
      assert.equal(await specHashInBrowser(spec), specHashOf(spec));
    }),
  );
});

describe("what an action changes", () => {
  const scale = (status: object): KubernetesExecution =>
    execution(
      "scale",
      {
        action: "scale_deployment",
        parameters: { scaleDeployment: { deployment: "web", namespace: "shop", replicas: 5 } },
      },
      status,
    );

  test("is shown before it runs from the object as it is", () => {
    assert.equal(targetOf(scale({}))?.path, "/apis/apps/v1/namespaces/shop/deployments/web");
    assert.deepEqual(comparisonsOf(scale({}), { spec: { replicas: 3 } }), [
      { title: "What would change", before: "replicas: 3", after: "replicas: 5" },
    ]);
    assert.deepEqual(comparisonsOf(scale({}), undefined), [], "nothing is guessed about what cannot be read");
  });

  test("is shown afterwards from what it reported", () => {
    const affected = [
      {
        kind: "Deployment",
        namespace: "shop",
        name: "web",
        action: "scaled",
        before: "replicas: 3",
        after: "replicas: 5",
      },
    ];
    assert.deepEqual(comparisonsOf(scale({ executionResults: { success: true, resourcesAffected: affected } }), {}), [
      { title: "Deployment shop/web: scaled", before: "replicas: 3", after: "replicas: 5" },
    ]);
  });

  test("never asks for a Secret", () => {
    const secret = {
      action: "update_secret",
      parameters: { updateSecret: { secret: "s", namespace: "shop", data: {} } },
    };
    assert.equal(targetOf(execution("s", secret, {})), undefined);
    const manifest = "kind: Secret\nmetadata: { name: s, namespace: shop }";
    assert.equal(
      targetOf(execution("m", { action: "apply_manifest", parameters: { applyManifest: { manifest } } }, {})),
      undefined,
    );
  });
});

test("the version matrix says for each server what was chosen, what is newest and who holds it back", () => {
  const objects = minecraftObjects();
  const [matrix] = matricesOf(ofKind(objects, "PaperMCServer"), ofKind(objects, "Plugin"));
  assert.equal(matrix?.namespace, "minecraft");
  const row = matrix?.rows.find(({ server }) => server.metadata.name === "survival");
  assert.deepEqual(
    { current: row?.current, chosen: row?.chosen, newest: row?.newest, blocker: row?.blocker },
    { current: "1.20.6-149", chosen: "1.20.6-151", newest: "1.21.4-232", blocker: "bluemap" },
  );
  assert.equal(row?.cells.get("bluemap")?.isBlocker, true);
  assert.equal(row?.cells.get("essentialsx")?.fits, true);
  const bluemap = matrix?.plugins.find(({ metadata }) => metadata.name === "bluemap");
  assert.deepEqual(supportedBy(bluemap), ["1.20.6", "1.20.4", "1.20.2"]);
});

test("a timeline puts conditions and events into one order, the latest first", () => {
  const moments = timelineOf({
    createdAt: "2026-01-01T00:00:00Z",
    phase: "available",
    phaseSince: "2026-01-01T00:00:05Z",
    conditions: [
      {
        type: "Degraded",
        status: "True",
        reason: "CrashLoop",
        message: "it crashes",
        lastTransitionTime: "2026-01-01T00:00:03Z",
      } as never,
    ],
    events: [{ type: "Normal", reason: "Applied", message: "6 objects", time: "2026-01-01T00:00:01.5Z", count: 2 }],
  });
  assert.deepEqual(
    moments.map(({ title, text, tone }) => [title, text, tone]),
    [
      ["Became available", "", "good"],
      ["Degraded is True", "CrashLoop: it crashes", "bad"],
      ["Applied", "6 objects (2 times)", "quiet"],
      ["Created", "", "quiet"],
    ],
  );
});

test("services are found by state, capability, language and any word of theirs", () => {
  const services = fewServices() as never as Parameters<typeof isWanted>[0][];
  const found = (filter: Partial<Parameters<typeof isWanted>[1]>): number =>
    services.filter((service) => isWanted(service, { health: "", capability: "", language: "", text: "", ...filter }))
      .length;
  assert.equal(found({}), 9);
  assert.equal(found({ health: "DOWN" }), 1);
  assert.equal(found({ capability: "tool-invoker" }), 3);
  assert.equal(found({ language: "python", text: "FILES" }), 1);
  assert.equal(found({ text: "10.0.0.4:9003" }), 1);
});

test("times are told as people say them", () => {
  const now = Date.parse("2026-01-02T00:00:00Z");
  const at = (seconds: number): string => ago(new Date(now - seconds * 1000).toISOString(), now);
  assert.deepEqual([2, 40, 90, 3600, 5400, 40 * 3600, 5 * 86400, -120].map(at), [
    "just now",
    "40 s ago",
    "2 min ago",
    "1 h ago",
    "1 h 30 min ago",
    "40 h ago",
    "5 days ago",
    "in 2 min",
  ]);
  assert.equal(ago("nonsense", now), "");
});
