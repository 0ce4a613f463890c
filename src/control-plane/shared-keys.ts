import { Secret } from "../api/builtin/configuration.ts";
import { newAuditKey } from "../audit/signing-key.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../client/api-error.ts";
import type { Client } from "../client/client.ts";
import { object } from "../controllers/action-executor/install-rbac.ts";
import { ownSecret } from "./action-objects.ts";
import type { WebhookIdentity } from "./webhook-identity.ts";

/** The keys that all replicas share: they live in one Secret, which the first replica makes. */
export interface SharedKeys {
  readonly identity: WebhookIdentity;
  readonly auditKey: string;
  /** What was read, for a change of just this. */
  readonly secret: Secret;
}

/** The Secret is not what it should be, and a person has to look at it. */
export class SharedKeysError extends Error {}

export async function findOrMakeKeys(
  client: Client,
  namespace: string,
  make: () => WebhookIdentity,
): Promise<SharedKeys> {
  try {
    return await readKeys(client, namespace);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  const data = encoded({ ...identityData(make()), "audit.key": newAuditKey() });
  const wanted = object(Secret, { namespace, name: ownSecret }, { type: "Opaque", data }) as Secret;
  try {
    return keysOf(await client.create(Secret, wanted));
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return readKeys(client, namespace);
  }
}

export const readKeys = async (client: Client, namespace: string): Promise<SharedKeys> =>
  keysOf(await client.get(Secret, { namespace, name: ownSecret }));

/** Of several replicas that renew at once, one succeeds and the others take over what it wrote. */
export async function replaceIdentity(
  client: Client,
  { secret }: SharedKeys,
  next: WebhookIdentity,
): Promise<SharedKeys> {
  const data = { ...secret.data, ...encoded(identityData(next)) };
  try {
    return keysOf(await client.update(Secret, { ...secret, data }));
  } catch (error) {
    if (!isConflict(error)) throw error;
    return readKeys(client, secret.metadata.namespace ?? "");
  }
}

function keysOf(secret: Secret): SharedKeys {
  const { metadata, data = {} } = secret;
  const read = (name: string): string => {
    const value = data[name];
    if (value === undefined)
      throw new SharedKeysError(
        `Secret ${metadata.namespace}/${metadata.name} has no ${name}; delete it and it is made again, with a new audit key`,
      );
    return Buffer.from(value, "base64").toString();
  };
  return {
    identity: { caCertificate: read("ca.crt"), certificate: read("tls.crt"), key: read("tls.key") },
    auditKey: read("audit.key"),
    secret,
  };
}

const identityData = ({ caCertificate, certificate, key }: WebhookIdentity) => ({
  "ca.crt": caCertificate,
  "tls.crt": certificate,
  "tls.key": key,
});

const encoded = (data: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString("base64")]));
