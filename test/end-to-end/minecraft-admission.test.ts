import assert from "node:assert/strict";
import { test } from "node:test";
import { Namespace } from "../../src/api/builtin/cluster.ts";
import { CustomResourceDefinition } from "../../src/api/builtin/custom-resource-definition.ts";
import { customResourceDefinitions } from "../../src/api/crds.ts";
import { findKind } from "../../src/api/kinds.ts";
import { minecraftGroup } from "../../src/api/minecraft-vocabulary.ts";
import { Plugin } from "../../src/api/plugin.ts";
import { createApiServer } from "../../src/apiserver/server.ts";
import { createClient } from "../../src/client/create-client.ts";
import { ensureObjects } from "../../src/control-plane/ensure-objects.ts";
import { admissionWarnings } from "../../src/controllers/minecraft/admission-warnings.ts";
import { systemEnv } from "../../src/env/system.ts";
import type { HttpHandler } from "../../src/http/message.ts";
import { admissionCases, policyWords } from "./minecraft-admission-cases.ts";

/** `299 - "text"` each, with commas between them. */
const warningsIn = (header: string): readonly string[] =>
  [...header.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text = ""]) => text.replace(/\\(.)/g, "$1"));

test("what is wrong is refused by object and field, and what is doubtful is taken with a warning", async (context) => {
  const server = await createApiServer({
    env: systemEnv,
    file: ":memory:",
    tokens: [{ token: "t", user: { name: "admin", groups: ["system:masters"] } }],
  });
  context.after(() => server.close());
  const transport: HttpHandler = (request) =>
    server.handle({ ...request, headers: { ...request.headers, authorization: "Bearer t" } });
  const client = createClient({ env: systemEnv, transport });
  for (const definition of customResourceDefinitions) await client.create(CustomResourceDefinition, definition);
  await client.create(Namespace, { metadata: { name: "games" } });
  await ensureObjects(client, admissionWarnings());
  for (const { name, manifest, refused = [], warned = [] } of admissionCases)
    await context.test(name, async () => {
      const plural = findKind(minecraftGroup, manifest.kind)?.plural;
      const answer = await transport({
        method: "POST",
        target: `/apis/mc.k8s.lex.la/v1beta1/namespaces/games/${plural}?dryRun=All`,
        headers: { "content-type": "application/json" },
        body: Buffer.from(JSON.stringify(manifest)),
      });
      const chunks: Uint8Array[] = [];
      for await (const chunk of answer.body) chunks.push(chunk);
      const message = String(JSON.parse(Buffer.concat(chunks).toString("utf8")).message ?? "");
      assert.equal(answer.status, refused.length > 0 ? 422 : 201, message);
      const { kind, metadata } = manifest;
      if (refused.length > 0)
        assert.ok(message.startsWith(`${kind}.${minecraftGroup} "${metadata.name}" is invalid: `));
      for (const part of refused) assert.ok(message.includes(part), `${message}\ndoes not say: ${part}`);
      const policy = kind === Plugin.kind ? "capstan-plugin-warnings" : "capstan-server-warnings";
      assert.deepEqual(
        warningsIn(answer.headers["warning"] ?? ""),
        warned.map((text) => `${policyWords(policy)}: ${text}`),
      );
    });
});
