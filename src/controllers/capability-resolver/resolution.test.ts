import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { CapabilityBinding } from "../../api/capability-binding.ts";
import type { ModuleManifest, Provided, Requirement } from "../../api/module-manifest.ts";
import { compareSemVer, parseSemVer } from "../../versions/semver.ts";
import { parseConstraint, satisfies } from "../../versions/semver-constraint.ts";
import { type BindingPlan, nothingToWrite } from "./binding-plan.ts";
import type { DesiredBinding } from "./desired-bindings.ts";
import { evaluate } from "./evaluate.ts";
import { game, manifest, provides, requires, world } from "./example-world.ts";
import { remedyOf } from "./remedy.ts";
import { type Resolution, resolveGame } from "./resolution.ts";

/** One requirement against some providers; the answer is what is bound, or why nothing is. */
const cases: readonly {
  readonly name: string;
  readonly need: Requirement;
  readonly offers: Readonly<Record<string, readonly Provided[]>>;
  readonly bound: readonly string[];
  readonly why?: RegExp;
}[] = [
  {
    name: "the highest version that satisfies the constraint is taken",
    need: requires("time.source", "^1.0.0"),
    offers: {
      a: [provides("time.source", "1.0.0")],
      b: [provides("time.source", "1.4.0")],
      c: [provides("time.source", "2.0.0")],
    },
    bound: ["b@1.4.0"],
    why: /c has version 2.0.0, which does not satisfy \^1.0.0/,
  },
  {
    name: "equal versions are told apart by the smallest name",
    need: requires("time.source"),
    offers: { zeta: [provides("time.source")], alpha: [provides("time.source")] },
    bound: ["alpha@1.0.0"],
  },
  {
    name: "the scope must match",
    need: requires("time.source", "*", { scope: "world-shard" }),
    offers: { a: [provides("time.source")] },
    bound: [],
    why: /a offers scope world, not world-shard/,
  },
  {
    name: "a single consumer may take a pool",
    need: requires("time.source", "*"),
    offers: { a: [provides("time.source", "1.0.0", { multiplicity: "many" })] },
    bound: ["a@1.0.0"],
  },
  {
    name: "many needs providers that serve many, and takes each of them",
    need: requires("time.source", "*", { multiplicity: "many" }),
    offers: {
      a: [provides("time.source", "1.0.0", { multiplicity: "many" })],
      b: [provides("time.source", "3.0.0")],
      c: [provides("time.source", "2.0.0", { multiplicity: "many" })],
    },
    bound: ["c@2.0.0", "a@1.0.0"],
    why: /b offers multiplicity "1", but many are required/,
  },
  {
    name: "a module may serve itself",
    need: requires("own.thing"),
    offers: { consumer: [provides("own.thing", "1.2.0")] },
    bound: ["consumer@1.2.0"],
  },
  {
    name: "a required feature that is not declared refuses a provider, a preferred one changes nothing",
    need: requires("time.source", "*", { features: { required: ["rewind"], preferred: ["pause"] } }),
    offers: {
      a: [provides("time.source", "2.0.0", { features: { supported: ["pause"] } })],
      b: [provides("time.source", "1.0.0", { features: { supported: ["rewind"] } })],
    },
    bound: ["b@1.0.0"],
    why: /a lacks the required features rewind/,
  },
  {
    name: "a hard latency limit refuses what is slower or says nothing",
    need: requires("time.source", "*", { nfr: { latency: { p95Ms: { value: 10, constraint: "hard" } } } }),
    offers: {
      a: [provides("time.source", "3.0.0", { nfr: { latency: { p95Ms: { value: 11 } } } })],
      b: [provides("time.source", "2.0.0")],
      c: [provides("time.source", "1.0.0", { nfr: { latency: { p95Ms: { value: 10 } } } })],
    },
    bound: ["c@1.0.0"],
    why: /a has a p95 latency of 11 ms, above the limit of 10 ms\nb declares no p95 latency/,
  },
  {
    name: "a hard tick rate refuses what is slower, a soft one does not",
    need: requires("time.source", "*", {
      nfr: { tickRateHz: { value: 30, constraint: "hard" }, latency: { p95Ms: { value: 1, constraint: "soft" } } },
    }),
    offers: {
      a: [provides("time.source", "2.0.0", { nfr: { tickRateHz: { value: 20 } } })],
      b: [provides("time.source", "1.0.0", { nfr: { tickRateHz: { value: 60 } } })],
    },
    bound: ["b@1.0.0"],
    why: /a has a tick rate of 20 Hz, below the limit of 30 Hz/,
  },
];

