import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { systemEnv } from "../../../env/system.ts";
import { actionDefinition } from "../actions/catalogue.ts";
import { checkParameters } from "../parameters.ts";
import { decide } from "./decide.ts";
import { policyInput } from "./input.ts";
import { compilePolicies } from "./policy-set.ts";

/** A policy that objects with what it sees, word for word. */
const mirror = compilePolicies(
  {
    "mirror.rego": `package kubernetesexecution.safety
import rego.v1
deny contains json.marshal({"patch": object.get(input, "patch", null), "manifest": object.get(input, "manifest", null), "parameters": input.parameters, "namespace": input.namespace, "name": input.target_resource.name})
`,
  },
  systemEnv,
);

interface Seen {
  readonly patch: unknown;
  readonly manifest: unknown;
  readonly parameters: unknown;
  readonly namespace: string;
  readonly name: string;
}

/** What a policy sees of a request, and what would be sent; nothing where the request is refused first. */
function bothSidesOf(action: "patch_deployment" | "apply_manifest", member: string, given: object) {
  const checked = checkParameters({ action, parameters: { [member]: given } });
  if (!checked.ok) return undefined;
  const definition = actionDefinition(action);
  const target = definition.target(checked.parameters);
  const { violations } = decide(
    mirror,
    policyInput({
      action,
      parameters: checked.parameters,
      target,
      state: { related: [] },
      namespaceLabels: {},
      execution: { apiVersion: "", kind: "", metadata: { name: "x" } },
      askers: [],
      serviceAccount: "",
      permissions: [],
      protectedNamespaces: [],
      clusterName: "",
      totalNodes: 1,
      availableNodes: 1,
      concurrentActions: 0,
      recentActions: 0,
    }),
  );
  const [effect] = definition.plan({ related: [] }, checked.parameters, { startedAt: "" }).effects;
  assert.equal(violations.length, 1);
  // What goes over the wire, not what JavaScript holds.
  const sent = JSON.parse(JSON.stringify(effect)) as { readonly patch?: unknown; readonly object?: unknown };
  return { seen: JSON.parse(violations[0] ?? "") as Seen, sent, target };
}

const oddTexts = [
  '{"spec":{"replicas":1e400}}',
  "spec: {replicas: .inf}",
  "spec: {replicas: .nan}",
  '{"spec":{"replicas":-0}}',
  '{"spec":{"replicas":9007199254740993}}',
  '{"spec":{"replicas":123456789012345678901234567890}}',
  '{"spec":{"replicas":1,"replicas":2}}',
  '{"spec":{"__proto__":{"replicas":0}}}',
  '{"__proto__":{"spec":{"replicas":0}}}',
  '{"spec":{"constructor":{"prototype":{"replicas":0}}}}',
  "spec: {<<: {replicas: 0}}",
  "spec: &a {x: *a}",
  "a: &a {replicas: 0}\nspec: *a",
  "spec: !!js/function 1",
  "spec: {replicas: 0x10}",
  "spec: {replicas: 010}",
  "spec: {replicas: 1_000}",
  "spec: {on: yes, d: 2020-01-01}",
  "spec: {? [a] : b}",
  "{}\n---\n{}",
  "\ufeff{}",
  "",
];

test("S7: a policy sees exactly what would be sent, however it is written", (context) => {
  let asked = 0;
  let refused = 0;
  const patch = (patchType: string, text: string): void => {
    asked++;
    const both = bothSidesOf("patch_deployment", "patchDeployment", {
      deployment: "web",
      namespace: "shop",
      patchType,
      patch: text,
    });
    if (both === undefined) refused++;
    else assert.deepEqual(both.seen.patch, both.sent.patch, text);
  };
  const manifest = (text: string): void => {
    asked++;
    const both = bothSidesOf("apply_manifest", "applyManifest", { manifest: text });
    if (both === undefined) {
      refused++;
      return;
    }
    assert.deepEqual(both.seen.manifest, both.sent.object, text);
    const { metadata } = both.sent.object as {
      readonly metadata: { readonly namespace: string; readonly name: string };
    };
    assert.deepEqual([both.seen.namespace, both.seen.name], [metadata.namespace, metadata.name]);
    assert.deepEqual([both.target.namespace, both.target.name], [metadata.namespace, metadata.name]);
  };
  for (const text of oddTexts) for (const type of ["merge", "strategic", "json"]) patch(type, text);
  for (const text of oddTexts)
    manifest(`apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n${text}`);
  const odd = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom(
      "__proto__",
      "constructor",
      "kube-system",
      "ｋube-system",
      "kube\u200b-system",
      "kube-system.",
      "KUBE-SYSTEM",
    ),
  );
  const value = fc.jsonValue({ noUnicodeString: false, maxDepth: 4 });
  fc.assert(
    fc.property(fc.constantFrom("merge", "strategic"), fc.dictionary(odd, value), (type, spec) =>
      patch(type, JSON.stringify({ spec })),
    ),
    { numRuns: 1_000 },
  );
  fc.assert(
    fc.property(
      fc.array(fc.record({ op: fc.constantFrom("add", "replace", "test"), path: odd, value })),
      (operations) =>
        patch(
          "json",
          JSON.stringify(operations.map((operation) => ({ ...operation, path: `/spec/${operation.path}` }))),
        ),
    ),
    { numRuns: 1_000 },
  );
  fc.assert(
    fc.property(
      fc.oneof(fc.constant("shop"), odd),
      fc.oneof(fc.constant("a"), odd),
      fc.dictionary(odd, value),
      (namespace, name, data) =>
        manifest(JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data })),
    ),
    { numRuns: 1_000 },
  );
  context.diagnostic(
    `S7: ${asked} ways to write it, ${refused} refused, ${asked - refused} seen as they would be sent`,
  );
});
