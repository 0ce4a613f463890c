/** Where a path inside the container really is. */
export interface MountedPath {
  readonly inside: string;
  readonly outside: string;
}

/**
 * A process sees the host's files, not the container's. So every mention of a mounted path in its arguments and
 * variables is turned into the place where the files really are: `--order=/etc/capstan/order.json`,
 * `sh -c "cat /etc/config/a"`.
 */
export function translatePaths(text: string, mounts: readonly MountedPath[]): string {
  const longestFirst = [...mounts].sort((left, right) => right.inside.length - left.inside.length);
  if (longestFirst.length === 0) return text;
  const paths = longestFirst.map(({ inside }) => escapeForPattern(trimmed(inside))).join("|");
  const places = new Map(longestFirst.map(({ inside, outside }) => [trimmed(inside), outside]));
  const pattern = new RegExp(`(?<=^|[\\s=:,;"'(\`])(${paths})(?=$|[/\\s:,;"')\`])`, "g");
  return text.replace(pattern, (path) => places.get(path) ?? path);
}

const trimmed = (path: string): string => (path.length > 1 ? path.replace(/\/+$/, "") : path);

const escapeForPattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
