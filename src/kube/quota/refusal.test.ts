import assert from "node:assert/strict";
import { test } from "node:test";
import { isQuotaRefusal } from "./refusal.ts";

const cases: readonly (readonly [string, string | undefined, boolean])[] = [
  ["too much", 'pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1', true],
  ["no limit given", 'pods "a" is forbidden: failed quota: q: must specify limits.cpu for: web', true],
  ["several missing", 'pods "a" is forbidden: failed quota: q: must specify limits.cpu for: a,b; memory for: a', true],
  ["not counted yet", 'pods "a" is forbidden: status unknown for quota: q, resources: pods', true],
  ["less than nothing", 'pods "a" is forbidden: quota usage is negative for resource(s): requests.cpu', true],
  ["limited by default", 'pods "a" is forbidden: insufficient quota to consume: pods', true],
  ["a scope that no quota covers", "insufficient quota to match these scopes: [{PriorityClass In [high]}]", true],
  ["a limit range", 'pods "a" is forbidden: maximum cpu usage per Container is 1, but limit is 2', false],
  ["rights", 'deployments.apps is forbidden: User "x" cannot create resource "resourcequotas"', false],
  ["a field that is missing", "spec.volumes[0]: Required value: must specify a volume type", false],
  ["an object that is called quota", 'pods "exceeded-quota" is forbidden: no', false],
  ["nothing", undefined, false],
];

for (const [name, message, expected] of cases)
  test(`${name}: ${expected ? "a quota's" : "not a quota's"} refusal`, () =>
    assert.equal(isQuotaRefusal(message), expected));
