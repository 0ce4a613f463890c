import { applyChanges, type Change, type Collection, type Column, type Row, sortByKey } from "./collection.ts";

/** What is known of a feed. */
export type Live<T> =
  | { readonly kind: "Loading" }
  | { readonly kind: "Failed"; readonly status: number; readonly message: string }
  | { readonly kind: "Live"; readonly value: T };

export type Connection = "Connecting" | "Live" | "Lost" | "SignedOut";

/**
 * Follows feeds for the whole page. Feeds that are wanted at the same moment share one connection, components that want
 * the same feed share it, and one that nobody wants any more is kept for a while, so that going back is instant.
 */
export function subscribe(feed: string, tell: (state: Live<Collection<unknown>>) => void): () => void {
  const followed = feeds.get(feed) ?? begin(feed);
  followed.listeners.add(tell);
  tell(followed.state);
  return () => {
    followed.listeners.delete(tell);
    setTimeout(() => dropUnwanted(followed), lingerMs);
  };
}

export function subscribeToConnection(tell: (connection: Connection) => void): () => void {
  connectionListeners.add(tell);
  tell(connection);
  return () => connectionListeners.delete(tell);
}

/** After signing in, everything is asked for anew. */
export function restart(): void {
  for (const followed of feeds.values()) {
    followed.state = { kind: "Loading" };
    followed.pages = [];
    wanted.add(followed);
  }
  setConnection("Connecting");
  scheduleConnect(0);
}

const lingerMs = 10_000;
const burstMs = 80;
const reconnectMs = 1_000;
const refusedAgainMs = 30_000;

interface Followed {
  readonly feed: string;
  readonly listeners: Set<(state: Live<Collection<unknown>>) => void>;
  state: Live<Collection<unknown>>;
  pages: (readonly unknown[])[];
  columns: readonly Column[];
  changes: Change<unknown>[];
  flush: ReturnType<typeof setTimeout> | undefined;
  group: Group | undefined;
}

/** The feeds of one connection. */
interface Group {
  readonly stop: AbortController;
  readonly members: Set<Followed>;
}

/** Browsers open six connections to a server; some must be left for questions and writes. */
const maxGroups = 3;
const groups = new Set<Group>();
const feeds = new Map<string, Followed>();
const wanted = new Set<Followed>();
const connectionListeners = new Set<(connection: Connection) => void>();
let connection: Connection = "Connecting";
let connecting: ReturnType<typeof setTimeout> | undefined;

function begin(feed: string): Followed {
  const followed: Followed = {
    feed,
    listeners: new Set(),
    state: { kind: "Loading" },
    pages: [],
    columns: [],
    changes: [],
    flush: undefined,
    group: undefined,
  };
  feeds.set(feed, followed);
  wanted.add(followed);
  if (connection !== "SignedOut") scheduleConnect(0);
  return followed;
}

function dropUnwanted(followed: Followed): void {
  if (followed.listeners.size > 0 || feeds.get(followed.feed) !== followed) return;
  feeds.delete(followed.feed);
  wanted.delete(followed);
  clearTimeout(followed.flush);
  const { group } = followed;
  group?.members.delete(followed);
  if (group?.members.size === 0) group.stop.abort();
}

function scheduleConnect(delayMs: number): void {
  if (connecting !== undefined) return;
  connecting = setTimeout(() => {
    connecting = undefined;
    const members = new Set(wanted);
    wanted.clear();
    if (groups.size >= maxGroups) for (const followed of feeds.values()) dropUnwanted(followed);
    if (members.size > 0) void connect({ stop: new AbortController(), members });
  }, delayMs);
}

async function connect(group: Group): Promise<void> {
  const order = [...group.members];
  groups.add(group);
  for (const followed of order) followed.group = group;
  try {
    const query = order.map(({ feed }) => `feed=${encodeURIComponent(feed)}`).join("&");
    const response = await fetch(`/ui/api/live?${query}`, { signal: group.stop.signal });
    if (response.status === 401) return setConnection("SignedOut");
    if (!response.ok || !response.body) throw new Error(`the dashboard's server answered ${response.status}`);
    setConnection("Live");
    await readLines(response.body, (line) => take(line, order));
  } catch {
    if (group.stop.signal.aborted) return;
  } finally {
    groups.delete(group);
  }
  const lost = order.filter((followed) => followed.group === group && feeds.get(followed.feed) === followed);
  if (lost.length > 0 && connection !== "SignedOut") {
    setConnection("Lost");
    again(lost, reconnectMs);
  }
}

