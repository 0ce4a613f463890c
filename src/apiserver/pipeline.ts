import type { HttpRequest, HttpResponse } from "../http/message.ts";
import { attributesOf, refusal } from "./auth/attributes.ts";
import { impersonate } from "./auth/impersonate.ts";
import { answerReview, isReview } from "./auth/reviews.ts";
import { nonResourceAnswer } from "./non-resource.ts";
import type { ApiRequest, ServerParts, User } from "./parts.ts";
import { negotiateForm } from "./protocol/negotiate.ts";
import { parseRequestInfo, type RequestInfo, type ResourceRequestInfo } from "./protocol/request-info.ts";
import { type Answer, respond, respondNow, statusAnswer, text } from "./protocol/respond.ts";
import { bodyTooLarge, internalError, methodNotAllowed, StatusError, unknownPath } from "./protocol/status-error.ts";
import { subresourceAnswer } from "./subresources/route.ts";
import { create } from "./verbs/create.ts";
import { deleteCollection, deleteOne } from "./verbs/delete.ts";
import { get } from "./verbs/get.ts";
import { list } from "./verbs/list.ts";
import { patch } from "./verbs/patch.ts";
import { update } from "./verbs/update.ts";
import { watch } from "./verbs/watch.ts";

/**
 * The way of every request: parse → authenticate → authorize → decode → admit → mutate → validate → store → encode.
 * Refusals are thrown as StatusErrors on the way and become the answer here.
 */
export async function handle(parts: ServerParts, request: HttpRequest): Promise<HttpResponse> {
  return answered(request, async (warnings) => {
    if (request.body !== undefined && request.body.length > bodyLimitBytes) throw bodyTooLarge(bodyLimitBytes);
    const info = parseRequestInfo(request.method, request.target);
    const caller = parts.authenticator.authenticate(request, info.path);
    const user = impersonate(parts.authorizer, caller, request, info);
    const attributes = attributesOf(user, info);
    const decision = parts.authorizer.authorize(attributes);
    if (!decision.allowed) throw refusal(attributes, decision.reason);
    return dispatch(parts, request, info, user, warnings);
  });
}

/** As the real server has it; the listener refuses such bodies before it has read them. */
export const bodyLimitBytes = 3 * 1024 * 1024;

async function answered(
  request: HttpRequest,
  answer: (warnings: string[]) => Promise<Answer | HttpResponse> | Answer | HttpResponse,
): Promise<HttpResponse> {
  // Collected on the way: a refusal carries them as well.
  const warnings: string[] = [];
  try {
    const made = await answer(warnings);
    return "contentType" in made ? await respond(made, request.headers["accept-encoding"]) : made;
  } catch (error) {
    if (error instanceof StatusError) return respondNow(statusAnswer(error, warnings));
    return respondNow(statusAnswer(internalError(describe(error))));
  }
}

/** A fault tells its cause too: "the write could not be stored" alone helps nobody. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

function dispatch(
  parts: ServerParts,
  http: HttpRequest,
  info: RequestInfo,
  user: User,
  warnings: string[],
): Promise<Answer | HttpResponse> | Answer | HttpResponse {
  if (info.kind !== "Resource") return nonResourceAnswer(parts, http, info);
  return resourceAnswer(parts, http, info, user, warnings);
}

function resourceAnswer(
  parts: ServerParts,
  http: HttpRequest,
  info: ResourceRequestInfo,
  user: User,
  warnings: string[],
): Promise<Answer | HttpResponse> | Answer | HttpResponse {
  const endpoint = parts.resources.find(info.group, info.version, info.resource);
  if (!endpoint) {
    if (!parts.resources.isBuiltInGroup(info.group)) return text(404, "404 page not found\n");
    throw unknownPath();
  }
  if (endpoint.deprecationWarning) warnings.push(endpoint.deprecationWarning);
  const form = negotiateForm(http.headers, info.query);
  const request: ApiRequest = {
    http,
    info,
    user,
    endpoint,
    form,
    warnings,
  };
  if (info.subresource !== "") return subresourceAnswer(parts, request);
  if (!endpoint.isCustom && !endpoint.resource.verbs.includes(info.verb)) throw methodNotAllowed();
  switch (info.verb) {
    case "get":
      return get(parts, request);
    case "list":
      return list(parts, request);
    case "watch":
      return watch(parts, request);
    case "create":
      return isReview(endpoint) ? answerReview(parts, request) : create(parts, request);
    case "update":
      if (info.name === "") throw methodNotAllowed();
      return update(parts, request);
    case "patch":
      if (info.name === "") throw methodNotAllowed();
      return patch(parts, request);
    case "delete":
      return deleteOne(parts, request);
    case "deletecollection":
      return deleteCollection(parts, request);
    default:
      throw methodNotAllowed();
  }
}
