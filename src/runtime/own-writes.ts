import type { Env } from "../env/env.ts";
import type { KubeObject, ObjectKey } from "../kube/object.ts";
import { type CacheReader, keyText, type ObjectCache } from "./cache.ts";
import type { Change } from "./change.ts";
import { deepFreeze } from "./freeze.ts";
import { compareVersions, isAtLeast } from "./resource-version.ts";

/**
 * One controller's view of one cache: what the watch has told, plus the controller's own writes that the watch has not
 * told yet. So a reconcile always sees what it or an earlier one has written, and the echo of a write that comes back
 * through the watch does not cause another reconcile when nothing else has changed.
 */
export class OwnWrites<T extends KubeObject> implements CacheReader<T> {
  readonly #env: Env;
  readonly #cache: ObjectCache<T>;
  readonly #overlay = new Map<string, Overlay<T>>();
  readonly #echoes = new Map<string, Echo[]>();
  readonly #inFlight = new Map<string, InFlight<T>>();
  readonly #judged = new WeakMap<Change<T>, boolean>();
  readonly #onEcho: () => void;
  #pruneAbove = minPruned;

  /** `onEcho` is told of every echo that was recognised and caused no reconcile. */
  constructor(env: Env, cache: ObjectCache<T>, onEcho: () => void = () => undefined) {
    this.#env = env;
    this.#cache = cache;
    this.#onEcho = onEcho;
  }

  /** Own writes that the watch has not confirmed. */
  get pending(): number {
    this.#prune();
    return this.#overlay.size;
  }

  get(key: ObjectKey): T | undefined {
    const cached = this.#cache.get(key);
    if (this.#overlay.size === 0) return cached;
    const text = keyText(key);
    const overlay = this.#overlay.get(text);
    if (overlay === undefined) return cached;
    if (this.#isObsolete(overlay, cached)) {
      this.#overlay.delete(text);
      return cached;
    }
    return overlay.object;
  }

  list(namespace?: string): readonly T[] {
    return this.#merged(
      this.#cache.list(namespace),
      (object) => namespace === undefined || object.metadata.namespace === namespace,
    );
  }

