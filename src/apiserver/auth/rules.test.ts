import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Attributes } from "./attributes.ts";
import type { PolicyRule } from "./rbac-objects.ts";
import { formatRule, ruleAllows, uncoveredRules } from "./rules.ts";

const user = { name: "u", groups: [] };
const asks = (verb: string, resource: string, more: Partial<Attributes> = {}): Attributes => {
  const [plural = "", subresource = ""] = resource.split("/");
  return {
    kind: "Resource",
    user,
    verb,
    group: "",
    resource: plural,
    subresource,
    namespace: "n",
    name: "",
    ...more,
  } as Attributes;
};
const rule = (verbs: string, resources: string, more: Partial<PolicyRule> = {}): PolicyRule => ({
  verbs: verbs.split(","),
  apiGroups: [""],
  resources: resources.split(","),
  ...more,
});

const cases: readonly (readonly [string, PolicyRule, Attributes, boolean])[] = [
  ["the verb and the resource", rule("get", "pods"), asks("get", "pods"), true],
  ["another verb", rule("get", "pods"), asks("list", "pods"), false],
  ["another resource", rule("get", "pods"), asks("get", "secrets"), false],
  ["another group", rule("get", "pods", { apiGroups: ["apps"] }), asks("get", "pods"), false],
  ["a star for verbs", rule("*", "pods"), asks("anything", "pods"), true],
  ["a star for resources takes sub-resources too", rule("get", "*"), asks("get", "pods/log"), true],
  ["a resource does not take its sub-resources", rule("get", "pods"), asks("get", "pods/log"), false],
  ["a sub-resource by name", rule("get", "pods/log"), asks("get", "pods/log"), true],
  ["a sub-resource of any resource", rule("get", "*/scale"), asks("get", "deployments/scale"), true],
  ["a name that is listed", rule("get", "pods", { resourceNames: ["a"] }), asks("get", "pods", { name: "a" }), true],
  [
    "a name that is not listed",
    rule("get", "pods", { resourceNames: ["a"] }),
    asks("get", "pods", { name: "b" }),
    false,
  ],
  ["no name where names are listed", rule("list", "pods", { resourceNames: ["a"] }), asks("list", "pods"), false],
  [
    "a path",
    { verbs: ["get"], nonResourceURLs: ["/metrics"] },
    { kind: "Path", user, verb: "get", path: "/metrics" },
    true,
  ],
  [
    "a path below a star",
    { verbs: ["get"], nonResourceURLs: ["/api/*"] },
    { kind: "Path", user, verb: "get", path: "/api/v1" },
    true,
  ],
  [
    "a path beside a star",
    { verbs: ["get"], nonResourceURLs: ["/api/*"] },
    { kind: "Path", user, verb: "get", path: "/apis" },
    false,
  ],
  ["a path is no resource", rule("*", "*"), { kind: "Path", user, verb: "get", path: "/metrics" }, false],
];

describe("a rule", () => {
  for (const [what, given, attributes, expected] of cases) {
    it(`${expected ? "allows" : "does not allow"}: ${what}`, () =>
      assert.equal(ruleAllows(given, attributes), expected));
  }

  it("is printed as the real server prints it", () => {
    assert.equal(formatRule(rule("get,list", "pods")), '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}');
  });
});

describe("what one may give", () => {
  it("is what one has, in whatever pieces", () => {
    const held = [rule("get", "pods"), rule("list", "pods,secrets")];
    assert.deepEqual(uncoveredRules(held, [rule("get,list", "pods")]), []);
    assert.deepEqual(uncoveredRules(held, [rule("get", "pods,secrets")]), [rule("get", "secrets")]);
  });

  it("with a name is covered by the right without names, not the other way round", () => {
    const one = rule("get", "pods", { resourceNames: ["a"] });
    assert.deepEqual(uncoveredRules([rule("get", "pods")], [one]), []);
    assert.equal(uncoveredRules([one], [rule("get", "pods")]).length, 1);
  });

  it("never allows a request that the giver could not make himself", () => {
    const word = fc.subarray(["get", "list", "*"], { minLength: 1 });
    const resource = fc.subarray(["pods", "pods/log", "*/log", "secrets", "*"], { minLength: 1 });
    const names = fc.subarray(["a", "b"]);
    const anyRule = fc.record({
      verbs: word,
      apiGroups: fc.subarray(["", "apps", "*"], { minLength: 1 }),
      resources: resource,
      resourceNames: names,
    });
    const request = fc.record({
      verb: fc.constantFrom("get", "list"),
      group: fc.constantFrom("", "apps"),
      resource: fc.constantFrom("pods", "secrets"),
      subresource: fc.constantFrom("", "log"),
      name: fc.constantFrom("", "a", "b"),
    });
    fc.assert(
      fc.property(fc.array(anyRule, { maxLength: 4 }), anyRule, request, (held, given, asked) => {
        if (uncoveredRules(held, [given]).length > 0) return;
        const attributes: Attributes = { kind: "Resource", user, namespace: "n", ...asked };
        if (ruleAllows(given, attributes)) assert.ok(held.some((each) => ruleAllows(each, attributes)));
      }),
    );
  });
});
