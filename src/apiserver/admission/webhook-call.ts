import type { IncomingMessage } from "node:http";
import type { Env } from "../../env/env.ts";
import { storageKey } from "../storage/entry.ts";
import type { Store } from "../storage/store.ts";
import type { Webhook } from "./webhook-objects.ts";

/** Where a webhook is, and whom its certificate must name. */
export interface WebhookTarget {
  readonly url: URL;
  /** The name in the certificate, when it is another one than the host's. */
  readonly serverName?: string;
  readonly ca?: string;
}

export type CallWebhook = (target: WebhookTarget, body: string, timeoutMs: number) => Promise<string>;

const maxAnswerBytes = 16 * 1024 * 1024;

/** One HTTPS request; connections are not kept, because a webhook may be replaced between two calls. */
export function webhookCaller(env: Env): CallWebhook {
  return (target, body, timeoutMs) =>
    new Promise((resolve, reject) => {
      // Loaded by the first call: few servers have a webhook, and all of them start.
      const { request } = process.getBuiltinModule("node:https");
      const sent = request(target.url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json",
          "content-length": Buffer.byteLength(body),
        },
        agent: false,
        ...(target.ca !== undefined && { ca: target.ca }),
        ...(target.serverName !== undefined && { servername: target.serverName }),
      });
      const cancel = env.setTimer(timeoutMs, () => sent.destroy(new Error(`no answer within ${timeoutMs} ms`)));
      sent.on("close", cancel);
      sent.on("error", reject);
      sent.on("response", (response) => readAnswer(response).then(resolve, reject));
      sent.end(body);
    });
}

async function readAnswer(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxAnswerBytes) throw new Error(`the answer is larger than ${maxAnswerBytes} bytes`);
    chunks.push(chunk);
  }
  const { statusCode = 0 } = response;
  if (statusCode !== 200) throw new Error(`the server answered with status ${statusCode}`);
  return Buffer.concat(chunks).toString();
}

interface EndpointSlice {
  readonly ports?: readonly { readonly name?: string; readonly port?: number }[];
  readonly endpoints?: readonly {
    readonly addresses?: readonly string[];
    readonly conditions?: { readonly ready?: boolean };
  }[];
}
interface Service {
  readonly spec?: { readonly ports?: readonly { readonly name?: string; readonly port: number }[] };
}

/** A URL is called as it is; a service is called at one of its ready endpoints, under the service's own name. */
export function targetOf(store: Store, { clientConfig }: Webhook): WebhookTarget {
  const ca = clientConfig.caBundle === undefined ? {} : { ca: Buffer.from(clientConfig.caBundle, "base64").toString() };
  if (clientConfig.url !== undefined) return { url: new URL(clientConfig.url), ...ca };
  const { service } = clientConfig;
  if (!service) throw new Error("the webhook has neither a url nor a service");
  const { namespace, name, path = "", port = 443 } = service;
  const found = store.get("services", storageKey(namespace, name))?.object as Service | undefined;
  if (!found) throw new Error(`service ${JSON.stringify(name)} not found`);
  const portName = found.spec?.ports?.find((each) => each.port === port)?.name ?? "";
  for (const { object } of store.collection("endpointslices.discovery.k8s.io").range(`${namespace}/`)) {
    if (object.metadata.labels?.["kubernetes.io/service-name"] !== name) continue;
    const slice = object as unknown as EndpointSlice;
    const target = slice.ports?.find((each) => (each.name ?? "") === portName)?.port;
    const address = slice.endpoints?.find(({ conditions }) => conditions?.ready !== false)?.addresses?.[0];
    if (target === undefined || address === undefined) continue;
    return {
      url: new URL(`https://${address}:${target}/${path.replace(/^\//, "")}`),
      serverName: `${name}.${namespace}.svc`,
      ...ca,
    };
  }
  throw new Error(`no endpoints available for service ${JSON.stringify(name)}`);
}
