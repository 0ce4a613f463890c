import assert from "node:assert/strict";
import { assertStatus, type Case, type Context, configMap } from "../case.ts";

const rbac = "/apis/rbac.authorization.k8s.io/v1";

/** A ServiceAccount of the case, its token, and the rules that it is given in its namespace. */
async function account(t: Context, rules: readonly object[] = []): Promise<{ token: string; user: string }> {
  const namespace = await t.namespace();
  await t.create(await t.core("serviceaccounts"), { metadata: { name: "tester" } });
  if (rules.length > 0) {
    await t.create(`${rbac}/namespaces/${namespace}/roles`, { metadata: { name: "tester" }, rules });
    await t.create(`${rbac}/namespaces/${namespace}/rolebindings`, {
      metadata: { name: "tester" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "tester" },
      subjects: [{ kind: "ServiceAccount", name: "tester", namespace }],
    });
  }
  const reply = await t.create(`${await t.core("serviceaccounts")}/tester/token`, { spec: {} });
  return { token: reply.text("status.token"), user: `system:serviceaccount:${namespace}:tester` };
}

/** Rights need a moment to be seen everywhere. */
const allowed = (t: Context, token: string, path: string) =>
  t.eventually("the right is seen", async () => (await t.request("GET", path, undefined, { token })).status === 200);

const configMapRules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch"] }];
const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as Record<string, unknown>;