for (const { name, need, offers, bound, why } of cases) {
  test(name, () => {
    const { requirements } = resolve({ consumer: [], ...offers }, { consumer: [need] });
    const [resolved] = requirements;
    assert.ok(resolved);
    const { outcome } = resolved;
    const providers = outcome.kind === "Bound" ? outcome.providers : [];
    assert.deepEqual(
      providers.map(({ moduleManifestName, provision }) => `${moduleManifestName}@${provision.version}`),
      bound,
    );
    const objections = resolved.candidates
      .flatMap(({ moduleManifestName, objection }) =>
        objection ? [`${moduleManifestName} ${objection.sentence}`] : [],
      )
      .join("\n");
    if (why) assert.match(objections, why);
    else assert.equal(objections, "");
  });
}

test("the remedy of an unresolved requirement is the smallest change that satisfies it", () => {
  const remedies: readonly (readonly [need: Requirement, offers: readonly Provided[], remedy: RegExp])[] = [
    [requires("time.source"), [], /^add a module to the game that provides time\.source in scope world$/],
    [
      requires("time.source", "^2"),
      [provides("time.source", "1.4.0")],
      /accept 1\.4\.0 in consumer spec\.requires\[0\]\.versionConstraint \("\^2 \|\| 1\.4\.0"\)/,
    ],
    [
      requires("time.source", "^2", { scope: "session" }),
      [provides("time.source", "3.0.0"), provides("time.source", "1.0.0", { scope: "session" })],
      /^let p provide a version that satisfies \^2, or accept 1\.0\.0/,
    ],
    [requires("time.source", "*", { multiplicity: "many" }), [provides("time.source")], /with multiplicity many/],
    [requires("time.source", "x.y"), [provides("time.source")], /write a version constraint such as/],
  ];
  for (const [need, offers, remedy] of remedies) {
    const [resolved] = resolve({ p: offers }, { consumer: [need] }).requirements;
    assert.ok(resolved);
    assert.match(remedyOf(resolved) ?? "", remedy);
  }
});

test("following a version remedy satisfies the requirement", () => {
  const need = requires("time.source", "^2");
  const [resolved] = resolve({ p: [provides("time.source", "1.4.0")] }, { consumer: [need] }).requirements;
  assert.ok(resolved);
  const advised = /\("(.*)"\)/.exec(remedyOf(resolved) ?? "")?.[1] ?? "";
  const [after] = resolve(
    { p: [provides("time.source", "1.4.0")] },
    { consumer: [{ ...need, versionConstraint: advised }] },
  ).requirements;
  assert.equal(after?.outcome.kind, "Bound");
});

test("one capability in two scopes gives two requirements with their own providers", () => {
  const needs = [requires("time.source"), requires("time.source", "*", { scope: "session" })];
  const { requirements } = resolve(
    { a: [provides("time.source"), provides("time.source", "1.0.0", { scope: "session" })] },
    { consumer: needs },
  );
  assert.deepEqual(
    requirements.map(({ outcome }) => outcome.kind),
    ["Bound", "Bound"],
  );
});

test("the same requirement twice names both indexes, and the first still holds", () => {
  const needs = [requires("x.y"), requires("time.source"), requires("time.source", ">=1")];
  const { requirements } = resolve({ a: [provides("time.source")] }, { consumer: needs });
  assert.deepEqual(requirements[1]?.outcome.kind, "Bound");
  assert.deepEqual(requirements[2]?.outcome, { kind: "Duplicate", firstIndex: 1 });
});

