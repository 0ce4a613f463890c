/** The little of the Kubernetes API that a page needs: lists that stay live. */
export interface KubeObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp?: string;
  };
}

export type Live<T> =
  | { readonly kind: "Loading" }
  | { readonly kind: "SignedOut" }
  | { readonly kind: "Failed"; readonly message: string }
  | { readonly kind: "Live"; readonly items: readonly T[] };

const reconnectDelayMs = 1_000;

/** Lists a resource and follows its changes until the signal is aborted; each change is told as the whole new list. */
export async function follow<T extends KubeObject>(
  path: string,
  tell: (state: Live<T>) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await listAndWatch(path, tell, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof SignedOut) return tell({ kind: "SignedOut" });
      tell({ kind: "Failed", message: error instanceof Error ? error.message : String(error) });
    }
    await new Promise((resolve) => setTimeout(resolve, reconnectDelayMs));
  }
}

class SignedOut extends Error {}

async function listAndWatch<T extends KubeObject>(
  path: string,
  tell: (state: Live<T>) => void,
  signal: AbortSignal,
): Promise<void> {
  const list = (await (await ask(path, signal)).json()) as { metadata: { resourceVersion: string }; items: T[] };
  const items = new Map(list.items.map((item) => [item.metadata.uid, item]));
  const publish = (): void => tell({ kind: "Live", items: [...items.values()].sort(byName) });
  publish();
  const watch = await ask(
    `${path}?watch=true&allowWatchBookmarks=true&resourceVersion=${list.metadata.resourceVersion}`,
    signal,
  );
  for await (const line of lines(watch)) {
    const event = JSON.parse(line) as { type: string; object: T };
    if (event.type === "ERROR") return;
    if (event.type === "BOOKMARK") continue;
    if (event.type === "DELETED") items.delete(event.object.metadata.uid);
    else items.set(event.object.metadata.uid, event.object);
    publish();
  }
}

async function ask(path: string, signal: AbortSignal): Promise<Response> {
  const response = await fetch(`/k8s${path}`, { signal, headers: { accept: "application/json" } });
  if (response.status === 401) throw new SignedOut();
  if (!response.ok) {
    const { message } = (await response.json().catch(() => ({}))) as { message?: string };
    throw new Error(message ?? `${path} answered ${response.status}`);
  }
  return response;
}

async function* lines(response: Response): AsyncGenerator<string> {
  if (!response.body) return;
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    yield* parts.filter((part) => part !== "");
  }
}

const byName = (a: KubeObject, b: KubeObject): number => keyOf(a).localeCompare(keyOf(b));
export const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ""}/${metadata.name}`;
