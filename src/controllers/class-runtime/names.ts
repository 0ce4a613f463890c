import { nameHash } from "../../kube/names.ts";

/** Names of a class runtime's children. They are DNS labels, because Services and pods' host names are made of them. */
const maxLength = 63;

/** The name of one function's Deployment and Service: the class itself when it has only one function. */
export const functionName = (className: string, index: number, total: number): string =>
  total === 1 ? dns1035(className) : withSuffix(className, `-fn-${index}`);

export const odgmName = (className: string): string => withSuffix(className, "-odgm");
export const odgmServiceName = (className: string): string => withSuffix(className, "-odgm-svc");

/** The suffix always survives; what has to be cut is told apart by a hash. */
export function withSuffix(className: string, suffix: string): string {
  const base = clean(className);
  const room = maxLength - suffix.length;
  return `${base.length <= room ? base : cut(base, className, room)}${suffix}`;
}

/** Lower case letters, digits and hyphens, beginning with a letter; upstream's rule, with a hash where it only cut. */
export function dns1035(text: string): string {
  const base = clean(text);
  return base.length <= maxLength ? base : cut(base, text, maxLength);
}

function clean(text: string): string {
  const base = text
    .toLowerCase()
    .replace(/[^a-z0-9-]/g, "-")
    .replace(/^-+|-+$/g, "");
  if (base === "") return "default";
  return /^[a-z]/.test(base) ? base : `a${base}`;
}

const hashLength = 8;

const cut = (base: string, original: string, room: number): string =>
  `${base.slice(0, room - hashLength - 1).replace(/-+$/, "")}-${nameHash(original, hashLength)}`;
