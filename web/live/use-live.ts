import { useEffect, useMemo, useState } from "preact/hooks";
import type { KubeObject } from "../../src/kube/object.ts";
import { type Kind, pathOf, type Selection } from "../model/kinds.ts";
import type { Collection, Row } from "./collection.ts";
import { type Connection, type Live, subscribe, subscribeToConnection } from "./hub.ts";

/** A live list of objects, followed as long as the component is shown. */
export function useObjects<T extends KubeObject>(kind: Kind, selection: Selection = {}): Live<readonly T[]> {
  const state = useFeed(pathOf(kind, selection));
  return useMemo(
    () => (state.kind === "Live" ? { kind: "Live", value: state.value.items as readonly T[] } : state),
    [state],
  );
}

/** One object; nothing when it does not exist. */
export function useObject<T extends KubeObject>(kind: Kind, namespace: string, name: string): Live<T | undefined> {
  const found = useObjects<T>(kind, { namespace, name });
  return found.kind === "Live" ? { kind: "Live", value: found.value[0] } : found;
}

export const useTable = (kind: Kind, selection: Selection = {}): Live<Collection<Row>> =>
  useFeed(`table:${pathOf(kind, selection)}`) as Live<Collection<Row>>;

export function useConnection(): Connection {
  const [connection, setConnection] = useState<Connection>("Connecting");
  useEffect(() => subscribeToConnection(setConnection), []);
  return connection;
}

function useFeed(feed: string): Live<Collection<unknown>> {
  const [told, setTold] = useState<{ feed: string; state: Live<Collection<unknown>> }>();
  useEffect(() => subscribe(feed, (state) => setTold({ feed, state })), [feed]);
  // What was told of another feed must not be shown under this one's name for a moment.
  return told?.feed === feed ? told.state : loading;
}

const loading = { kind: "Loading" } as const;
