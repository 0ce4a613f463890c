import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { Deployment } from "../../../api/builtin/workloads.ts";
import { systemEnv } from "../../../env/system.ts";
import { MetricsRegistry } from "../../../runtime/metrics.ts";
import { createConditions } from "./condition.ts";
import { conditionInput } from "./condition-input.ts";
import { decide } from "./decide.ts";
import { defaultPolicies } from "./default-policies.ts";
import { createPolicyKeeper } from "./policy-keeper.ts";
import { compilePolicies } from "./policy-set.ts";

const env = systemEnv;
const verdict = (files: Readonly<Record<string, string>>, input: unknown = {}) =>
  decide(compilePolicies(files, env), input, 200);

const upstreamCommon = `package kubernetesexecution.safety.common
import future.keywords.if
import future.keywords.in
deny[msg] { is_protected_namespace; msg := sprintf("Actions not allowed in protected namespace '%s'", [input.namespace]) }
is_protected_namespace if { input.namespace in ["kube-system","kube-public","kube-node-lease","kubernaut-system"] }
`;
const upstreamSafety = `package kubernetes_executor.safety
deny[reason] { input.action_name == "ScaleDeployment"; to_number(input.parameters.replicas) == 0
  input.target_resource.labels.critical == "true"; reason := "Cannot scale critical deployment to zero replicas" }
allow { count(deny) == 0 }
`;

describe("safety policies", () => {
  test("upstream's own policies are read as they are, and packages below the root are seen", () => {
    const files = { "common.rego": upstreamCommon, "safety.rego": upstreamSafety };
    assert.deepEqual(verdict(files, { namespace: "kube-system" }).violations, [
      "Actions not allowed in protected namespace 'kube-system'",
    ]);
    const critical = { labels: { critical: "true" } };
    const input = { action_name: "ScaleDeployment", parameters: { replicas: 0 }, target_resource: critical };
    const denied = verdict(files, input);
    assert.equal(denied.allowed, false);
    assert.ok(denied.violations.includes("Cannot scale critical deployment to zero replicas"));
    assert.equal(verdict(files, { namespace: "shop" }).allowed, true);
  });

  const one = (rule: string): Readonly<Record<string, string>> => ({
    "p.rego": `package kubernetesexecution.safety\nimport rego.v1\n${rule}\n`,
  });
  const cases: readonly (readonly [
    string,
    string,
    { allowed?: boolean; approval?: boolean; dryRun?: boolean; violation?: RegExp },
  ])[] = [
    ["no decision at all allows", "x := 1", { allowed: true }],
    ["an empty deny allows", "deny contains m if { m := input.nothing }", { allowed: true }],
    [
      "a deny with objects shows their ids",
      'deny contains {"id": "P1", "message": "no"}',
      { allowed: false, violation: /^P1: no$/ },
    ],
    ["a deny that is true denies", "deny := true", { allowed: false }],
    [
      "a deny that is a number is not understood, so it denies",
      "deny := 7",
      { allowed: false, violation: /neither a set nor a text/ },
    ],
    [
      "an allow that is defined must be true",
      "allow if input.nothing",
      { allowed: false, violation: /does not allow it/ },
    ],
    ["an allow that says false denies", "default allow := false", { allowed: false }],
    ["an allow that is true allows", "allow := true", { allowed: true }],
    ["an allow that is 1 does not allow", "allow := 1", { allowed: false }],
    ["approval can be required", "require_approval := true", { allowed: true, approval: true }],
    ["approval can be required with reasons", 'require_approval contains "because"', { approval: true }],
    ["a dry run can be required", "require_dry_run if input.a == 1", { dryRun: true }],
    [
      "S6: an error of a built-in denies",
      'deny contains m if { m := to_number("x") }',
      { allowed: false, violation: /the policies failed/ },
    ],
    ["S6: a conflict denies", "allow := input.a\nallow := 2", { allowed: false, violation: /the policies failed/ }],
    [
      "S6: a policy that does not end denies",
      "deny contains x if { some a in numbers.range(1, 100000); some b in numbers.range(1, 100000); a * b == -1; x := a }",
      { allowed: false, violation: /the policies failed/ },
    ],
  ];
  for (const [name, rule, expected] of cases)
    test(name, () => {
      const got = verdict(one(rule), { a: 1 });
      if (expected.allowed !== undefined) assert.equal(got.allowed, expected.allowed, got.violations.join());
      if (expected.approval !== undefined) assert.equal(got.requiredApproval, expected.approval);
      if (expected.dryRun !== undefined) assert.equal(got.requiredDryRun, expected.dryRun);
      if (expected.violation) assert.match(got.violations.join(), expected.violation);
    });

  test("F45: a set that does not compile leaves the last good one in force and says so", () => {
    const keeper = createPolicyKeeper(env, new MetricsRegistry());
    const configMap = (resourceVersion: string, rego: string) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "safety-policies", namespace: "kubernaut-system", uid: "u", resourceVersion },
      data: { "p.rego": rego },
    });
    assert.deepEqual(keeper(undefined), {});
    const broken = keeper(configMap("1", "this is no rego"));
    assert.equal(broken.set, undefined);
    assert.match(broken.problem ?? "", /rego_parse_error/);
    const good = keeper(configMap("2", 'package kubernetesexecution.safety\ndeny contains "no"'));
    assert.equal(good.problem, undefined);
    const worse = keeper(configMap("3", "package kubernetesexecution.safety\nallow if undefined_function(1)"));
    assert.equal(worse.set, good.set);
    assert.ok(worse.problem);
    const gone = keeper(undefined);
    assert.equal(gone.set, good.set);
    assert.ok(gone.problem);
  });

  test("S6: whatever goes wrong with the policies, nothing is allowed", (context) => {
    const root = "package kubernetesexecution.safety\nimport rego.v1\n";
    const slow = "some a in numbers.range(1, 100000); some b in numbers.range(1, 100000); a * b == -1";
    const failures: Readonly<Record<string, Readonly<Record<string, string>> | undefined>> = {
      "no ConfigMap": undefined,
      "an empty ConfigMap": {},
      "a misspelt key": { "safety.reg": `${root}allow := true` },
      "only tests": { "safety_test.rego": `${root}allow := true` },
      "no Rego": { "a.rego": "{}" },
      "an empty file": { "a.rego": "" },
      "half a file": { "a.rego": `${root}deny contains m if {` },
      "one good file and a broken one": { "a.rego": `${root}allow := true`, "b.rego": "package" },
      "a function that is not there": { "a.rego": `${root}allow if nothing(1)` },
      "a circle": { "a.rego": `${root}allow if deny\ndeny if allow` },
      "an unsafe variable": { "a.rego": `${root}allow if x == y` },
      "an error of a built-in": { "a.rego": `${root}deny contains m if m := to_number("x")` },
      "an error in what asks for approval": { "a.rego": `${root}require_approval if to_number("x") == 1` },
      "a conflict": { "a.rego": `${root}allow := input.a\nallow := 2` },
      "no end": { "a.rego": `${root}deny contains a if { ${slow} }` },
      "no end of what asks for a dry run": { "a.rego": `${root}require_dry_run if { ${slow} }` },
      "an allow that is not defined": { "a.rego": `${root}allow if input.nothing` },
      "an allow that is a text": { "a.rego": `${root}allow := "true"` },
      "an allow that is null": { "a.rego": `${root}allow := null` },
      "one allow of two": {
        "a.rego": `${root}allow := true`,
        "b.rego": "package kubernetesexecution.safety.b\nallow := false",
      },
      "a deny that is a number": { "a.rego": `${root}deny := 7` },
      "a deny of empty texts": { "a.rego": `${root}deny contains ""` },
      "an approval that is a number": { "a.rego": `${root}require_approval := 7` },
      "a dry run that is a text": { "a.rego": `${root}require_dry_run := "yes"` },
      "the network": {
        "a.rego": `${root}allow if http.send({"method": "get", "url": "http://127.0.0.1:9"}).status_code == 200`,
      },
    };
    for (const [name, data] of Object.entries(failures)) {
      const metadata = { name: "safety-policies", namespace: "kubernaut-system", uid: "u", resourceVersion: "1" };
      const source = data && { apiVersion: "v1", kind: "ConfigMap", metadata, data };
      const { set } = createPolicyKeeper(env, new MetricsRegistry())(source);
      assert.equal(set ? decide(set, { a: 1 }, 200).allowed : false, false, name);
    }
    context.diagnostic(`S6: ${Object.keys(failures).length} injected failures, all denied`);
  });

  test("the policies that are installed are the ones in policies/", () => {
    for (const [name, text] of Object.entries(defaultPolicies))
      assert.equal(text, readFileSync(`policies/${name}`, "utf8"), name);
    assert.equal(Object.keys(defaultPolicies).length, 3);
  });
});

