import { KeptTarget } from "../model/kept-target.ts";
import type { ServiceState, ServiceTarget } from "../model/service.ts";

/**
 * The three ways in which clients of the original system speak (upstream/wanaku.md): A is 0.0.6–0.0.9, S is the
 * specification's snapshot, B is 0.1.0–0.2.x. Their clients fail on one unknown key, so each answer has exactly its
 * dialect's keys, in its order.
 */
export type Dialect = "a" | "s" | "b";

export const isDialect = (text: string): text is Dialect => text === "a" || text === "s" || text === "b";

/** The target's JSON; undefined where the dialect has no word for its type. */
export function encodeTarget(target: ServiceTarget, dialect: Dialect): string | undefined {
  if (dialect !== "a") return KeptTarget.of(target).json;
  const { id, serviceName, host, port, serviceType } = target;
  const type = serviceType === null ? null : enumNameOf(serviceType);
  return type === undefined ? undefined : JSON.stringify({ id, service: serviceName, host, port, serviceType: type });
}

/** As JSON in an array, without its brackets; those for which the dialect has no word are left out. */
export function encodeTargets(entries: readonly TargetOfEntry[], dialect: Dialect): string {
  let text = "";
  let lead = "";
  for (const { head, kind, instance } of entries) {
    const json = dialect === "a" ? encodeTarget(instance.target, dialect) : head + kind.json;
    if (json === undefined) continue;
    text += lead + json;
    lead = ",";
  }
  return text;
}

interface TargetOfEntry extends Pick<KeptTarget, "head" | "kind"> {
  readonly instance: { readonly target: KeptTarget };
}

/** A's enumeration has three members; a client of that time fails on any other. */
const enumNames: ReadonlyMap<string, string> = new Map([
  ["resource-provider", "RESOURCE_PROVIDER"],
  ["tool-invoker", "TOOL_INVOKER"],
  ["multi-capability", "MULTI_CAPABILITY"],
]);
const enumValues: ReadonlyMap<string, string> = new Map([...enumNames].map(([value, name]) => [name, value]));

const enumNameOf = (serviceType: string): string | undefined => enumNames.get(serviceType);
export const serviceTypeOfEnum = (name: string): string | undefined => enumValues.get(name);

export interface StateJson {
  readonly timestamp: string;
  readonly healthy: boolean;
  readonly healthStatus?: string;
  readonly reason: string;
}

export function encodeState({ timestamp, health, reason }: ServiceState, dialect: Dialect): StateJson {
  const healthy = health === "HEALTHY";
  return dialect === "b" ? { timestamp, healthy, healthStatus: health, reason } : { timestamp, healthy, reason };
}