function again(lost: readonly Followed[], delayMs: number): void {
  setTimeout(() => {
    for (const followed of lost) if (feeds.get(followed.feed) === followed) wanted.add(followed);
    scheduleConnect(0);
  }, delayMs);
}

async function readLines(body: ReadableStream<Uint8Array>, take: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  // A page of a list comes in many pieces; they are put together once.
  let pieces: string[] = [];
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true });
    const parts = text.split("\n");
    const rest = parts.pop() ?? "";
    for (const part of parts) {
      take(pieces.length > 0 ? pieces.join("") + part : part);
      pieces = [];
    }
    if (rest !== "") pieces.push(rest);
  }
}

function take(line: string, order: readonly Followed[]): void {
  const [, index = "", letter = ""] = /^(\d+) ([A-Z]) /.exec(line) ?? [];
  const followed = order[Number(index)];
  if (!followed || feeds.get(followed.feed) !== followed) return;
  const json: unknown = JSON.parse(line.slice(index.length + letter.length + 2));
  switch (letter) {
    case "P":
      takePage(followed, json as WireList);
      break;
    case "L":
      takeWhole(followed);
      break;
    case "W":
      takeEvent(followed, json as { readonly type: string; readonly object: unknown });
      break;
    case "E":
      takeEnd(followed, json as { readonly status: number; readonly message: string });
      break;
  }
}

function takeWhole(followed: Followed): void {
  const items = sortByKey(followed.pages.flat());
  followed.pages = [];
  // What a watch told before the new list is in it already, or is no longer true.
  clearTimeout(followed.flush);
  followed.flush = undefined;
  followed.changes = [];
  tell(followed, { kind: "Live", value: { items, columns: followed.columns } });
}

interface WireList {
  readonly items?: readonly unknown[];
  readonly rows?: readonly Row[];
  readonly columnDefinitions?: readonly Column[];
}

function takePage(followed: Followed, { items, rows, columnDefinitions }: WireList): void {
  if (columnDefinitions) followed.columns = columnDefinitions;
  followed.pages.push(rows ?? items ?? []);
}

function takeEvent(followed: Followed, { type, object }: { readonly type: string; readonly object: unknown }): void {
  // After an error the watch ends by itself, and the list is fetched anew.
  if (type === "BOOKMARK" || type === "ERROR") return;
  const rows = (object as WireList).rows;
  for (const item of rows ?? [object]) followed.changes.push({ type, item });
  followed.flush ??= setTimeout(() => {
    followed.flush = undefined;
    if (followed.state.kind !== "Live") return;
    const items = applyChanges(followed.state.value.items, followed.changes.splice(0));
    tell(followed, { kind: "Live", value: { items, columns: followed.columns } });
  }, burstMs);
}

function takeEnd(followed: Followed, { status, message }: { readonly status: number; readonly message: string }): void {
  followed.group?.members.delete(followed);
  followed.group = undefined;
  followed.pages = [];
  if (status === 401) {
    setConnection("SignedOut");
    return;
  }
  const isRefused = status === 403 || status === 404;
  // A watch that has run its time, or a fault in the middle, leaves what is shown as it is.
  if (isRefused || (status !== 200 && followed.state.kind !== "Live"))
    tell(followed, { kind: "Failed", status, message });
  again([followed], isRefused ? refusedAgainMs : reconnectMs);
}

function tell(followed: Followed, state: Live<Collection<unknown>>): void {
  followed.state = state;
  for (const listener of followed.listeners) listener(state);
}

function setConnection(next: Connection): void {
  if (connection === next) return;
  connection = next;
  for (const listener of connectionListeners) listener(next);
}
