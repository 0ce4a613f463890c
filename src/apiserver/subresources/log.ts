import type { HttpResponse } from "../../http/message.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import { isTrue } from "../protocol/request-info.ts";
import { badRequest } from "../protocol/status-error.ts";
import { findObject } from "../verbs/get.ts";

/** What a reader of a container's log asks for. */
export interface PodLogQuery {
  readonly pod: KubeObject;
  readonly container: string;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly tailLines?: number;
  readonly sinceSeconds?: number;
  readonly sinceTime?: string;
  readonly limitBytes?: number;
  readonly signal?: AbortSignal;
}

/** Whoever runs the containers brings their logs. A refusal is thrown as a StatusError. */
export type PodLogs = (query: PodLogQuery) => AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>;

interface ContainerList {
  readonly spec?: Readonly<
    Record<"containers" | "initContainers" | "ephemeralContainers", readonly { readonly name: string }[] | undefined>
  >;
}

export async function podLog(parts: ServerParts, request: ApiRequest): Promise<HttpResponse> {
  const { query } = request.info;
  const pod = request.endpoint.view(findObject(parts, request)).object;
  const container = chosenContainer(pod, query.get("container") ?? "");
  if (!parts.podLogs)
    throw badRequest(
      `no node serves the log of container ${JSON.stringify(container)} in pod ${JSON.stringify(pod.metadata.name)}`,
    );
  const { signal } = request.http;
  const body = await parts.podLogs({
    pod,
    container,
    follow: isTrue(query.get("follow")),
    previous: isTrue(query.get("previous")),
    timestamps: isTrue(query.get("timestamps")),
    ...integer(query, "tailLines", 0),
    ...integer(query, "sinceSeconds", 1),
    ...integer(query, "limitBytes", 1),
    ...(query.get("sinceTime") && { sinceTime: query.get("sinceTime") ?? "" }),
    ...(signal && { signal }),
  });
  return { status: 200, headers: { "content-type": "text/plain", "cache-control": "no-cache, private" }, body };
}

function chosenContainer(pod: KubeObject, asked: string): string {
  const { spec } = pod as KubeObject & ContainerList;
  const main = (spec?.containers ?? []).map(({ name }) => name);
  const initial = (spec?.initContainers ?? []).map(({ name }) => name);
  const all = [...main, ...initial, ...(spec?.ephemeralContainers ?? []).map(({ name }) => name)];
  const { name } = pod.metadata;
  if (asked !== "") {
    if (all.includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${name}`);
  }
  const [only] = main;
  if (main.length === 1 && initial.length === 0 && only !== undefined) return only;
  const choices = `choose one of: [${main.join(" ")}]${initial.length > 0 ? ` or one of the init containers: [${initial.join(" ")}]` : ""}`;
  if (main.length === 1 && only !== undefined) return only;
  throw badRequest(`a container name must be specified for pod ${name}, ${choices}`);
}

function integer(query: URLSearchParams, name: string, minimum: number): Readonly<Record<string, number>> {
  const raw = query.get(name);
  if (raw === null || raw === "") return {};
  if (!/^-?\d{1,15}$/.test(raw)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(raw)}: invalid syntax`);
  if (Number(raw) < minimum) throw badRequest(`${name} must be greater than or equal to ${minimum}`);
  return { [name]: Number(raw) };
}
