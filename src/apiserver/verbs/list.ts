import type { ListMeta } from "../../kube/object.ts";
import { encodeList } from "../encode/list.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import type { Answer } from "../protocol/respond.ts";
import { badRequest, expired, revisionTooLarge } from "../protocol/status-error.ts";
import { type EntryView, viewOf } from "../storage/collection.ts";
import type { Entry } from "../storage/entry.ts";
import type { Store } from "../storage/store.ts";
import { type ListOptions, parseListOptions } from "./list-options.ts";
import { parseSelection, type Selection } from "./selection.ts";

/** A list, or a page of one. All pages of a list show the same moment. */
export function list(parts: ServerParts, request: ApiRequest): Answer {
  const options = parseListOptions(request.info.query);
  const selection = parseSelection(request);
  const { entries, metadata } = options.continueToken
    ? nextPage(parts.store, request, options, selection)
    : firstPage(parts.store, request, options, selection);
  return encodeList(parts, request, entries, metadata);
}

interface Page {
  readonly entries: readonly Entry[];
  readonly metadata: ListMeta;
}

function firstPage(store: Store, request: ApiRequest, options: ListOptions, selection: Selection): Page {
  const { resourceVersion, match, limit } = options;
  if (resourceVersion !== undefined && resourceVersion > store.revision) {
    throw revisionTooLarge(resourceVersion, store.revision);
  }
  const isExact =
    match === "Exact" || (match === undefined && limit > 0 && resourceVersion !== undefined && resourceVersion > 0);
  const revision = isExact && resourceVersion !== undefined ? resourceVersion : store.revision;
  if (revision < store.compactedRevision) throw expired(tooOldVersion);
  // With "any version will do" the real server answers from its cache, which knows no pages.
  const pageSize = resourceVersion === 0 && match === undefined ? 0 : limit;
  return page(viewAt(store, request, selection, revision), 0, selection, revision, pageSize);
}

function nextPage(store: Store, request: ApiRequest, options: ListOptions, selection: Selection): Page {
  if (options.resourceVersion !== undefined && options.resourceVersion !== 0) {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
  const { revision, start } = decodeContinue(options.continueToken);
  const isInconsistent = revision < 0;
  if (!isInconsistent && revision < store.compactedRevision) throw expiredPage(store.revision, start);
  const at = isInconsistent ? store.revision : revision;
  if (at > store.revision) throw revisionTooLarge(at, store.revision);
  const view = viewAt(store, request, selection, at);
  return page(view, view.firstAtOrAfter(selection.prefix + start), selection, at, options.limit);
}

function viewAt(store: Store, { endpoint }: ApiRequest, selection: Selection, revision: number): EntryView {
  const { prefix, onlyKey } = selection;
  const all = store.viewAt(endpoint.collection, prefix, revision);
  if (onlyKey === undefined) return all;
  const only = all.at(all.firstAtOrAfter(onlyKey));
  return viewOf(only?.key === onlyKey ? [only] : []);
}

function page(view: EntryView, start: number, { prefix, matches }: Selection, revision: number, limit: number): Page {
  const metadata: ListMeta = { resourceVersion: String(revision) };
  const found: Entry[] = [];
  for (let index = start; index < view.size; index++) {
    const entry = view.at(index);
    if (!entry || (matches && !matches(entry.object))) continue;
    if (limit > 0 && found.length === limit) {
      const token = encodeContinue(revision, entry.key.slice(prefix.length));
      // With a selector nobody knows how many of the remaining objects match.
      const remaining = matches ? {} : { remainingItemCount: view.size - index };
      return { entries: found, metadata: { ...metadata, continue: token, ...remaining } };
    }
    found.push(entry);
  }
  return { entries: found, metadata };
}

const encodeContinue = (revision: number, start: string): string =>
  Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: revision, start })).toString("base64url");

function decodeContinue(token: string): { revision: number; start: string } {
  let decoded: unknown;
  try {
    decoded = JSON.parse(Buffer.from(token, "base64url").toString());
  } catch (error) {
    throw badRequest(
      `invalid continue token: continue key is not valid: ${error instanceof Error ? error.message : error}`,
    );
  }
  const { v, rv, start } = (decoded ?? {}) as { v?: unknown; rv?: unknown; start?: unknown };
  if (v !== "meta.k8s.io/v1") {
    throw badRequest(
      `invalid continue token: continue key is not valid: server does not recognize this encoded version ${JSON.stringify(v)}`,
    );
  }
  if (typeof rv !== "number" || rv === 0) {
    throw badRequest(
      "invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
    );
  }
  if (typeof start !== "string" || start === "" || start.includes("..")) {
    throw badRequest(
      "invalid continue token: continue key is not valid: encoded start key empty (version meta.k8s.io/v1)",
    );
  }
  return { revision: rv, start };
}

const tooOldVersion = "The resourceVersion for the provided list is too old.";

function expiredPage(revision: number, start: string): Error {
  const error = expired(
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
      "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
      "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or " +
      "deleted between the time the first chunk was returned and now may show up in the list.",
  );
  // The Status carries a token that goes on from here in the present.
  const token = encodeContinue(-1, start);
  return Object.assign(error, {
    status: { ...error.status, metadata: { resourceVersion: String(revision), continue: token } },
  });
}
