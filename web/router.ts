import { useEffect, useState } from "preact/hooks";

/** The place in the dashboard, kept in the address after the hash: `#/worlds/anvil-demo/stormy-world`. */
export function usePath(): readonly string[] {
  const [path, setPath] = useState(currentPath);
  useEffect(() => {
    const follow = (): void => setPath(currentPath());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return path;
}

export const linkTo = (...parts: readonly string[]): string => `#/${parts.map(encodeURIComponent).join("/")}`;

function currentPath(): readonly string[] {
  return location.hash
    .replace(/^#\/?/, "")
    .split("/")
    .filter((part) => part !== "")
    .map(decodeURIComponent);
}
