/**
 * Upstream writes null for what is not set, and its schema allows it. Here a field is either there or not, so nulls are
 * taken out where an object comes in. What has none is given back as it is.
 */
export function withoutNulls<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(withoutNulls);
    return items.some((item, index) => item !== value[index]) ? (items as T) : value;
  }
  let changed = false;
  const entries: [string, unknown][] = [];
  for (const [key, member] of Object.entries(value)) {
    const kept = withoutNulls(member);
    if (kept === null) changed = true;
    else entries.push([key, kept]);
    changed ||= kept !== member;
  }
  return changed ? (Object.fromEntries(entries) as T) : value;
}
