import assert from "node:assert/strict";
import { assertStatus, type Case, type Context, configMap, mergePatch, type Reply } from "../case.ts";
import { startWebhook, type WebhookServer } from "../webhook-server.ts";

const admission = "/apis/admissionregistration.k8s.io/v1";

interface PolicyOptions {
  readonly actions?: readonly string[];
  readonly spec?: object;
  readonly binding?: object;
  readonly operations?: readonly string[];
}

/** A policy for ConfigMaps of this case's namespace only: other cases run at the same time. */
async function policy(t: Context, validations: readonly object[], options: PolicyOptions = {}): Promise<string> {
  const name = `p-${t.id}`;
  const namespace = await t.namespace();
  const operations = options.operations ?? ["CREATE", "UPDATE"];
  await t.create(`${admission}/validatingadmissionpolicies`, {
    metadata: { name },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations, resources: ["configmaps"] }],
      },
      validations,
      ...options.spec,
    },
  });
  t.onCleanUp(() => t.request("DELETE", `${admission}/validatingadmissionpolicies/${name}`));
  await t.create(`${admission}/validatingadmissionpolicybindings`, {
    metadata: { name },
    spec: {
      policyName: name,
      validationActions: options.actions ?? ["Deny"],
      matchResources: { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } },
      ...options.binding,
    },
  });
  t.onCleanUp(() => t.request("DELETE", `${admission}/validatingadmissionpolicybindings/${name}`));
  return name;
}

/** A policy is enforced a moment after it was written; `probe` must come to be refused. */
const enforced = (
  t: Context,
  probe: () => Promise<Reply>,
  isThere = (reply: Reply) => reply.status >= 400,
): Promise<Reply> =>
  t.eventually("the policy is enforced", async () => {
    const reply = await probe();
    return isThere(reply) && reply;
  });

const dryCreate = async (t: Context, object: object) =>
  t.request("POST", `${await t.core("configmaps")}?dryRun=All`, object);

async function webhook(
  t: Context,
  kind: "validating" | "mutating",
  respond: (request: Readonly<Record<string, unknown>>) => object,
  more: object = {},
): Promise<WebhookServer> {
  const server = await startWebhook(respond);
  t.onCleanUp(() => server.close());
  const plural = `${kind}webhookconfigurations`;
  const name = `w-${t.id}`;
  await t.create(`${admission}/${plural}`, {
    metadata: { name },
    webhooks: [
      {
        name: `${t.id}.example.com`,
        clientConfig: { url: server.url, caBundle: server.caBundle },
        rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["configmaps"] }],
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": await t.namespace() } },
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        timeoutSeconds: 5,
        ...more,
      },
    ],
  });
  t.onCleanUp(() => t.request("DELETE", `${admission}/${plural}/${name}`));
  return server;
}

