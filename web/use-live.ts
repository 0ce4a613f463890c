import { useEffect, useState } from "preact/hooks";
import { follow, type KubeObject, type Live } from "./kube.ts";

/** A live list of a resource, followed as long as the component is shown. */
export function useLive<T extends KubeObject>(path: string): Live<T> {
  const [state, setState] = useState<Live<T>>({ kind: "Loading" });
  useEffect(() => {
    const stop = new AbortController();
    void follow<T>(path, setState, stop.signal);
    return () => stop.abort();
  }, [path]);
  return state;
}
