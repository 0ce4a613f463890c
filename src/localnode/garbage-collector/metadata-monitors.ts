import type { Client } from "../../client/client.ts";
import type { Env } from "../../env/env.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { Change } from "../../runtime/change.ts";
import { createInformer, type Informer } from "../../runtime/informer.ts";
import { type Logger, silentLogger } from "../../runtime/log.ts";
import { ownerIndex } from "../../runtime/read.ts";
import { resourceId, type ServedResource, servedResources } from "./served-resources.ts";

/** The metadata of every object that can be owned or deleted, of kinds that come and go. */
export class MetadataMonitors {
  readonly #env: Env;
  readonly #client: Client;
  readonly #log: Logger;
  readonly #monitors = new Map<string, Monitor>();
  readonly #listeners: ((change: Change, resource: ServedResource) => void)[] = [];
  #resources: readonly ServedResource[] = [];
  #isClosed = false;

  constructor(env: Env, client: Client, log: Logger = silentLogger) {
    this.#env = env;
    this.#client = client;
    this.#log = log;
  }

  /** All collections that were served at the last look. */
  get resources(): readonly ServedResource[] {
    return this.#resources;
  }

  /** What is known is complete; collections that just went away do not count. */
  get isSynced(): boolean {
    const monitors = [...this.#monitors.values()];
    return monitors.length > 0 && monitors.every(({ informer }) => informer.cache.synced || informer.health.absent);
  }

  onChange(listener: (change: Change, resource: ServedResource) => void): void {
    this.#listeners.push(listener);
  }

  /** Looks at what is served now: follows what is new, and leaves what is gone. */
  async refresh(signal: AbortSignal): Promise<void> {
    const resources = await servedResources(this.#client, signal);
    if (this.#isClosed) return;
    this.#resources = resources;
    const wanted = new Map(resources.filter(isCollected).map((resource) => [resourceId(resource), resource]));
    for (const [id, monitor] of this.#monitors) {
      if (wanted.get(id)?.version === monitor.resource.version) continue;
      monitor.end.abort();
      this.#monitors.delete(id);
    }
    for (const [id, resource] of wanted) if (!this.#monitors.has(id)) this.#monitors.set(id, this.#follow(resource));
  }

  /** Waits until the collections that are followed now are known. */
  async whenSynced(): Promise<void> {
    await Promise.all([...this.#monitors.values()].map(({ informer }) => informer.cache.whenSynced()));
  }

  find(group: string, kind: string): ServedResource | undefined {
    return this.#resources.find((resource) => resource.group === group && resource.kind === kind);
  }

  byId(id: string): ServedResource | undefined {
    return this.#monitors.get(id)?.resource;
  }

  get(resource: ServedResource, namespace: string | undefined, name: string): KubeObject | undefined {
    const key = namespace === undefined || !resource.namespaced ? { name } : { namespace, name };
    return this.#monitors.get(resourceId(resource))?.informer.cache.get(key);
  }

  dependentsOf(uid: string): readonly Dependent[] {
    return [...this.#monitors.values()].flatMap(({ resource, informer }) =>
      informer.cache.byIndex(ownerIndex, uid).map((object) => ({ resource, object })),
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const monitors = [...this.#monitors.values()];
    for (const { end } of monitors) end.abort();
    await Promise.all(monitors.map(({ running }) => running));
  }

  #follow(resource: ServedResource): Monitor {
    const end = new AbortController();
    const settings = { env: this.#env, client: this.#client, log: this.#log };
    const informer = createInformer(resource, { metadataOnly: true }, settings);
    informer.cache.subscribe((change) => {
      if (!end.signal.aborted) for (const listener of this.#listeners) listener(change, resource);
    });
    return { resource, informer, end, running: informer.run(end.signal) };
  }
}

export interface Dependent {
  readonly resource: ServedResource;
  readonly object: KubeObject;
}

interface Monitor {
  readonly resource: ServedResource;
  readonly informer: Informer;
  readonly end: AbortController;
  readonly running: Promise<void>;
}

/** Events are many, own nothing, and go by themselves. */
const isCollected = ({ plural, verbs }: ServedResource): boolean =>
  plural !== "events" && ["list", "watch", "delete"].every((verb) => verbs.includes(verb));