/** Policies and webhooks: the gate that users build themselves. */
export const admissionCases: readonly Case[] = [
  {
    name: "policy: denies with its message, as Invalid",
    async run(t) {
      const name = await policy(t, [{ expression: "object.metadata.name != 'bad'", message: "bad is no name" }]);
      const reply = await enforced(t, () => dryCreate(t, configMap("bad")));
      assertStatus(
        reply,
        422,
        "Invalid",
        `configmaps "bad" is forbidden: ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request: bad is no name`,
      );
      await t.create(await t.core("configmaps"), configMap("good"));
    },
  },
  {
    name: "policy: without a message shows the expression",
    async run(t) {
      await policy(t, [{ expression: "object.metadata.name != 'bad'" }]);
      const reply = await enforced(t, () => dryCreate(t, configMap("bad")));
      assert.match(reply.text("message"), /denied request: failed expression: object.metadata.name != 'bad'$/);
    },
  },
  {
    name: "policy: a reason decides the status, a message expression the words",
    async run(t) {
      await policy(t, [
        {
          expression: "!has(object.data)",
          reason: "Forbidden",
          messageExpression: "'no data, ' + request.operation + ' of ' + object.metadata.name",
        },
      ]);
      const reply = await enforced(t, () => dryCreate(t, configMap("a", { x: "1" })));
      assertStatus(reply, 403, "Forbidden", /denied request: no data, CREATE of a$/);
    },
  },
  {
    name: "policy: compares with the old object",
    async run(t) {
      await policy(t, [
        { expression: "oldObject == null || object.data.v == oldObject.data.v", message: "v is fixed" },
      ]);
      const path = await t.core("configmaps");
      await t.create(path, configMap("a", { v: "1" }));
      const reply = await enforced(t, () =>
        t.request("PATCH", `${path}/a?dryRun=All`, { data: { v: "2" } }, { contentType: mergePatch }),
      );
      assertStatus(reply, 422, "Invalid", /v is fixed$/);
      await t.patch(`${path}/a`, mergePatch, { data: { other: "1" } });
    },
  },
  {
    name: "policy: knows who asks",
    async run(t) {
      await policy(t, [
        {
          expression: "request.userInfo.username != 'jane' && !('interns' in request.userInfo.groups)",
          message: "not you",
        },
      ]);
      const headers = { "impersonate-user": "jane", "impersonate-group": "system:masters" };
      const reply = await enforced(t, async () =>
        t.request("POST", `${await t.core("configmaps")}?dryRun=All`, configMap("a"), { headers }),
      );
      assertStatus(reply, 422, "Invalid", /not you$/);
      await t.create(await t.core("configmaps"), configMap("a"));
    },
  },
  {
    name: "policy: variables build on each other, errors deny",
    async run(t) {
      const variables = [
        { name: "n", expression: "object.metadata.name" },
        { name: "isBad", expression: "variables.n.startsWith('bad')" },
      ];
      await policy(
        t,
        [{ expression: "!variables.isBad" }, { expression: "variables.n != 'broken' || object.nothing.x == 1" }],
        { spec: { variables } },
      );
      const reply = await enforced(t, () => dryCreate(t, configMap("bad-one")));
      assert.match(reply.text("message"), /failed expression: !variables.isBad$/);
      const broken = await dryCreate(t, configMap("broken"));
      assertStatus(broken, 422, "Invalid", /resulted in error: no such key: nothing$/);
    },
  },
  {
    name: "policy: match conditions say when it applies",
    async run(t) {
      const matchConditions = [
        { name: "only-marked", expression: "has(object.metadata.labels) && object.metadata.labels.marked == 'yes'" },
      ];
      await policy(t, [{ expression: "false", message: "never" }], { spec: { matchConditions } });
      await enforced(t, () => dryCreate(t, configMap("a", {}, { labels: { marked: "yes" } })));
      await t.create(await t.core("configmaps"), configMap("b"));
    },
  },
  {
    name: "policy: takes parameters from objects",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("limits", { max: "2" }));
      await policy(
        t,
        [
          {
            expression:
              "object.metadata.name == 'limits' || !has(object.data) || object.data.size() <= int(params.data.max)",
            message: "too much",
          },
        ],
        {
          spec: { paramKind: { apiVersion: "v1", kind: "ConfigMap" } },
          binding: { paramRef: { name: "limits", parameterNotFoundAction: "Deny" } },
        },
      );
      const reply = await enforced(
        t,
        () => dryCreate(t, configMap("a", { a: "1", b: "2", c: "3" })),
        (each) => /too much$/.test(each.text("message")),
      );
      assertStatus(reply, 422, "Invalid");
      await t.eventually(
        "two are fine",
        async () => (await dryCreate(t, configMap("a", { a: "1", b: "2" }))).status === 201,
      );
    },
  },
  {
    name: "policy: Warn lets through and warns",
    async run(t) {
      const name = await policy(t, [{ expression: "false", message: "think again" }], { actions: ["Warn"] });
      const reply = await enforced(
        t,
        () => dryCreate(t, configMap("a")),
        (each) => each.warnings.length > 0,
      );
      assert.equal(reply.status, 201);
      assert.deepEqual(reply.warnings, [
        `Validation failed for ValidatingAdmissionPolicy '${name}' with binding '${name}': think again`,
      ]);
    },
  },
  {
    name: "policy: Audit says nothing to whoever writes",
    async run(t) {
      const validations = [{ expression: "false", message: "think again" }];
      const name = await policy(t, validations, { actions: ["Warn"] });
      await enforced(
        t,
        () => dryCreate(t, configMap("a")),
        (each) => each.warnings.length > 0,
      );
      const path = `${admission}/validatingadmissionpolicybindings/${name}`;
      await t.patch(path, mergePatch, { spec: { validationActions: ["Audit"] } });
      await t.eventually("it is only audited", async () => {
        const reply = await dryCreate(t, configMap("a"));
        return reply.status === 201 && reply.warnings.length === 0;
      });
    },
  },
  {
    name: "policy: what it adds to the audit log is checked when it is written",
    async run(t) {
      const reply = await t.request("POST", `${admission}/validatingadmissionpolicies?dryRun=All`, {
        metadata: { name: `x-${t.id}` },
        spec: {
          matchConstraints: {
            resourceRules: [
              { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] },
            ],
          },
          auditAnnotations: [
            { key: "a", valueExpression: "'fine'" },
            { key: "b", valueExpression: "null" },
            { key: "a", valueExpression: "object.x +" },
            { key: "c c", valueExpression: "1" },
            { key: "d", valueExpression: "" },
          ],
        },
      });
      assertStatus(reply, 422, "Invalid");
      const message = reply.text("message");
      for (const part of [
        'spec.auditAnnotations[2].key: Duplicate value: "a"',
        'spec.auditAnnotations[2].valueExpression: Invalid value: "object.x +": compilation failed: ERROR: <input>:1:11',
        `spec.auditAnnotations[3].key: Invalid value: "x-${t.id}/c c": name part must consist of`,
        'spec.auditAnnotations[3].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int',
        "spec.auditAnnotations[4].valueExpression: Required value: valueExpression is not specified",
      ])
        assert.ok(message.includes(part), `${message}\ndoes not say: ${part}`);
      assert.ok(!/auditAnnotations\[[01]\]/.test(message), message);
    },
  },
  {
    name: "policy: guards deletes with the old object",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("keep", {}, { labels: { keep: "yes" } }));
      await t.create(path, configMap("go"));
      await policy(t, [{ expression: "!has(oldObject.metadata.labels)", message: "labelled things stay" }], {
        operations: ["DELETE"],
      });
      const reply = await enforced(t, () => t.request("DELETE", `${path}/keep?dryRun=All`));
      assertStatus(reply, 422, "Invalid", /labelled things stay$/);
      await t.remove(`${path}/go`);
    },
  },
  {
    name: "policy: asks the authorizer",
    async run(t) {
      await policy(t, [
        {
          expression: "authorizer.group('').resource('secrets').namespace('default').check('delete').allowed()",
          message: "only who may delete secrets",
        },
      ]);
      const namespace = await t.namespace();
      const rbac = "/apis/rbac.authorization.k8s.io/v1";
      await t.create(`${rbac}/namespaces/${namespace}/rolebindings`, {
        metadata: { name: "jane" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
        subjects: [{ kind: "User", name: "jane", apiGroup: "rbac.authorization.k8s.io" }],
      });
      const headers = { "impersonate-user": "jane" };
      const reply = await enforced(
        t,
        async () => t.request("POST", `${await t.core("configmaps")}?dryRun=All`, configMap("a"), { headers }),
        (each) => each.status === 422,
      );
      assertStatus(reply, 422, "Invalid", /only who may delete secrets$/);
      await t.create(await t.core("configmaps"), configMap("a"));
    },
  },
  {
    name: "policy: an expression that does not compile is refused when it is written",
    async run(t) {
      const reply = await t.request("POST", `${admission}/validatingadmissionpolicies`, {
        metadata: { name: `x-${t.id}` },
        spec: {
          matchConstraints: {
            resourceRules: [
              { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] },
            ],
          },
          validations: [{ expression: "object.x +" }, { expression: "1" }, { expression: "nobody == 1" }],
        },
      });
      assertStatus(
        reply,
        422,
        "Invalid",
        /spec.validations\[0\].expression: Invalid value: "object.x \+": compilation failed: ERROR: <input>:1:11: Syntax error/,
      );
      assert.match(
        reply.text("message"),
        /spec.validations\[1\].expression: Invalid value: "1": must evaluate to bool but got int/,
      );
      assert.match(reply.text("message"), /undeclared reference to 'nobody'/);
    },
  },
  {
    name: "webhook: a validating one sees the request and can deny it",
    needs: ["same-host"],
    async run(t) {
      const server = await webhook(t, "validating", (request) => {
        const allowed = request["name"] !== "bad";
        return { allowed, ...(!allowed && { status: { code: 403, message: "not this one" } }) };
      });
      const reply = await enforced(t, () => dryCreate(t, configMap("bad")));
      assertStatus(reply, 403, "", `admission webhook "${t.id}.example.com" denied the request: not this one`);
      const review = server.reviews.find((each) => each["name"] === "bad") ?? {};
      assert.equal(review["operation"], "CREATE");
      assert.equal(review["namespace"], await t.namespace());
      assert.deepEqual(review["kind"], { group: "", version: "v1", kind: "ConfigMap" });
      assert.deepEqual(review["resource"], { group: "", version: "v1", resource: "configmaps" });
      assert.equal(review["dryRun"], true);
      assert.equal((review["object"] as { kind: string }).kind, "ConfigMap");
      await t.create(await t.core("configmaps"), configMap("good"));
    },
  },
  {
    name: "webhook: a mutating one changes the object before it is stored",
    needs: ["same-host"],
    async run(t) {
      const patch = [{ op: "add", path: "/data", value: { added: "yes" } }];
      await webhook(t, "mutating", () => ({
        patchType: "JSONPatch",
        patch: Buffer.from(JSON.stringify(patch)).toString("base64"),
      }));
      const made = await enforced(
        t,
        () => dryCreate(t, configMap("a")),
        (each) => each.at("data.added") === "yes",
      );
      assert.equal(made.status, 201);
      const stored = await t.create(await t.core("configmaps"), configMap("a"));
      assert.equal(stored.at("data.added"), "yes");
    },
  },
  {
    name: "webhook: its warnings reach the client",
    needs: ["same-host"],
    async run(t) {
      await webhook(t, "validating", () => ({ warnings: ["mind the gap"] }));
      const reply = await enforced(
        t,
        () => dryCreate(t, configMap("a")),
        (each) => each.warnings.length > 0,
      );
      assert.deepEqual(reply.warnings, ["mind the gap"]);
    },
  },
  {
    name: "webhook: one that cannot be reached fails the request, or is ignored",
    needs: ["same-host"],
    async run(t) {
      const clientConfig = { url: "https://127.0.0.1:1/nothing" };
      await webhook(t, "validating", () => ({}), { clientConfig, failurePolicy: "Fail" });
      const reply = await enforced(t, () => dryCreate(t, configMap("a")));
      assertStatus(
        reply,
        500,
        "InternalError",
        new RegExp(`^Internal error occurred: failed calling webhook "${t.id}.example.com": failed to call webhook: `),
      );
      const path = `${admission}/validatingwebhookconfigurations/w-${t.id}`;
      await t.expect(200, "PATCH", path, [{ op: "replace", path: "/webhooks/0/failurePolicy", value: "Ignore" }], {
        contentType: "application/json-patch+json",
      });
      await t.eventually("it is ignored", async () => (await dryCreate(t, configMap("a"))).status === 201);
    },
  },
  {
    name: "webhook: match conditions keep requests from it",
    needs: ["same-host"],
    async run(t) {
      const matchConditions = [{ name: "marked", expression: "object.metadata.name.startsWith('marked')" }];
      const server = await webhook(t, "validating", () => ({ allowed: false }), { matchConditions });
      await enforced(t, () => dryCreate(t, configMap("marked")));
      await t.create(await t.core("configmaps"), configMap("other"));
      assert.ok(server.reviews.every((each) => each["name"] === "marked"));
    },
  },
  {
    name: "webhook: with side effects is not asked in a dry run",
    needs: ["same-host"],
    async run(t) {
      const reply = await t.request("POST", `${admission}/validatingwebhookconfigurations`, {
        metadata: { name: `s-${t.id}` },
        webhooks: [
          {
            name: "s.example.com",
            clientConfig: { url: "https://127.0.0.1:1/" },
            sideEffects: "Some",
            admissionReviewVersions: ["v1"],
          },
        ],
      });
      assertStatus(
        reply,
        422,
        "Invalid",
        /webhooks\[0\].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"/,
      );
    },
  },
];
