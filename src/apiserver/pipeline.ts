import type { HttpRequest, HttpResponse } from "../http/message.ts";
import type { ApiRequest, ServerParts, User } from "./parts.ts";
import { negotiateForm } from "./protocol/negotiate.ts";
import { type NonResourceRequestInfo, parseRequestInfo, type ResourceRequestInfo } from "./protocol/request-info.ts";
import { type Answer, json, respond, statusAnswer, text } from "./protocol/respond.ts";
import { internalError, methodNotAllowed, notFound, StatusError, unknownPath } from "./protocol/status-error.ts";
import { create } from "./verbs/create.ts";
import { deleteCollection, deleteOne } from "./verbs/delete.ts";
import { get } from "./verbs/get.ts";
import { list } from "./verbs/list.ts";
import { update } from "./verbs/update.ts";
import { watch } from "./verbs/watch.ts";
import { serverVersion } from "./version.ts";

/**
 * The way of every request: parse → authenticate → authorize → decode → admit → mutate → validate → store → encode.
 * Refusals are thrown as StatusErrors on the way and become the answer here.
 */
export async function route(parts: ServerParts, request: HttpRequest): Promise<HttpResponse> {
  const acceptEncoding = request.headers["accept-encoding"];
  try {
    const answer = await answerTo(parts, request);
    return "contentType" in answer ? await respond(answer, acceptEncoding) : answer;
  } catch (error) {
    if (error instanceof StatusError) return respond(statusAnswer(error), undefined);
    return respond(statusAnswer(internalError(error instanceof Error ? error.message : String(error))), undefined);
  }
}

async function answerTo(parts: ServerParts, request: HttpRequest): Promise<Answer | HttpResponse> {
  const info = parseRequestInfo(request.method, request.target);
  const user: User = { name: "admin", groups: ["system:masters"] };
  return info.kind === "Resource"
    ? resourceAnswer(parts, request, info, user)
    : nonResourceAnswer(parts, request, info);
}

function nonResourceAnswer(parts: ServerParts, request: HttpRequest, info: NonResourceRequestInfo): Answer {
  const { path } = info;
  if (path === "/version" || path === "/version/") return json(200, serverVersion);
  if (path === "/healthz" || path === "/livez" || path === "/readyz") return text(200, "ok");
  return parts.discovery.answer(info, request.headers) ?? text(404, "404 page not found\n");
}

function resourceAnswer(
  parts: ServerParts,
  http: HttpRequest,
  info: ResourceRequestInfo,
  user: User,
): Promise<Answer> | Answer | HttpResponse {
  const endpoint = parts.resources.find(info.group, info.version, info.resource);
  if (!endpoint) {
    if (!parts.resources.isBuiltInGroup(info.group)) return text(404, "404 page not found\n");
    throw unknownPath();
  }
  const form = negotiateForm(http.headers["accept"], info.query);
  const request: ApiRequest = { http, info, user, endpoint, form, warnings: [] };
  if (info.subresource !== "") return subresourceAnswer(parts, request);
  if (!endpoint.resource.verbs.includes(info.verb)) throw methodNotAllowed();
  switch (info.verb) {
    case "get":
      return get(parts, request);
    case "list":
      return list(parts, request);
    case "watch":
      return watch(parts, request);
    case "create":
      return create(parts, request);
    case "update":
      if (info.name === "") throw methodNotAllowed();
      return update(parts, request);
    case "delete":
      return deleteOne(parts, request);
    case "deletecollection":
      return deleteCollection(parts, request);
    default:
      throw methodNotAllowed();
  }
}

function subresourceAnswer(parts: ServerParts, request: ApiRequest): Promise<Answer> | Answer {
  const { endpoint, info } = request;
  const subresource = endpoint.subresource(info.subresource);
  if (!subresource) {
    // A custom resource says that the object is missing, even when it is there.
    throw endpoint.isCustom ? notFound(endpoint.resourceName, info.name) : unknownPath();
  }
  if (!subresource.verbs.includes(info.verb)) throw methodNotAllowed();
  if (info.subresource === "status") {
    if (info.verb === "get") return get(parts, request);
    if (info.verb === "update") return update(parts, request);
  }
  throw methodNotAllowed();
}
