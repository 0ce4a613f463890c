import type { KubeObject } from "../../kube/object.ts";
import { formatQuantity, type Quantity, quantityMillis, quantityUnits } from "../../kube/quantity.ts";
import { podResources, type ResourceHolder, type ResourceSpec } from "../../kube/quota/pod-resources.ts";
import { type ResourceList, readResources, type WrittenResources } from "../../kube/quota/resource-list.ts";
import { child, type Draft, draftOf, ensure, finished, items, text } from "./draft.ts";

/** What a LimitRange makes of new pods and claims: what they do not say is filled in, and what is too much is refused. */
export interface LimitRange extends KubeObject {
  readonly spec?: { readonly limits?: readonly Limit[] | null };
}

interface Limit {
  readonly type: string;
  readonly max?: WrittenResources;
  readonly min?: WrittenResources;
  readonly default?: WrittenResources;
  readonly defaultRequest?: WrittenResources;
  readonly maxLimitRequestRatio?: WrittenResources;
}

const limitsOf = ({ spec }: LimitRange, type: string): readonly Limit[] =>
  (spec?.limits ?? []).filter((limit) => limit.type === type);

/** The pod with requests and limits for the containers that name none; the same one when there is nothing to add. */
export function withDefaultLimits(pod: KubeObject, range: LimitRange): KubeObject {
  const requests = Object.assign({}, ...limitsOf(range, "Container").map(({ defaultRequest }) => defaultRequest));
  const limits = Object.assign({}, ...limitsOf(range, "Container").map((limit) => limit.default));
  const draft = draftOf(pod);
  const spec = child(draft, "spec");
  const told = [
    ...items(spec, "containers").flatMap((container) => fillContainer(container, "container", requests, limits)),
    ...items(spec, "initContainers").flatMap((container) =>
      fillContainer(container, "init container", requests, limits),
    ),
  ];
  if (told.length === 0) return pod;
  ensure(ensure(draft, "metadata"), "annotations")["kubernetes.io/limit-ranger"] =
    `LimitRanger plugin set: ${told.join("; ")}`;
  return finished(draft);
}

/** Says what was added: `cpu, memory request for container web`. */
function fillContainer(
  container: Draft,
  what: string,
  requests: WrittenResources,
  limits: WrittenResources,
): readonly string[] {
  const told = (field: string, word: string, defaults: WrittenResources): readonly string[] => {
    const given = child(child(container, "resources"), field) ?? {};
    const missing = Object.keys(defaults)
      .filter((name) => given[name] === undefined)
      .sort();
    if (missing.length === 0) return [];
    const all = { ...given, ...Object.fromEntries(missing.map((name) => [name, defaults[name]])) };
    ensure(container, "resources")[field] = Object.fromEntries(
      Object.entries(all).sort(([left], [right]) => (left < right ? -1 : 1)),
    );
    return [`${missing.join(", ")} ${word} for ${what} ${text(container, "name")}`];
  };
  const limitsTold = told("limits", "limit", limits);
  return [...told("requests", "request", requests), ...limitsTold];
}

/** Why the pod may not be: one sentence for each limit that it breaks. */
export function podLimitErrors(pod: KubeObject, range: LimitRange): readonly string[] {
  const { spec } = pod as KubeObject & { readonly spec?: ResourceSpec };
  return (range.spec?.limits ?? []).flatMap((limit) => {
    if (limit.type === "Pod") {
      return allErrors(limit, podResources(spec, "requests"), podResources(spec, "limits"));
    }
    if (limit.type !== "Container") return [];
    const ofContainer = ({ resources }: ResourceHolder): readonly string[] =>
      allErrors(limit, readResources(resources?.requests), readResources(resources?.limits));
    return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].flatMap(ofContainer);
  });
}

/** Claims have no limits of their own, so only what they request counts. */
export function claimLimitErrors(claim: KubeObject, range: LimitRange): readonly string[] {
  const { spec } = claim as KubeObject & { readonly spec?: ResourceHolder };
  const requests = readResources(spec?.resources?.requests);
  return limitsOf(range, "PersistentVolumeClaim").flatMap((limit) => [
    ...each(limit.min, (name, least) => minimumError(limit.type, name, least, requests.get(name), undefined)),
    ...each(limit.max, (name, most) => maximumRequestError(limit.type, name, most, requests.get(name))),
  ]);
}

function allErrors(limit: Limit, requests: ResourceList, limits: ResourceList): readonly string[] {
  const { type } = limit;
  return [
    ...each(limit.min, (name, least) => minimumError(type, name, least, requests.get(name), limits.get(name))),
    ...each(limit.max, (name, most) => maximumError(type, name, most, requests.get(name), limits.get(name))),
    ...each(limit.maxLimitRequestRatio, (name, ratio) =>
      ratioError(type, name, ratio, requests.get(name), limits.get(name)),
    ),
  ];
}

const each = (
  amounts: WrittenResources | undefined,
  judge: (name: string, enforced: Quantity) => string | undefined,
): readonly string[] => [...readResources(amounts)].flatMap(([name, enforced]) => judge(name, enforced) ?? []);

type Given = Quantity | undefined;

/** Thousandths decide, as in the real server; amounts are rounded up to them. */
const isLess = (left: Quantity, right: Quantity): boolean => quantityMillis(left) < quantityMillis(right);

function minimumError(type: string, name: string, least: Quantity, request: Given, limit: Given): string | undefined {
  const rule = `minimum ${name} usage per ${type} is ${formatQuantity(least)}`;
  if (!request) return `${rule}.  No request is specified`;
  if (isLess(request, least)) return `${rule}, but request is ${formatQuantity(request)}`;
  return limit && isLess(limit, least) ? `${rule}, but limit is ${formatQuantity(limit)}` : undefined;
}

function maximumRequestError(type: string, name: string, most: Quantity, request: Given): string | undefined {
  const rule = `maximum ${name} usage per ${type} is ${formatQuantity(most)}`;
  if (!request) return `${rule}.  No request is specified`;
  return isLess(most, request) ? `${rule}, but request is ${formatQuantity(request)}` : undefined;
}

function maximumError(type: string, name: string, most: Quantity, request: Given, limit: Given): string | undefined {
  const rule = `maximum ${name} usage per ${type} is ${formatQuantity(most)}`;
  if (!limit) return `${rule}.  No limit is specified`;
  if (isLess(most, limit)) return `${rule}, but limit is ${formatQuantity(limit)}`;
  return request && isLess(most, request) ? `${rule}, but request is ${formatQuantity(request)}` : undefined;
}

function ratioError(type: string, name: string, most: Quantity, request: Given, limit: Given): string | undefined {
  const rule = `${name} max limit to request ratio per ${type} is ${formatQuantity(most)}`;
  if (!request || request.nanos === 0n) return `${rule}, but no request is specified or request is 0`;
  if (!limit || limit.nanos === 0n) return `${rule}, but no limit is specified or limit is 0`;
  const ratio = comparable(limit, request) / comparable(request, limit);
  return ratio * 1000 > Number(quantityMillis(most)) ? `${rule}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
}

/** Thousandths where both fit into 64 bits so, otherwise whole units. */
const comparable = (amount: Quantity, other: Quantity): number =>
  quantityUnits(amount) <= maxUnitsInMillis && quantityUnits(other) <= maxUnitsInMillis
    ? Number(quantityMillis(amount))
    : Number(quantityUnits(amount));

const maxUnitsInMillis = (2n ** 63n - 1n) / 1000n;
