/**
 * Resource versions of one resource type are ordered decimal numbers (Kubernetes documents this since 1.35). A server
 * that uses anything else still works: what cannot be compared is only told apart, not ordered.
 */
export function compareVersions(a: string | undefined, b: string | undefined): number | undefined {
  if (a === undefined || b === undefined || a === "" || b === "") return undefined;
  if (a === b) return 0;
  if (!isNumber(a) || !isNumber(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

export const isOlder = (a: string | undefined, b: string | undefined): boolean => (compareVersions(a, b) ?? 0) < 0;

export const isAtLeast = (a: string | undefined, b: string | undefined): boolean => (compareVersions(a, b) ?? -1) >= 0;

/** The later of two versions; the second one where they cannot be compared. */
export const laterVersion = (a: string | undefined, b: string | undefined): string | undefined => {
  if (b === undefined || b === "") return a;
  return (compareVersions(a, b) ?? -1) > 0 ? a : b;
};

const isNumber = (version: string): boolean => /^(0|[1-9][0-9]*)$/.test(version);
