import { useEffect, useState } from "preact/hooks";

const storageKey = "capstan-namespace";
const listeners = new Set<(namespace: string) => void>();
let chosen = localStorage.getItem(storageKey) ?? "";

/** The namespace that lists are narrowed to; empty for all. Kept in this browser. */
export function useNamespace(): readonly [string, (namespace: string) => void] {
  const [namespace, setNamespace] = useState(chosen);
  useEffect(() => {
    listeners.add(setNamespace);
    return () => {
      listeners.delete(setNamespace);
    };
  }, []);
  return [namespace, choose];
}

function choose(namespace: string): void {
  chosen = namespace;
  localStorage.setItem(storageKey, namespace);
  for (const listener of listeners) listener(namespace);
}