test("a constraint that cannot be read is an error of its own, also for an optional requirement", () => {
  const { requirements } = resolve(
    { a: [provides("time.source")] },
    { consumer: [requires("time.source", ">=oops", { dependencyMode: "optional" })] },
  );
  assert.deepEqual(requirements[0]?.outcome, {
    kind: "InvalidConstraint",
    column: 3,
    message: 'expected a version such as "1.2.3", found "o"',
  });
});

test("missing modules are told apart by whether the game can do without them", () => {
  const definition = game(["there", "gone-b", "gone-a", { name: "extra", required: false }]);
  const resolution = resolveGame(definition, (name) => (name === "there" ? manifest("there", []) : undefined));
  assert.deepEqual(resolution.missingRequired, ["gone-a", "gone-b"]);
  assert.deepEqual(resolution.missingOptional, ["extra"]);
});

const scopes = ["world", "session"] as const;
const versions = ["0.9.0", "1.0.0", "1.2.0", "1.2.0-beta.1", "2.0.0", "2.1.0"];
const constraints = ["^1.0.0", "*", ">=1.2, <3", "~2.0", "^9", "1.x || 2.1.0", ">=1.0.0-0"];
const anyProvided = fc.record({
  capabilityId: fc.constantFrom("a.a", "b.b"),
  version: fc.constantFrom(...versions),
  scope: fc.constantFrom(...scopes),
  multiplicity: fc.constantFrom("1" as const, "many" as const),
});
const anyRequirement = fc.record({
  capabilityId: fc.constantFrom("a.a", "b.b", "c.c"),
  versionConstraint: fc.constantFrom(...constraints),
  scope: fc.constantFrom(...scopes),
  multiplicity: fc.constantFrom("1" as const, "many" as const),
  dependencyMode: fc.constantFrom("required" as const, "optional" as const),
});
const anyModules = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom("m1", "m2", "m3", "m4", "m5"),
    offers: fc.array(anyProvided, { maxLength: 4 }),
    needs: fc.uniqueArray(anyRequirement, {
      maxLength: 4,
      selector: (need) => `${need.capabilityId} ${need.scope} ${need.multiplicity}`,
    }),
  }),
  { selector: ({ name }) => name, minLength: 1 },
);

test("random games: the answer is sound, complete and the best, as a brute-force search finds it", () => {
  fc.assert(
    fc.property(anyModules, (modules) => {
      const manifests = modules.map(({ name, offers, needs }) => manifest(name, offers, needs));
      for (const { requirement, outcome } of resolveAll(manifests).requirements) {
        const expected = bruteForce(requirement, manifests);
        const found =
          outcome.kind === "Bound"
            ? outcome.providers.map((p) => `${p.moduleManifestName}@${p.provision.version}`)
            : [];
        assert.deepEqual(found, expected);
      }
    }),
    { numRuns: 500 },
  );
});

test("random games: a hundred shuffles of the inputs give one answer", () => {
  fc.assert(
    fc.property(anyModules, fc.infiniteStream(fc.nat()), (modules, chance) => {
      const manifests = modules.map(({ name, offers, needs }) => manifest(name, offers, needs));
      const expected = JSON.stringify(resolveAll(manifests));
      for (let round = 0; round < 100; round++) {
        const shuffled = [...manifests].sort(() => ((chance.next().value as number) % 2 === 0 ? -1 : 1));
        assert.equal(JSON.stringify(resolveAll(shuffled)), expected);
      }
    }),
    { numRuns: 20 },
  );
});

test("random games: when one manifest leaves, only requirements that it served change", () => {
  fc.assert(
    fc.property(anyModules, fc.nat(), (modules, chance) => {
      const manifests = modules.map(({ name, offers, needs }) => manifest(name, offers, needs));
      const leaving = manifests[chance % manifests.length];
      const before = boundOf(resolveAll(manifests));
      const after = boundOf(resolveAll(manifests.filter((module) => module !== leaving)));
      for (const [key, providers] of after) {
        const kept = before.get(key)?.filter((provider) => !provider.startsWith(`${leaving?.metadata.name}@`));
        if (kept?.length === before.get(key)?.length) assert.deepEqual(providers, before.get(key));
      }
    }),
  );
});

