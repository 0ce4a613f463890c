import { useEffect, useState } from "preact/hooks";
import { type KubeObject, objectsAt, type Table, tableAt } from "./kube.ts";
import { type Feed, follow, type Live } from "./live-stream.ts";

/** A live list of objects, followed as long as the component is shown. */
export const useObjects = <T extends KubeObject>(path: string): Live<readonly T[]> => useFeed(path, objectsAt<T>);

export const useTable = (path: string): Live<Table> => useFeed(path, tableAt);

function useFeed<T>(path: string, feedAt: (path: string) => Feed<T>): Live<T> {
  const [state, setState] = useState<Live<T>>({ kind: "Loading" });
  useEffect(() => {
    const stop = new AbortController();
    setState({ kind: "Loading" });
    void follow(feedAt(path), setState, stop.signal);
    return () => stop.abort();
  }, [path, feedAt]);
  return state;
}