/** Who asks, and what they may do. */
export const identityCases: readonly Case[] = [
  {
    name: "authentication: a wrong token is Unauthorized",
    async run(t) {
      assertStatus(await t.request("GET", "/api", undefined, { token: "wrong" }), 401, "Unauthorized", "Unauthorized");
    },
  },
  {
    name: "authentication: nobody may do nothing",
    async run(t) {
      const reply = await t.request("GET", "/api/v1/namespaces", undefined, { token: "" });
      assert.ok(reply.status === 401 || reply.status === 403, String(reply.status));
      const write = await t.request("POST", "/api/v1/namespaces", { metadata: { name: `x-${t.id}` } }, { token: "" });
      assert.ok(write.status === 401 || write.status === 403, String(write.status));
    },
  },
  {
    name: "authentication: health is for everybody",
    async run(t) {
      for (const path of ["/healthz", "/livez", "/readyz"])
        assert.equal((await t.request("GET", path, undefined, { token: "" })).body, "ok");
    },
  },
  {
    name: "tokens: a ServiceAccount is known by its token",
    async run(t) {
      const { token, user } = await account(t);
      const review = await t.expect(201, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, { token });
      assert.equal(review.at("status.userInfo.username"), user);
      const namespace = await t.namespace();
      assert.deepEqual(review.at("status.userInfo.groups"), [
        "system:serviceaccounts",
        `system:serviceaccounts:${namespace}`,
        "system:authenticated",
      ]);
      assert.match(JSON.stringify(review.at("status.userInfo.extra")), /authentication.kubernetes.io\/credential-id/);
    },
  },
  {
    name: "tokens: carry account, audience, times and a name of their own",
    async run(t) {
      const { token, user } = await account(t);
      const claims = claimsOf(token);
      assert.equal(claims["sub"], user);
      assert.equal(Number(claims["exp"]) - Number(claims["iat"]), 3600);
      assert.ok(claims["jti"] && claims["iss"] && claims["nbf"]);
      assert.equal((claims["kubernetes.io"] as { serviceaccount: { name: string } }).serviceaccount.name, "tester");
    },
  },
  {
    name: "tokens: less than ten minutes is invalid",
    async run(t) {
      await account(t);
      const reply = await t.request("POST", `${await t.core("serviceaccounts")}/tester/token`, {
        spec: { expirationSeconds: 60 },
      });
      assertStatus(
        reply,
        422,
        "Invalid",
        /spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes/,
      );
    },
  },
  {
    name: "tokens: for another audience are not good here",
    async run(t) {
      await account(t);
      const other = await t.create(`${await t.core("serviceaccounts")}/tester/token`, {
        spec: { audiences: ["somebody-else"] },
      });
      const token = other.text("status.token");
      assertStatus(await t.request("GET", "/api", undefined, { token }), 401, "Unauthorized");
      const review = await t.create("/apis/authentication.k8s.io/v1/tokenreviews", {
        spec: { token, audiences: ["somebody-else"] },
      });
      assert.equal(review.at("status.authenticated"), true);
      assert.deepEqual(review.at("status.audiences"), ["somebody-else"]);
    },
  },
  {
    name: "tokens: end with their ServiceAccount",
    async run(t) {
      const { token } = await account(t);
      await t.expect(201, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, { token });
      await t.remove(`${await t.core("serviceaccounts")}/tester`);
      await t.eventually(
        "the token is refused",
        async () => (await t.request("GET", "/api", undefined, { token })).status === 401,
        20_000,
      );
    },
  },
  {
    name: "tokens: are not for an account that is not there",
    async run(t) {
      assertStatus(
        await t.request("POST", `${await t.core("serviceaccounts")}/nobody/token`, { spec: {} }),
        404,
        "NotFound",
        'serviceaccounts "nobody" not found',
      );
    },
  },
  {
    name: "tokens: can be bound to a pod that is there, and to nothing else",
    async run(t) {
      await account(t);
      const path = `${await t.core("serviceaccounts")}/tester/token`;
      const bound = (kind: string) => ({ spec: { boundObjectRef: { kind, apiVersion: "v1", name: "p" } } });
      assertStatus(await t.request("POST", path, bound("Pod")), 404, "NotFound", 'pods "p" not found');
      assertStatus(
        await t.request("POST", path, bound("Foo")),
        400,
        "BadRequest",
        "cannot bind token to object of type /v1, Kind=Foo",
      );
      const pod = {
        metadata: { name: "p" },
        spec: { serviceAccountName: "tester", containers: [{ name: "c", image: "x" }] },
      };
      await t.create(await t.core("pods"), pod);
      const { token } = { token: (await t.create(path, bound("Pod"))).text("status.token") };
      assert.equal((claimsOf(token)["kubernetes.io"] as { pod: { name: string } }).pod.name, "p");
      await t.remove(`${await t.core("pods")}/p?gracePeriodSeconds=0`);
      await t.eventually(
        "the token is refused",
        async () => (await t.request("GET", "/api", undefined, { token })).status === 401,
        20_000,
      );
    },
  },
  {
    name: "token review: tells who a token is, or that it is nobody",
    async run(t) {
      const { token, user } = await account(t);
      const good = await t.create("/apis/authentication.k8s.io/v1/tokenreviews", { spec: { token } });
      assert.equal(good.at("status.authenticated"), true);
      assert.equal(good.at("status.user.username"), user);
      const bad = await t.create("/apis/authentication.k8s.io/v1/tokenreviews", { spec: { token: "x" } });
      assert.equal(bad.at("status.authenticated") ?? false, false);
      assert.match(bad.text("status.error"), /invalid bearer token/);
    },
  },
  {
    name: "rbac: what is not allowed is Forbidden, in full words",
    async run(t) {
      const { token, user } = await account(t);
      const namespace = await t.namespace();
      const refused = (method: string, path: string, body?: object) => t.request(method, path, body, { token });
      assertStatus(
        await refused("GET", await t.core("configmaps")),
        403,
        "Forbidden",
        `configmaps is forbidden: User "${user}" cannot list resource "configmaps" in API group "" in the namespace "${namespace}"`,
      );
      assertStatus(
        await refused("GET", `${await t.core("pods")}/x/log`),
        403,
        "Forbidden",
        `pods "x" is forbidden: User "${user}" cannot get resource "pods/log" in API group "" in the namespace "${namespace}"`,
      );
      assertStatus(
        await refused("GET", "/apis/apps/v1/deployments?watch=true"),
        403,
        "Forbidden",
        `deployments.apps is forbidden: User "${user}" cannot watch resource "deployments" in API group "apps" at the cluster scope`,
      );
      assertStatus(
        await refused("POST", await t.core("configmaps"), configMap("a")),
        403,
        "Forbidden",
        /cannot create resource "configmaps"/,
      );
      assertStatus(
        await refused("GET", "/metrics"),
        403,
        "Forbidden",
        `forbidden: User "${user}" cannot get path "/metrics"`,
      );
    },
  },
  {
    name: "rbac: a role and its binding allow exactly what they say",
    async run(t) {
      const { token } = await account(t, configMapRules);
      const path = await t.core("configmaps");
      await t.create(path, configMap("a"));
      await allowed(t, token, path);
      await t.expect(200, "GET", `${path}/a`, undefined, { token });
      assertStatus(await t.request("DELETE", `${path}/a`, undefined, { token }), 403, "Forbidden");
      assertStatus(
        await t.request("GET", "/api/v1/namespaces/default/configmaps", undefined, { token }),
        403,
        "Forbidden",
      );
    },
  },
  {
    name: "rbac: resourceNames allow single objects",
    async run(t) {
      const { token } = await account(t, [
        { apiGroups: [""], resources: ["configmaps"], resourceNames: ["mine"], verbs: ["get"] },
      ]);
      const path = await t.core("configmaps");
      await t.create(path, configMap("mine"));
      await t.create(path, configMap("yours"));
      await allowed(t, token, `${path}/mine`);
      assertStatus(await t.request("GET", `${path}/yours`, undefined, { token }), 403, "Forbidden");
      assertStatus(await t.request("GET", path, undefined, { token }), 403, "Forbidden");
    },
  },
  {
    name: "rbac: sub-resources are rights of their own",
    async run(t) {
      const { token } = await account(t, [{ apiGroups: ["apps"], resources: ["deployments/scale"], verbs: ["get"] }]);
      const path = await t.group("apps/v1", "deployments");
      const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "x" }] } };
      await t.create(path, { metadata: { name: "d" }, spec: { selector: { matchLabels: { a: "b" } }, template } });
      await allowed(t, token, `${path}/d/scale`);
      assertStatus(await t.request("GET", `${path}/d`, undefined, { token }), 403, "Forbidden");
    },
  },
  {
    name: "rbac: a ClusterRole can be bound in one namespace",
    async run(t) {
      const { token } = await account(t);
      const namespace = await t.namespace();
      await t.create(`${rbac}/clusterroles`, { metadata: { name: `r-${t.id}` }, rules: configMapRules });
      t.onCleanUp(() => t.request("DELETE", `${rbac}/clusterroles/r-${t.id}`));
      await t.create(`${rbac}/namespaces/${namespace}/rolebindings`, {
        metadata: { name: "b" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: `r-${t.id}` },
        subjects: [
          { kind: "Group", name: `system:serviceaccounts:${namespace}`, apiGroup: "rbac.authorization.k8s.io" },
        ],
      });
      await allowed(t, token, await t.core("configmaps"));
      assertStatus(await t.request("GET", "/api/v1/configmaps", undefined, { token }), 403, "Forbidden");
    },
  },
  {
    name: "rbac: a missing role is told in the refusal",
    async run(t) {
      const { token } = await account(t);
      const namespace = await t.namespace();
      await t.create(`${rbac}/namespaces/${namespace}/rolebindings`, {
        metadata: { name: "b" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "missing" },
        subjects: [{ kind: "ServiceAccount", name: "tester", namespace }],
      });
      await t.eventually("the binding is seen", async () => {
        const reply = await t.request("GET", await t.core("configmaps"), undefined, { token });
        return /: RBAC: role.rbac.authorization.k8s.io "missing" not found$/.test(reply.text("message"));
      });
    },
  },
  {
    name: "rbac: nobody gives rights that he does not have",
    async run(t) {
      const { token, user } = await account(t, [
        ...configMapRules,
        { apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles", "rolebindings"], verbs: ["get", "create"] },
      ]);
      const namespace = await t.namespace();
      await allowed(t, token, `${rbac}/namespaces/${namespace}/roles/tester`);
      await t.expect(
        201,
        "POST",
        `${rbac}/namespaces/${namespace}/roles`,
        { metadata: { name: "fine" }, rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }] },
        { token },
      );
      const more = { metadata: { name: "more" }, rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }] };
      const reply = await t.request("POST", `${rbac}/namespaces/${namespace}/roles`, more, { token });
      assertStatus(
        reply,
        403,
        "Forbidden",
        new RegExp(
          `user "${user}" \\(groups=.*\\) is attempting to grant RBAC permissions not currently held:\\n\\{APIGroups:\\[""\\], Resources:\\["secrets"\\], Verbs:\\["get"\\]\\}`,
        ),
      );
      const bind = {
        metadata: { name: "up" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
        subjects: [{ kind: "ServiceAccount", name: "tester", namespace }],
      };
      assertStatus(
        await t.request("POST", `${rbac}/namespaces/${namespace}/rolebindings`, bind, { token }),
        403,
        "Forbidden",
        /attempting to grant RBAC permissions not currently held/,
      );
    },
  },
  {
    name: "rbac: roleRef of a binding cannot be changed",
    async run(t) {
      await account(t, configMapRules);
      const path = `${rbac}/namespaces/${await t.namespace()}/rolebindings/tester`;
      const binding = await t.get(path);
      const reply = await t.request("PUT", path, {
        ...binding.object(),
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "other" },
      });
      assertStatus(reply, 422, "Invalid", /roleRef: Invalid value: .*: cannot change roleRef/);
    },
  },
  {
    name: "rbac: every authenticated user may discover",
    async run(t) {
      const { token } = await account(t);
      for (const path of ["/api", "/apis", "/api/v1", "/apis/apps/v1", "/openapi/v3", "/version", "/healthz"]) {
        await t.expect(200, "GET", path, undefined, { token });
      }
    },
  },
  {
    name: "reviews: SelfSubjectAccessReview answers for the one who asks",
    async run(t) {
      const { token } = await account(t, configMapRules);
      const namespace = await t.namespace();
      await allowed(t, token, await t.core("configmaps"));
      const ask = (verb: string) =>
        t.expect(
          201,
          "POST",
          "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
          { spec: { resourceAttributes: { namespace, verb, resource: "configmaps" } } },
          { token },
        );
      const yes = await ask("list");
      assert.equal(yes.at("status.allowed"), true);
      assert.match(
        yes.text("status.reason"),
        /^RBAC: allowed by RoleBinding "tester\/.*" of Role "tester" to ServiceAccount "tester\/.*"$/,
      );
      assert.equal((await ask("delete")).at("status.allowed"), false);
    },
  },
  {
    name: "reviews: SubjectAccessReview answers for anybody",
    async run(t) {
      const { user } = await account(t, configMapRules);
      const namespace = await t.namespace();
      await t.eventually("the right is seen", async () => {
        const reply = await t.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", {
          spec: { user, resourceAttributes: { namespace, verb: "get", resource: "configmaps" } },
        });
        return reply.at("status.allowed") === true;
      });
      const path = await t.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", {
        spec: { user: "nobody", nonResourceAttributes: { path: "/metrics", verb: "get" } },
      });
      assert.equal(path.at("status.allowed"), false);
    },
  },
  {
    name: "reviews: LocalSubjectAccessReview stays in its namespace",
    async run(t) {
      const namespace = await t.namespace();
      const path = `/apis/authorization.k8s.io/v1/namespaces/${namespace}/localsubjectaccessreviews`;
      const body = (where: string) => ({
        metadata: { namespace },
        spec: { user: "u", resourceAttributes: { namespace: where, verb: "get", resource: "pods" } },
      });
      assert.equal((await t.create(path, body(namespace))).at("status.allowed"), false);
      assertStatus(await t.request("POST", path, body("other")), 422, "Invalid", /must match metadata.namespace/);
    },
  },
  {
    name: "reviews: exactly one kind of attributes is needed",
    async run(t) {
      const reply = await t.request("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { spec: {} });
      assertStatus(
        reply,
        422,
        "Invalid",
        /exactly one of nonResourceAttributes or resourceAttributes must be specified/,
      );
    },
  },
  {
    name: "reviews: SelfSubjectRulesReview lists what one may do",
    async run(t) {
      const { token } = await account(t, configMapRules);
      await allowed(t, token, await t.core("configmaps"));
      const reply = await t.expect(
        201,
        "POST",
        "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
        { spec: { namespace: await t.namespace() } },
        { token },
      );
      assert.ok(
        reply.list("status.resourceRules").some((rule) => JSON.stringify(rule.at("resources")) === '["configmaps"]'),
      );
      assert.equal(reply.at("status.incomplete"), false);
    },
  },
  {
    name: "impersonation: an administrator may act as another",
    async run(t) {
      const headers = { "impersonate-user": "jane", "impersonate-group": "developers" };
      const review = await t.create("/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, { headers });
      assert.equal(review.at("status.userInfo.username"), "jane");
      assert.deepEqual(review.at("status.userInfo.groups"), ["developers", "system:authenticated"]);
      assertStatus(
        await t.request("GET", await t.core("pods"), undefined, { headers }),
        403,
        "Forbidden",
        /^pods is forbidden: User "jane" cannot list/,
      );
    },
  },
  {
    name: "impersonation: a ServiceAccount brings its groups",
    async run(t) {
      const review = await t.create(
        "/apis/authentication.k8s.io/v1/selfsubjectreviews",
        {},
        { headers: { "impersonate-user": "system:serviceaccount:ns:name" } },
      );
      assert.deepEqual(review.at("status.userInfo.groups"), [
        "system:serviceaccounts",
        "system:serviceaccounts:ns",
        "system:authenticated",
      ]);
    },
  },
  {
    name: "impersonation: others may not",
    async run(t) {
      const { token } = await account(t, configMapRules);
      const reply = await t.request("GET", await t.core("configmaps"), undefined, {
        token,
        headers: { "impersonate-user": "admin" },
      });
      assertStatus(reply, 403, "Forbidden", /cannot impersonate/);
    },
  },
  {
    name: "impersonation: groups need a user",
    async run(t) {
      assertStatus(
        await t.request("GET", "/api", undefined, { headers: { "impersonate-group": "g" } }),
        400,
        "BadRequest",
        /without impersonating a user name/,
      );
    },
  },
  {
    name: "issuer: the keys of tokens are published",
    async run(t) {
      const configuration = await t.get("/.well-known/openid-configuration");
      assert.match(configuration.text("issuer"), /^https:\/\//);
      const keys = await t.get("/openid/v1/jwks", { accept: "application/jwk-set+json" });
      assert.equal(keys.at("keys[0].use"), "sig");
    },
  },
];
