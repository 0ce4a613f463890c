/** Lists something and follows its changes over one connection; shared by plain lists and tables. */
export type Live<T> =
  | { readonly kind: "Loading" }
  | { readonly kind: "SignedOut" }
  | { readonly kind: "Failed"; readonly message: string }
  | { readonly kind: "Live"; readonly value: T };

export interface Feed<T> {
  readonly path: string;
  readonly accept: string;
  /** The value of a whole list, and the version from which to follow it. */
  begin(list: unknown): { readonly value: T; readonly resourceVersion: string };
  /** The value after an event. */
  apply(value: T, type: string, object: unknown): T;
}

const reconnectDelayMs = 1_000;

/** Until the signal is aborted; each change is told as the whole new value. */
export async function follow<T>(feed: Feed<T>, tell: (state: Live<T>) => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await listAndWatch(feed, tell, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof SignedOut) return tell({ kind: "SignedOut" });
      tell({ kind: "Failed", message: error instanceof Error ? error.message : String(error) });
    }
    await new Promise((resolve) => setTimeout(resolve, reconnectDelayMs));
  }
}

class SignedOut extends Error {}

async function listAndWatch<T>(feed: Feed<T>, tell: (state: Live<T>) => void, signal: AbortSignal): Promise<void> {
  const list = await (await ask(feed.path, feed.accept, signal)).json();
  const begun = feed.begin(list);
  let value = begun.value;
  tell({ kind: "Live", value });
  const query = `?watch=true&allowWatchBookmarks=true&resourceVersion=${begun.resourceVersion}`;
  const watch = await ask(`${feed.path}${query}`, feed.accept, signal);
  for await (const lines of lineGroups(watch)) {
    for (const line of lines) {
      const event = JSON.parse(line) as { type: string; object: unknown };
      if (event.type === "ERROR") return;
      if (event.type !== "BOOKMARK") value = feed.apply(value, event.type, event.object);
    }
    // A burst of events is shown once.
    tell({ kind: "Live", value });
  }
}

async function ask(path: string, accept: string, signal: AbortSignal): Promise<Response> {
  const response = await fetch(`/k8s${path}`, { signal, headers: { accept } });
  if (response.status === 401) throw new SignedOut();
  if (!response.ok) {
    const { message } = (await response.json().catch(() => ({}))) as { message?: string };
    throw new Error(message ?? `${path} answered ${response.status}`);
  }
  return response;
}

async function* lineGroups(response: Response): AsyncGenerator<readonly string[]> {
  if (!response.body) return;
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    const lines = parts.filter((part) => part !== "");
    if (lines.length > 0) yield lines;
  }
}
