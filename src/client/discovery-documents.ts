import type { KindRef } from "../kube/kind.ts";
import { decodeAny, isRecord } from "./answers.ts";
import { ApiError, isNotFound } from "./api-error.ts";
import { MalformedAnswerError } from "./connection-error.ts";
import type { Exchange } from "./exchange.ts";
import { type ApiRequest, rawRequest } from "./requests.ts";

/** Reads the discovery documents: the aggregated form in two requests, and the older form, one per group version. */
export interface DiscoveredResource extends KindRef {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
}

/** What was known before stands in for groups whose own server does not answer now. */
export async function readDiscovery(
  exchange: Exchange,
  before: readonly DiscoveredResource[],
): Promise<readonly DiscoveredResource[]> {
  const roots = await Promise.all(["/api", "/apis"].map((root) => readRoot(exchange, root, before)));
  return roots.flat();
}

async function readRoot(
  exchange: Exchange,
  root: string,
  before: readonly DiscoveredResource[],
): Promise<readonly DiscoveredResource[]> {
  const { request, document } = await fetchDocument(exchange, root, aggregatedTypes);
  switch (document["kind"]) {
    case "APIGroupDiscoveryList":
      return readAggregated(document, before);
    case "APIVersions":
      return readVersions(
        exchange,
        strings(document["versions"]).map((version) => ({ group: "", version })),
        before,
      );
    case "APIGroupList":
      return readVersions(exchange, records(document["groups"]).flatMap(versionsOfGroup), before);
    default:
      throw new MalformedAnswerError(
        `${request.subject}: kind: Unsupported value: ${JSON.stringify(document["kind"])}: not a discovery document`,
      );
  }
}

const aggregatedTypes = [
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
  "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
  "application/json",
].join(",");

function readAggregated(
  document: Record<string, unknown>,
  before: readonly DiscoveredResource[],
): readonly DiscoveredResource[] {
  return records(document["items"]).flatMap((item) => {
    const group = isRecord(item["metadata"]) ? text(item["metadata"]["name"]) : "";
    return records(item["versions"]).flatMap((entry) => {
      const version = text(entry["version"]);
      const resources = records(entry["resources"]);
      // Stale: the server behind this group did not answer; an empty list there says nothing about what exists.
      if (entry["freshness"] === "Stale" && resources.length === 0) return knownOf(before, { group, version });
      return resources.map((resource) => ({
        group,
        version,
        kind: isRecord(resource["responseKind"]) ? text(resource["responseKind"]["kind"]) : "",
        plural: text(resource["resource"]),
        namespaced: resource["scope"] === "Namespaced",
        singular: text(resource["singularResource"]),
        ...wordsOf(resource),
      }));
    });
  });
}

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

function versionsOfGroup(group: Record<string, unknown>): readonly GroupVersion[] {
  const name = text(group["name"]);
  const versions = records(group["versions"]).map((entry) => text(entry["version"]));
  const preferred = isRecord(group["preferredVersion"]) ? text(group["preferredVersion"]["version"]) : "";
  return [
    ...versions.filter((version) => version === preferred),
    ...versions.filter((version) => version !== preferred),
  ].map((version) => ({ group: name, version }));
}

async function readVersions(
  exchange: Exchange,
  versions: readonly GroupVersion[],
  before: readonly DiscoveredResource[],
): Promise<readonly DiscoveredResource[]> {
  const found = await Promise.all(versions.map((version) => readVersion(exchange, version, before)));
  return found.flat();
}

async function readVersion(
  exchange: Exchange,
  groupVersion: GroupVersion,
  before: readonly DiscoveredResource[],
): Promise<readonly DiscoveredResource[]> {
  const { group, version } = groupVersion;
  const target = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  let document: Record<string, unknown>;
  try {
    ({ document } = await fetchDocument(exchange, target, "application/json"));
  } catch (error) {
    // Removed between the two requests, or its own server is down: one broken group must not hide all the others.
    if (isNotFound(error)) return [];
    if (error instanceof ApiError && error.status >= 500) return knownOf(before, groupVersion);
    throw error;
  }
  return records(document["resources"])
    .filter((resource) => !text(resource["name"]).includes("/"))
    .map((resource) => ({
      group,
      version,
      kind: text(resource["kind"]),
      plural: text(resource["name"]),
      namespaced: resource["namespaced"] === true,
      singular: text(resource["singularName"]),
      ...wordsOf(resource),
    }));
}

async function fetchDocument(
  exchange: Exchange,
  target: string,
  accept: string,
): Promise<{ readonly request: ApiRequest; readonly document: Record<string, unknown> }> {
  const request = rawRequest({ method: "GET", target, headers: { accept } });
  const document = decodeAny(request, await exchange.send(request));
  if (!isRecord(document)) throw new MalformedAnswerError(`${request.subject}: the answer is not an object`);
  return { request, document };
}

const knownOf = (
  before: readonly DiscoveredResource[],
  { group, version }: GroupVersion,
): readonly DiscoveredResource[] =>
  before.filter((resource) => resource.group === group && resource.version === version);

const wordsOf = (
  resource: Record<string, unknown>,
): Pick<DiscoveredResource, "shortNames" | "categories" | "verbs"> => ({
  shortNames: strings(resource["shortNames"]),
  categories: strings(resource["categories"]),
  verbs: strings(resource["verbs"]),
});

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const strings = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
const records = (value: unknown): readonly Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];
