import type { HttpHandler, HttpResponse } from "../../../src/http/message.ts";
import type { KubeObject } from "../../../src/kube/object.ts";
import { pathParts } from "../journal.ts";
import type { Mutation } from "../mutation.ts";
import { isWatch } from "../wire.ts";
import { answer, bodyOf, isAbout, watching, withBody } from "./transports.ts";

type Transport = NonNullable<Mutation["transport"]>;

/** Objects as somebody wants to see them, in lists, watches and answers alike. */
export const seeing =
  (resource: string, change: (object: KubeObject) => KubeObject): Transport =>
  (transport, env) => {
    const watched = watching((event) => [
      event.type === "BOOKMARK" ? event : { ...event, object: change(event.object) as typeof event.object },
    ])(transport, env);
    return async (request) => {
      if (pathParts(request.target).resource !== resource) return transport(request);
      if (isWatch(request)) return watched(request);
      const response = await transport(request);
      if (response.status >= 300) return response;
      const body = await jsonOf(response);
      const { items } = body as { readonly items?: readonly KubeObject[] };
      return answer(items ? { ...body, items: items.map(change) } : change(body), response.status);
    };
  };

/** One object is asked for live, and answered from what was heard so far: that it was not heard of is taken for its absence. */
export const trustingTheCache =
  (resource: string): Transport =>
  (transport, env) => {
    const heard = new Set<string>();
    const note = (object: KubeObject): KubeObject => {
      heard.add(object.metadata?.name);
      return object;
    };
    const noting = seeing(resource, note)(transport, env);
    return (request) => {
      const { resource: about, name } = pathParts(request.target);
      if (about !== resource || name === "" || request.method !== "GET") {
        return isWatch(request) || request.method === "GET" ? noting(request) : transport(request);
      }
      return heard.has(name) ? transport(request) : Promise.resolve(notFound);
    };
  };

const notFound = answer(
  { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason: "NotFound", code: 404, message: "no" },
  404,
);

/** Of two children the first is looked at alone: where it was there already, the second is taken to be there as well. */
export const checkingTheFirst =
  (first: string, second: string): Transport =>
  (transport: HttpHandler) => {
    const made = new Set<string>();
    return async (request) => {
      const { resource, name } = pathParts(request.target);
      if (request.method !== "PATCH" || (resource !== first && resource !== second)) return transport(request);
      if (resource === second) return made.has(name) ? transport(request) : answer(bodyOf(request));
      const response = await transport(request);
      // 201: it was not there before.
      if (response.status === 201) made.add(name);
      return response;
    };
  };

/** Written for whatever version is there by now. */
export const withoutFence =
  (resource: string): Transport =>
  (transport) =>
  (request) => {
    if (!isAbout(request, "PATCH", resource)) return transport(request);
    const { metadata, ...rest } = bodyOf(request) as { readonly metadata?: Readonly<Record<string, unknown>> };
    const { resourceVersion: _version, uid: _uid, ...kept } = metadata ?? {};
    return transport(withBody(request, { ...rest, metadata: kept }));
  };

async function jsonOf(response: HttpResponse): Promise<KubeObject> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString()) as KubeObject;
}