describe("conditions", () => {
  const evaluate = createConditions(env);
  const condition = (rego: string) => ({ type: "ready", rego, required: true });
  const state = {
    object: {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web", generation: 2 },
      spec: { replicas: 5 },
      status: { readyReplicas: 5, observedGeneration: 2, conditions: [{ type: "Available", status: "True" }] },
    },
    related: [],
  };
  const target = { kind: Deployment, namespace: "shop", name: "web" };
  const input = conditionInput("scale_deployment", { replicas: 5 }, target, state);
  const cases: readonly (readonly [string, string, string])[] = [
    [
      "the example of the manifest holds",
      "package postcondition.scale_deployment\nimport rego.v1\nallow if input.ready_pods >= input.target_replicas",
      "Met",
    ],
    ["conditions of the target can be asked for", "package postcondition\nallow if input.conditions.Available", "Met"],
    ["older Rego is read too", "package postcondition\nallow { input.deployment_found }", "Met"],
    ["how many pods are added is told", "package postcondition\nallow if input.additional_replicas == 0", "Met"],
    ["an undefined decision is no yes", "package postcondition\nallow if input.ready_pods > 5", "NotMet"],
    ["a decision that is not true is no yes", 'package postcondition\nallow := "yes"', "NotMet"],
    ["another package is refused", "package precondition\nallow := true", "Broken"],
    ["what does not compile is refused", "package postcondition\nallow if", "Broken"],
    ["without a decision it is refused or never holds", "package postcondition\nx := 1", "NotMet"],
  ];
  for (const [name, rego, kind] of cases)
    test(name, () => assert.equal(evaluate("postcondition", condition(rego), input).kind, kind));
});
