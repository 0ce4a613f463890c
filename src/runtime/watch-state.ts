import type { KubeList, KubeObject } from "../kube/object.ts";
import type { OpenWatch } from "./watch-stream.ts";

/** Where a watcher is; see watcher.ts for the way from one to the next. */
export type State<T extends KubeObject> = Empty | Paging<T> | Streaming<T> | Listed | Watching<T>;

export interface Empty {
  readonly kind: "Empty";
  readonly lastVersion: string | undefined;
}
export interface Paging<T extends KubeObject> {
  readonly kind: "Paging";
  readonly pages: AsyncIterator<KubeList<T>>;
  readonly lastVersion: string | undefined;
  readonly version: string | undefined;
  readonly begun: boolean;
}
export interface Streaming<T extends KubeObject> {
  readonly kind: "Streaming";
  readonly stream: OpenWatch<T>;
  readonly lastVersion: string | undefined;
  readonly startedAtMs: number;
}
export interface Listed {
  readonly kind: "Listed";
  readonly version: string;
}
export interface Watching<T extends KubeObject> {
  readonly kind: "Watching";
  readonly stream: OpenWatch<T>;
  readonly startVersion: string;
  readonly version: string;
  readonly startedAtMs: number;
}

export const watching = <T extends KubeObject>(
  version: string,
  stream: OpenWatch<T>,
  startedAtMs: number,
): Watching<T> => ({
  kind: "Watching",
  stream,
  startVersion: version,
  version,
  startedAtMs,
});

/** The last version that is known to be behind us. */
export function versionOf<T extends KubeObject>(state: State<T>): string | undefined {
  switch (state.kind) {
    case "Empty":
    case "Paging":
    case "Streaming":
      return state.lastVersion;
    case "Listed":
    case "Watching":
      return state.version;
  }
}

export async function close<T extends KubeObject>(state: State<T>): Promise<void> {
  if (state.kind === "Paging") await state.pages.return?.().catch(() => undefined);
  if (state.kind === "Streaming" || state.kind === "Watching") await state.stream.close();
}
