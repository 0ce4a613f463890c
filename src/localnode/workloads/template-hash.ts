/** A short name for the content of a template: equal content, equal hash, whatever the order of its keys. */
export function contentHash(content: unknown, collisionCount?: number): string {
  let hash = fnv1a(canonical(content));
  if (collisionCount !== undefined) hash = fnv1a(String(collisionCount), hash);
  return safeLetters(String(hash));
}

/** JSON with sorted keys; members that are undefined count as missing. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`);
  return `{${members.join(",")}}`;
}

function fnv1a(text: string, start: number = 0x811c9dc5): number {
  let hash = start;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** Kubernetes' alphabet for generated names: no vowels and no look-alikes, so no words come out. */
export const nameLetters = "bcdfghjklmnpqrstvwxz2456789";
const safeLetters = (text: string): string =>
  [...text].map((letter) => nameLetters[letter.charCodeAt(0) % nameLetters.length]).join("");
