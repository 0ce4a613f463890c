import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../../kube/object.ts";
import type { RefusalReason } from "../../../runtime/refusal.ts";
import type { Write } from "../../../runtime/write.ts";
import type { ChildKind } from "../child-kinds.ts";
import type { ManagedKind } from "../templates/template.ts";
import { enforce } from "./enforce.ts";
import type { EnforcementChange } from "./plan.ts";

const template = { spec: { containers: [{ name: "function", image: "i" }] } };
const holders: Readonly<Record<string, readonly [ChildKind, ManagedKind, unknown]>> = {
  autoscaler: ["HorizontalPodAutoscaler", "Deployment", { minReplicas: 1, maxReplicas: 9 }],
  knative: ["KnativeService", "KnativeService", { template }],
  deployment: ["Deployment", "Deployment", { replicas: 1, template }],
};

function changeOf(holder: string): EnforcementChange {
  const [kind, workload, spec] = holders[holder] ?? assert.fail(holder);
  const metadata = { name: "cart", namespace: "shop" };
  const object = { apiVersion: "", kind, metadata, spec } as KubeObject;
  return {
    dimension: "replicas",
    target: 3,
    confidence: 1,
    cooldownUntil: new Date(0),
    holders: [
      { holder: { kind, object, workload: { kind: workload, name: "cart", object } }, values: { replicas: 3 } },
    ],
  };
}

interface Applied {
  readonly kind: string;
  readonly spec: unknown;
  readonly manager: string | undefined;
}

/** A server that refuses everything, or nothing. */
function server(reason?: RefusalReason): { readonly write: Write; readonly applied: Applied[] } {
  const applied: Applied[] = [];
  const apply = async (
    kind: { readonly kind: string },
    object: { readonly spec?: unknown },
    options?: { readonly fieldManager?: string },
  ) => {
    applied.push({ kind: kind.kind, spec: object.spec, manager: options?.fieldManager });
    return reason === undefined
      ? { ok: true, object }
      : { ok: false, reason, message: "the server says no", causes: [] };
  };
  return { write: { apply } as unknown as Write, applied };
}

const ways: readonly (readonly [holder: string, kind: string, spec: unknown])[] = [
  ["autoscaler", "HorizontalPodAutoscaler", { minReplicas: 3 }],
  ["knative", "Service", { template: { metadata: { annotations: { "autoscaling.knative.dev/minScale": "3" } } } }],
  ["deployment", "Deployment", { replicas: 3 }],
];
for (const [holder, kind, spec] of ways) {
  test(`replicas are enforced through the ${holder}, by the enforcer's own field manager`, async () => {
    const { write, applied } = server();
    const results = await enforce([changeOf(holder)], write);
    assert.deepEqual(
      results.map(({ ok }) => ok),
      [true],
    );
    assert.deepEqual(applied, [{ kind, spec, manager: "oprc-crm-enforcer" }]);
  });
}

const refusals: readonly (readonly [holder: string, refused: RefusalReason, reason: string, message: string])[] = [
  [
    "deployment",
    "Conflict",
    "EnforceConflict",
    "Field manager ownership conflict applying enforcement. Object: Deployment/cart.",
  ],
  [
    "autoscaler",
    "Invalid",
    "EnforceInvalid",
    "Invalid enforcement value for HorizontalPodAutoscaler/cart: the server says no.",
  ],
  ["knative", "BadRequest", "EnforceInvalid", "Invalid enforcement value for KnativeService/cart: the server says no."],
  ["deployment", "Forbidden", "EnforceFallbackFailed", "Fallback path failed. Deployment/cart: the server says no"],
  ["autoscaler", "Forbidden", "EnforceFailed", "Enforcement failed. HorizontalPodAutoscaler/cart: the server says no"],
  ["knative", "NotFound", "EnforceFailed", "Enforcement failed. KnativeService/cart: the server says no"],
];
for (const [holder, refused, reason, message] of refusals) {
  test(`${refused} from the ${holder} is ${reason}`, async () => {
    const [result] = await enforce([changeOf(holder)], server(refused).write);
    assert.ok(result && !result.ok);
    assert.deepEqual([result.reason, result.message], [reason, message]);
  });
}
