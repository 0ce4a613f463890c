import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { MutatingWebhookConfiguration } from "../api/builtin/admission.ts";
import { Secret } from "../api/builtin/configuration.ts";
import { webhookConfiguration } from "../controllers/action-executor/approval/webhook.ts";
import { createWorld } from "../testing/world.ts";
import { ownSecret } from "./action-objects.ts";
import { findOrMakeKeys } from "./shared-keys.ts";
import { namesOf, WebhookCertificate, type WebhookPlace } from "./webhook-certificate.ts";
import { newWebhookIdentity } from "./webhook-identity.ts";

const namespace = "capstan-system";
const place: WebhookPlace = { host: "127.0.0.1", port: 0, service: { namespace, name: "hook" } };
const dayMs = 86_400_000;

async function installed() {
  const world = createWorld({ kinds: [Secret, MutatingWebhookConfiguration] });
  const { env, client } = world;
  await client.create(MutatingWebhookConfiguration, { metadata: { name: webhookConfiguration } } as never);
  const replica = async (webhook: WebhookPlace = place): Promise<WebhookCertificate> => {
    const keys = await findOrMakeKeys(client, namespace, () => newWebhookIdentity(env.now(), namesOf(place)));
    return new WebhookCertificate({ env, client, webhook, keys });
  };
  const later = (days: number): void => env.setWallClock(new Date(env.now().getTime() + days * dayMs));
  const trusted = (): readonly X509Certificate[] => {
    const [configuration] = world.all(MutatingWebhookConfiguration) as readonly {
      webhooks?: readonly { clientConfig: { caBundle?: string } }[];
    }[];
    const bundle = Buffer.from(configuration?.webhooks?.[0]?.clientConfig.caBundle ?? "", "base64").toString();
    const pems = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    return pems.map((pem) => new X509Certificate(pem));
  };
  const isTrusted = ({ cert }: { readonly cert: string }): boolean =>
    trusted().some(({ publicKey }) => new X509Certificate(cert).verify(publicKey));
  return { world, replica, later, isTrusted };
}

test("a replica that is served tells its authority, and says nothing again while nothing changes", async () => {
  const { world, replica, isTrusted } = await installed();
  const one = await replica();
  const shown = await one.current();
  assert.ok(!isTrusted(shown), "nobody may be called before somebody listens");
  await one.introduce();
  assert.ok(isTrusted(shown));
  const { resourceVersion } = world.all(MutatingWebhookConfiguration)[0]?.metadata ?? {};
  assert.deepEqual(await one.current(), shown);
  assert.equal(world.all(MutatingWebhookConfiguration)[0]?.metadata.resourceVersion, resourceVersion);
});

test("a certificate that is due is renewed once for all replicas, and old and new are both trusted meanwhile", async () => {
  const { replica, later, isTrusted } = await installed();
  const [one, two] = [await replica(), await replica()];
  const old = await one.current();
  await Promise.all([one.introduce(), two.introduce()]);
  later(250);
  const [first, second] = await Promise.all([one.current(), two.current()]);
  assert.deepEqual(first, second);
  assert.notDeepEqual(first, old);
  assert.ok(isTrusted(first) && isTrusted(old));
  assert.deepEqual(await (await replica()).current(), first);
});

test("a pair that somebody else puts into the Secret is shown after its authority is known", async () => {
  const { world, replica, isTrusted } = await installed();
  const one = await replica();
  await one.current();
  await one.introduce();
  const other = newWebhookIdentity(world.env.now(), namesOf(place));
  const data = { "ca.crt": other.caCertificate, "tls.crt": other.certificate, "tls.key": other.key };
  const encoded = Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString("base64")]);
  const value = { data: Object.fromEntries(encoded) };
  await world.client.patch(Secret, { namespace, name: ownSecret }, { type: "merge", value });
  world.faults.add({
    when: ({ method }) => method === "PATCH",
    times: 1,
    fault: { kind: "Answer", code: 403, reason: "Forbidden" },
  });
  await assert.rejects(one.current(), { status: 403 });
  assert.deepEqual(await one.current(), { cert: other.certificate, key: other.key });
  assert.ok(isTrusted({ cert: other.certificate }));
});

test("a Secret that is gone is not made again under a running webhook: its audit key would be another", async () => {
  const { world, replica } = await installed();
  const one = await replica();
  await one.current();
  await world.client.delete(Secret, { namespace, name: ownSecret });
  await assert.rejects(one.current(), { reason: "NotFound" });
  assert.deepEqual(world.all(Secret), []);
});

test("a replica that is reached by another name has a certificate of its own, and renews it by itself", async () => {
  const { world, replica, later, isTrusted } = await installed();
  await replica();
  const secret = world.all(Secret)[0]?.metadata.resourceVersion;
  const outside = await replica({ ...place, url: "https://192.0.2.1:9443/" });
  const old = await outside.current();
  await outside.introduce();
  assert.notEqual(new X509Certificate(old.cert).checkIP("192.0.2.1"), undefined);
  later(250);
  const next = await outside.current();
  assert.notDeepEqual(next, old);
  assert.ok(isTrusted(next) && isTrusted(old));
  assert.equal(world.all(Secret)[0]?.metadata.resourceVersion, secret);
});