test("random worlds: what was written is found as wanted, and nothing is written again", () => {
  fc.assert(
    fc.property(anyModules, (modules) => {
      const manifests = modules.map(({ name, offers, needs }) => manifest(name, offers, needs));
      const first = planOf(manifests, []);
      const again = planOf(manifests, first.apply.map(stored));
      assert.deepEqual(again, { ...nothingToWrite, unchanged: first.apply.length });
    }),
  );
});

test("random worlds: a changed manifest moves only bindings that it takes part in, now or then", () => {
  fc.assert(
    fc.property(anyModules, fc.array(anyProvided, { maxLength: 4 }), fc.nat(), (modules, offers, chance) => {
      const manifests = modules.map(({ name, offers: old, needs }) => manifest(name, old, needs));
      const changing = manifests[chance % manifests.length];
      assert.ok(changing);
      const before = planOf(manifests, []).apply.map(stored);
      const later = manifests.map((module) =>
        module === changing ? manifest(module.metadata.name, offers, module.spec.requires) : module,
      );
      const { apply, remove } = planOf(later, before);
      const touched = changing.metadata.name;
      for (const { metadata, spec } of apply) {
        const old = before.find((binding) => binding.metadata.name === metadata.name);
        const parties = [spec.provider.moduleManifestName, old?.spec.provider.moduleManifestName];
        assert.ok(parties.includes(touched), `${metadata.name} moved without ${touched}`);
      }
      for (const { spec } of remove) assert.equal(spec.provider.moduleManifestName, touched);
    }),
  );
});

function planOf(manifests: readonly ModuleManifest[], bindings: readonly CapabilityBinding[]): BindingPlan {
  const definition = game(manifests.map(({ metadata }) => metadata.name));
  const decision = evaluate({ world: world(), game: { definition, resolution: resolveAll(manifests) }, bindings });
  assert.ok(decision.kind === "Resolve");
  return decision.plan;
}

/** As it comes back from the API: equal, but never the same object. */
const stored = (binding: DesiredBinding): CapabilityBinding => structuredClone({ ...binding });

function resolve(
  offers: Readonly<Record<string, readonly Provided[]>>,
  needs: Readonly<Record<string, readonly Requirement[]>>,
): Resolution {
  const names = [...new Set([...Object.keys(offers), ...Object.keys(needs)])];
  return resolveAll(names.map((name) => manifest(name, offers[name] ?? [], needs[name] ?? [])));
}

function resolveAll(manifests: readonly ModuleManifest[]): Resolution {
  return resolveGame(game(manifests.map(({ metadata }) => metadata.name)), (name) =>
    manifests.find(({ metadata }) => metadata.name === name),
  );
}

function boundOf(resolution: Resolution): Map<string, string[]> {
  return new Map(
    resolution.requirements.map(({ consumer, index, outcome }) => [
      `${consumer} ${index}`,
      outcome.kind === "Bound" ? outcome.providers.map((p) => `${p.moduleManifestName}@${p.provision.version}`) : [],
    ]),
  );
}

/** The specification's words, without any of the resolver's own machinery. */
function bruteForce(need: Requirement, manifests: readonly ModuleManifest[]): string[] {
  const constraint = parseConstraint(need.versionConstraint);
  assert.ok(constraint.ok);
  const fitting = manifests.flatMap((module) =>
    module.spec.provides
      .filter((offer) => offer.capabilityId === need.capabilityId && offer.scope === need.scope)
      .filter((offer) => need.multiplicity === "1" || offer.multiplicity === "many")
      .map((offer) => ({ name: module.metadata.name, offer, version: parseSemVer(offer.version) }))
      .filter(({ version }) => version.ok && satisfies(version.version, constraint.constraint)),
  );
  fitting.sort((a, b) => {
    assert.ok(a.version.ok && b.version.ok);
    return compareSemVer(b.version.version, a.version.version) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
  });
  const chosen = fitting.filter(({ name }, index) => fitting.findIndex((other) => other.name === name) === index);
  const answer = chosen.map(({ name, offer }) => `${name}@${offer.version}`);
  return need.multiplicity === "1" ? answer.slice(0, 1) : answer;
}