  byIndex(name: string, value: string): readonly T[] {
    return this.#merged(this.#cache.byIndex(name, value), (object) =>
      this.#cache.indexValues(name, object).includes(value),
    );
  }

  /**
   * Runs a write. While it is under way, changes of the object wait: only the answer tells which of them is the echo.
   * Creates with a generated name have no key yet, so their echo may come first and is then taken for news.
   */
  async during<R>(key: ObjectKey | undefined, write: () => Promise<R>): Promise<R> {
    if (key === undefined) return write();
    const text = keyText(key);
    const window = this.#inFlight.get(text) ?? { writes: 0, waiting: [] };
    window.writes++;
    this.#inFlight.set(text, window);
    try {
      return await write();
    } finally {
      window.writes--;
      if (window.writes === 0) {
        this.#inFlight.delete(text);
        for (const { change, trigger } of window.waiting) this.admit(change, trigger);
      }
    }
  }

  /** The server's answer to an own write. `seen` is what this controller knew of the object before. */
  written(object: T, seen: T | undefined): void {
    const { resourceVersion, uid } = object.metadata;
    if (resourceVersion === undefined || uid === undefined) return;
    if (seen?.metadata.resourceVersion === resourceVersion) return;
    const text = keyText(object.metadata);
    const cached = this.#cache.get(object.metadata);
    const overlay: Overlay<T> = {
      object: deepFreeze(object),
      uid,
      version: resourceVersion,
      atMs: this.#env.monotonicMs(),
    };
    if (!this.#isObsolete(overlay, cached)) this.#lay(text, overlay);
    this.#expectEcho(text, { uid, version: resourceVersion, base: seen?.metadata.resourceVersion });
  }

  /** The server has removed the object at once on our request. */
  deleted(key: ObjectKey, uid: string | undefined): void {
    const cached = this.#cache.get(key);
    if (cached === undefined || (uid !== undefined && cached.metadata.uid !== uid)) return;
    const text = keyText(key);
    const gone = cached.metadata.uid ?? "";
    this.#lay(text, { object: undefined, uid: gone, version: undefined, atMs: this.#env.monotonicMs() });
    this.#expectEcho(text, { uid: gone, version: undefined, base: undefined });
  }

  /** Calls `trigger` unless the change is nothing but the echo of an own write. */
  admit(change: Change<T>, trigger: () => void): void {
    const window = this.#inFlight.get(keyText(change.object.metadata));
    if (window !== undefined) {
      window.waiting.push({ change, trigger });
      return;
    }
    if (!this.#judge(change)) trigger();
  }

  /** One change may concern a controller in several roles; all of them get the same answer. */
  #judge(change: Change<T>): boolean {
    const known = this.#judged.get(change);
    if (known !== undefined) return known;
    const isEcho = this.#isEcho(change);
    this.#judged.set(change, isEcho);
    if (isEcho) this.#onEcho();
    return isEcho;
  }

  #isEcho(change: Change<T>): boolean {
    if (this.#echoes.size === 0) return false;
    const text = keyText(change.object.metadata);
    const expected = this.#echoes.get(text);
    if (expected === undefined) return false;
    const { uid, resourceVersion } = change.object.metadata;
    const at = expected.findIndex((echo) =>
      change.kind === "Deleted" ? echo.version === undefined && echo.uid === uid : echo.version === resourceVersion,
    );
    const match = expected[at];
    this.#forgetEchoes(text, expected, at, resourceVersion);
    // Found by a list instead of a watch: changes in between may have been skipped, so it is news.
    if (match === undefined || change.origin !== "Watch") return false;
    switch (change.kind) {
      case "Added":
        return match.base === undefined;
      case "Updated":
        // Only if our write came directly after what we had seen has nobody else changed the object in between.
        return match.base === change.old.metadata.resourceVersion;
      case "Deleted":
        return true;
    }
  }

  #expectEcho(text: string, echo: Echo): void {
    const expected = this.#echoes.get(text);
    if (expected === undefined) this.#echoes.set(text, [echo]);
    else if (expected.push(echo) > maxEchoesPerObject) expected.shift();
  }

  #forgetEchoes(text: string, expected: Echo[], matched: number, version: string | undefined): void {
    const left = expected.filter(
      (echo, index) => index !== matched && !(echo.version !== undefined && isAtLeast(version, echo.version)),
    );
    if (left.length === 0) this.#echoes.delete(text);
    else this.#echoes.set(text, left);
  }

  #merged(cached: readonly T[], belongs: (object: T) => boolean): readonly T[] {
    if (this.#overlay.size === 0) return cached;
    this.#prune();
    if (this.#overlay.size === 0) return cached;
    const kept = cached.filter((object) => !this.#overlay.has(keyText(object.metadata)));
    for (const { object } of this.#overlay.values()) if (object !== undefined && belongs(object)) kept.push(object);
    return kept;
  }

  /** Perhaps nobody ever asks for this object again, so whoever asks cannot be the only one to clear away. */
  #lay(text: string, overlay: Overlay<T>): void {
    this.#overlay.set(text, overlay);
    if (this.#overlay.size <= this.#pruneAbove) return;
    this.#prune();
    this.#pruneAbove = Math.max(minPruned, 2 * this.#overlay.size);
  }

  #prune(): void {
    for (const [text, overlay] of this.#overlay) {
      const key = overlay.object?.metadata;
      if (this.#isObsolete(overlay, key === undefined ? this.#cachedAt(text) : this.#cache.get(key)))
        this.#overlay.delete(text);
    }
  }

  #cachedAt(text: string): T | undefined {
    const slash = text.indexOf("/");
    return this.#cache.get(
      slash < 0 ? { name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) },
    );
  }

  /** The watch has caught up with the write, or has overtaken it. */
  #isObsolete(overlay: Overlay<T>, cached: T | undefined): boolean {
    const expired = this.#env.monotonicMs() - overlay.atMs > maxOverlayMs;
    if (overlay.version === undefined) return cached === undefined || cached.metadata.uid !== overlay.uid || expired;
    if (cached?.metadata.resourceVersion === overlay.version) return true;
    if (isAtLeast(this.#cache.version, overlay.version)) return true;
    // Versions that cannot be compared never tell that the watch has passed by.
    return expired && compareVersions(this.#cache.version, overlay.version) === undefined;
  }
}

interface Overlay<T> {
  /** Undefined: deleted. */
  readonly object: T | undefined;
  readonly uid: string;
  readonly version: string | undefined;
  readonly atMs: number;
}
interface Echo {
  readonly uid: string;
  /** Undefined: the echo of a deletion. */
  readonly version: string | undefined;
  readonly base: string | undefined;
}
interface InFlight<T extends KubeObject> {
  writes: number;
  readonly waiting: { readonly change: Change<T>; readonly trigger: () => void }[];
}

/** Writes below which it is not worth looking which of them the watch has told. */
const minPruned = 16;
const maxOverlayMs = 60_000;
const maxEchoesPerObject = 64;
