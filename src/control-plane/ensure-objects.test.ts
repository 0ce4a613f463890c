import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap } from "../api/builtin/configuration.ts";
import { ClusterRole } from "../api/builtin/rbac.ts";
import { createApiServer } from "../apiserver/server.ts";
import { createClient } from "../client/create-client.ts";
import { actionObjects } from "../controllers/action-executor/install.ts";
import { systemEnv } from "../env/system.ts";
import { ensureObjects } from "./ensure-objects.ts";

test("what is right is left alone, what was changed is put right, and the user's policies stay the user's", async (context) => {
  const server = await createApiServer({
    env: systemEnv,
    file: ":memory:",
    tokens: [{ token: "t", user: { name: "admin", groups: ["system:masters"] } }],
  });
  context.after(() => server.close());
  let writes = 0;
  const client = createClient({
    env: systemEnv,
    transport: (request) => {
      if (request.method !== "GET") writes++;
      return server.handle({ ...request, headers: { ...request.headers, authorization: "Bearer t" } });
    },
  });
  const objects = actionObjects();
  await ensureObjects(client, objects);
  assert.equal(writes, objects.length);
  await ensureObjects(client, objects);
  assert.equal(writes, objects.length, "a second start writes nothing");

  const role = { name: "kubernaut-action-scale-deployment" };
  await client.patch(ClusterRole, role, { type: "merge", value: { rules: [] } });
  const policies = { namespace: "kubernaut-system", name: "safety-policies" };
  const data = { "production.rego": "package kubernetesexecution.safety.mine\n" };
  await client.patch(ConfigMap, policies, { type: "merge", value: { data } });
  await ensureObjects(client, objects);
  assert.equal(writes, objects.length + 3, "only the role is written again");
  assert.notDeepEqual((await client.get(ClusterRole, role)).rules, []);
  assert.match((await client.get(ConfigMap, policies)).data?.["production.rego"] ?? "", /mine/);
});
