import { createHash } from "node:crypto";
import { subdomainMaxLength } from "../../kube/names.ts";

export interface BindingIdentity {
  readonly world: string;
  readonly consumer: string;
  readonly capabilityId: string;
  readonly scope: string;
  readonly multiplicity: string;
  readonly provider: string;
}

/**
 * `cb-<world>-<consumer>-<capability>-<scope>-<multiplicity>`, the form that existing installations have. Multiplicity
 * `many` always adds the provider and `1` never does, so that a name does not move when a provider appears.
 */
export function bindingName(identity: BindingIdentity): string {
  const { world, consumer, capabilityId, scope, multiplicity, provider } = identity;
  const parts = [
    "cb",
    world,
    consumer,
    capabilityId,
    scope,
    multiplicity,
    ...(multiplicity === "many" ? [provider] : []),
  ];
  const base = clean(parts.join("-"));
  return base.length <= subdomainMaxLength
    ? base
    : `${base.slice(0, subdomainMaxLength - 9).replace(/-+$/, "")}-${digest(base)}`;
}

/** For the rare identities whose plain names are equal (`a.b-c` and `a-b.c`): the same name, told apart by a hash. */
export function distinctBindingName(identity: BindingIdentity): string {
  const { provider, ...requirement } = identity;
  const exact = [...Object.values(requirement), ...(identity.multiplicity === "many" ? [provider] : [])].join(" ");
  return `${bindingName(identity)
    .slice(0, subdomainMaxLength - 9)
    .replace(/-+$/, "")}-${digest(exact)}`;
}

const clean = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, "-")
    .replace(/^-+|-+$/g, "");

/** SHA-1 because running installations already have such names; nothing here needs to resist an attacker. */
const digest = (text: string): string => createHash("sha1").update(text, "utf8").digest("hex").slice(0, 8);
