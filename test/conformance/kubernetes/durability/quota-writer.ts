// The process that the quota test kills: many writers that want more than a quota allows, and more each time it starts.
import { writeSync } from "node:fs";
import { ResourceQuota } from "../../../../src/api/builtin/cluster.ts";
import { ConfigMap } from "../../../../src/api/builtin/configuration.ts";
import { createApiServer } from "../../../../src/apiserver/server.ts";
import { isForbidden, isNotFound } from "../../../../src/client/api-error.ts";
import { createClient } from "../../../../src/client/create-client.ts";
import { systemEnv } from "../../../../src/env/system.ts";

const [file = "", prefix = "", hardText = "0"] = process.argv.slice(2);
const token = "crash";
const server = await createApiServer({
  env: systemEnv,
  file,
  tokens: [{ token, user: { name: "crash", groups: ["system:masters"] } }],
});
const client = createClient({
  env: systemEnv,
  transport: (request) =>
    server.handle({ ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } }),
});
const namespace = "default";
const key = { namespace, name: "q" };

/** There is no controller that would count: only the server's own charges change what is used. */
async function allow(hard: Readonly<Record<string, string>>): Promise<void> {
  const found = await client.get(ResourceQuota, key).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (found === undefined) await client.create(ResourceQuota, { metadata: key, spec: { hard } });
  const used = found?.status?.used ?? { [resource]: "0" };
  const value = { spec: { hard }, status: { hard, used } };
  await client.patch(ResourceQuota, key, { type: "merge", value: { spec: value.spec } });
  await client.patch(ResourceQuota, key, { type: "merge", value: { status: value.status } }, { subresource: "status" });
}

const resource = "count/configmaps";
await allow({ [resource]: hardText });

async function write(writer: number): Promise<void> {
  for (let round = 0; ; round++) {
    const name = `${prefix}-${writer}-${round}`;
    try {
      await client.create(ConfigMap, { metadata: { namespace, name } });
      writeSync(1, `${JSON.stringify({ name, value: "made" })}\n`);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      writeSync(1, `${JSON.stringify({ name, value: null })}\n`);
    }
  }
}

await Promise.all(Array.from({ length: 16 }, (_, writer) => write(writer)));
