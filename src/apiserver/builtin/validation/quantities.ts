import { type FieldError, forbidden, invalid, required } from "../../../kube/field-error.ts";
import { labelKeyErrors } from "../../../kube/names.ts";
import { compareQuantities, parseQuantity, type Quantity } from "../../../kube/quantity.ts";
import { type Draft, entries } from "../draft.ts";
import { type Errors, notNegative } from "./rules.ts";

/** Requests and limits: known resources, amounts that make sense, requests within limits. */
export function validateResources(resources: Draft | undefined, path: string): Errors {
  const limits = new Map(entries(resources, "limits"));
  const requests = entries(resources, "requests");
  const errors: FieldError[] = [];
  for (const [name, value] of limits) errors.push(...amountErrors(name, value, `${path}.limits[${name}]`));
  for (const [name, value] of requests) {
    errors.push(...amountErrors(name, value, `${path}.requests[${name}]`), ...againstLimit(name, value, limits, path));
  }
  const all = [...limits.keys(), ...requests.map(([name]) => name)];
  const needsMore = all.some(isHugePage) && !all.some((name) => name === "cpu" || name === "memory");
  if (needsMore) errors.push(forbidden(path, "HugePages require cpu or memory"));
  return errors;
}

function amountErrors(name: string, value: unknown, path: string): Errors {
  return [...containerNameErrors(name, path), ...quantityErrors(name, value, path)];
}

const containerNames: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);

/** What a quota can limit by a name without a domain. */
export const quotaNames: ReadonlySet<string> = new Set([
  ...containerNames,
  ...["requests.cpu", "requests.memory", "requests.storage", "requests.ephemeral-storage"],
  ...["limits.cpu", "limits.memory", "limits.ephemeral-storage"],
  ...["pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps"],
  ...["persistentvolumeclaims", "services.nodeports", "services.loadbalancers"],
]);

const isHugePage = (name: string): boolean => name.startsWith("hugepages-");
export const isQuotaHugePage = (name: string): boolean => isHugePage(name) || name.startsWith("requests.hugepages-");

/** A name that Kubernetes knows, or one with a domain before it. */
export function resourceNameErrors(name: string, path: string): Errors {
  const wrong = labelKeyErrors(name);
  if (wrong.length > 0) return wrong.map((error) => invalid(path, name, error));
  const isKnown = name.includes("/") || quotaNames.has(name) || name === "storage" || isQuotaHugePage(name);
  return isKnown ? [] : [invalid(path, name, "must be a standard resource type or fully qualified")];
}

/** As above, of which a container may ask for some. */
export function containerNameErrors(name: string, path: string): Errors {
  const errors = resourceNameErrors(name, path);
  if (!name.includes("/")) {
    if (containerNames.has(name) || isHugePage(name)) return errors;
    return [...errors, invalid(path, name, "must be a standard resource for containers")];
  }
  if (isNative(name) || isExtended(name)) return errors;
  return [...errors, invalid(path, name, "doesn't follow extended resource name standard")];
}

function quantityErrors(name: string, value: unknown, path: string): Errors {
  const amount = read(value);
  if (amount.nanos < 0n) return [invalid(path, value, notNegative)];
  const isWhole = amount.nanos % 1_000_000_000n === 0n;
  return isExtended(name) && !isWhole ? [invalid(path, value, "must be an integer")] : [];
}

const isNative = (name: string): boolean => !name.includes("/") || name.includes("kubernetes.io/");

/** A vendor's resource cannot be shared out in parts nor promised twice. */
export const isExtended = (name: string): boolean => !isNative(name) && !name.startsWith("requests.");

export const mayExceed = (name: string): boolean => isNative(name) && !isHugePage(name);

function againstLimit(name: string, value: unknown, limits: ReadonlyMap<string, unknown>, path: string): Errors {
  const limit = limits.get(name);
  if (limit === undefined) {
    return mayExceed(name) ? [] : [required(`${path}.limits`, "Limit must be set for non overcommitable resources")];
  }
  const order = compareQuantities(read(value), read(limit));
  if (order !== 0 && !mayExceed(name)) {
    return [invalid(`${path}.requests`, value, `must be equal to ${name} limit of ${String(limit)}`)];
  }
  if (order <= 0) return [];
  return [invalid(`${path}.requests`, value, `must be less than or equal to ${name} limit of ${String(limit)}`)];
}

export function read(value: unknown): Quantity {
  const parsed = parseQuantity(String(value));
  return parsed.ok ? parsed.value : { nanos: 0n, format: "DecimalSI" };
}
