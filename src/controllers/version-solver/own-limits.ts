/** The values that all of an object's own limits allow; undefined when it has none. */
export function allowedByAll(
  limits: readonly { readonly allowed: readonly number[] }[],
): ReadonlySet<number> | undefined {
  const known = knownSets.get(limits);
  if (known) return known;
  const [first, ...others] = limits;
  if (!first) return undefined;
  let allowed = new Set(first.allowed);
  for (const other of others) allowed = new Set(other.allowed.filter((value) => allowed.has(value)));
  knownSets.set(limits, allowed);
  return allowed;
}

const knownSets = new WeakMap<object, ReadonlySet<number>>();
