import { lookup as lookUp } from "node:dns";
import type { IncomingMessage } from "node:http";
import type { LookupFunction } from "node:net";
import type { HttpHandler, HttpRequest, HttpResponse } from "../../http/message.ts";
import { isPublicAddress, refusalOfUrl } from "./allowed-address.ts";
import { OutsideError } from "./outside.ts";

// Not by an import statement, which would read every export of node:http, its WebSocket included: that is all of undici.
const { Agent: HttpAgent, request: httpRequest } = process.getBuiltinModule("node:http");
const { Agent: HttpsAgent, request: httpsRequest } = process.getBuiltinModule("node:https");

export interface OutsideFetchOptions {
  /** Base URLs that the operator of this process has chosen; a mirror may stand inside the cluster. */
  readonly trustedUrls: readonly string[];
  /** How names become addresses; by default as everywhere on this machine. */
  readonly lookup?: typeof lookUp;
}

/**
 * An HttpHandler for whole URLs. For every host that is not trusted the URL is judged, whoever wrote it or led to it, and
 * the address once more after the name has been looked up, at the moment of connecting, so that a name cannot be turned
 * to point inside the cluster later.
 */
export function createOutsideFetch({ trustedUrls, lookup = lookUp }: OutsideFetchOptions): {
  readonly fetch: HttpHandler;
  close(): void;
} {
  const trusted = new Set(trustedUrls.map((url) => new URL(url).host));
  const agents = {
    http: new HttpAgent({ keepAlive: true, maxSockets: socketsPerHost }),
    https: new HttpsAgent({ keepAlive: true, maxSockets: socketsPerHost }),
    publicOnly: new HttpsAgent({ keepAlive: true, maxSockets: socketsPerHost, lookup: publicOnly(lookup) }),
  };
  return {
    fetch: (request) => {
      const url = new URL(request.target);
      const isTrusted = trusted.has(url.host);
      // A host that is written as a number is never looked up, so its number is judged here.
      const refusal = isTrusted ? undefined : refusalOfUrl(request.target);
      if (refusal !== undefined)
        return Promise.reject(new OutsideError("Refused", `${url.host} is not fetched: ${refusal}`));
      if (url.protocol === "https:") {
        const agent = isTrusted ? agents.https : agents.publicOnly;
        return send(request, (onResponse) => httpsRequest(url, { ...optionsOf(request), agent }, onResponse));
      }
      if (url.protocol === "http:")
        return send(request, (onResponse) =>
          httpRequest(url, { ...optionsOf(request), agent: agents.http }, onResponse),
        );
      return Promise.reject(new OutsideError("Refused", `${url.protocol}//${url.host} is not fetched`));
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

const socketsPerHost = 8;

const optionsOf = ({ method, headers, signal }: HttpRequest) => ({ method, headers, ...(signal && { signal }) });

function send(
  { body }: HttpRequest,
  open: (onResponse: (response: IncomingMessage) => void) => ReturnType<typeof httpRequest>,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const attempt = (): void => {
      const outgoing = open((response) =>
        resolve({ status: response.statusCode ?? 0, headers: flat(response), body: response }),
      );
      // The other side may close a connection that it has left open for long in the very moment in which we use it again.
      // It has not heard us then. Sooner or later a connection is new, and what goes wrong there is really wrong.
      outgoing.once("error", (error) => (outgoing.reusedSocket && isReset(error) ? attempt() : reject(error)));
      outgoing.end(body);
    };
    attempt();
  });
}

const isReset = (error: Error): boolean => "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");

function flat({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) result[name] = [value].flat().join(", ");
  return result;
}

const publicOnly =
  (lookup: typeof lookUp): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, "", 4);
      const refused = addresses.find(({ address }) => !isPublicAddress(address));
      if (refused || addresses.length === 0)
        return callback(new OutsideError("Refused", `${hostname} stands for an address inside the cluster`), "", 4);
      if (options.all) return callback(null, addresses);
      const [first] = addresses;
      return callback(null, first?.address ?? "", first?.family ?? 4);
    });
  };
