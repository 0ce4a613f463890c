import type { Env } from "../../env/env.ts";
import { deepEqual } from "../../kube/equality.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { Endpoint } from "../endpoint.ts";
import type { ResourceTable } from "../resource-table.ts";
import type { Entry } from "../storage/entry.ts";
import type { Store } from "../storage/store.ts";
import { timestamp } from "../writes/metadata.ts";
import { endpointsOf } from "./custom-resource.ts";
import { cleanupFinalizer, type Definition, definitionCollection, hasCondition, withCondition } from "./definition.ts";
import { decideNames } from "./names.ts";

/**
 * Keeps the served resources in step with the stored definitions: accepts names, establishes, serves, and on deletion
 * removes the objects before it lets go of the definition.
 */
export class DefinitionKeeper {
  readonly #env: Env;
  readonly #store: Store;
  readonly #resources: ResourceTable;
  readonly #hands: KeeperHands;
  /** What is served for each definition, by the part of it that decides. */
  #served = new Map<string, { readonly basis: unknown; readonly endpoints: readonly Endpoint[] }>();
  #stopped = false;
  #stopWaiting: (() => void)[] = [];

  constructor(env: Env, store: Store, resources: ResourceTable, hands: KeeperHands) {
    this.#env = env;
    this.#store = store;
    this.#resources = resources;
    this.#hands = hands;
  }

  /** Serves what is stored, then follows every change in the turn in which it is committed. */
  start(): void {
    this.#follow();
  }

  stop(): void {
    this.#stopped = true;
    for (const stop of this.#stopWaiting) stop();
  }

  #follow(): void {
    if (this.#stopped) return;
    this.#serve();
    for (const entry of this.#entries()) this.#advance(entry);
    for (const stop of this.#stopWaiting) stop();
    const again = (): void => this.#follow();
    const collections = [
      definitionCollection,
      ...this.#terminating().map(({ spec, metadata }) => metadata.name && `${spec.names.plural}.${spec.group}`),
    ];
    this.#stopWaiting = collections.map((collection) => this.#store.events(collection).onAnnounce(again));
  }

  #entries(): readonly Entry[] {
    return this.#store.collection(definitionCollection).range();
  }

  #terminating(): readonly Definition[] {
    return this.#entries()
      .map(({ object }) => object as Definition)
      .filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  }

  #serve(): void {
    const served = new Map<string, { readonly basis: unknown; readonly endpoints: readonly Endpoint[] }>();
    for (const { object, revision } of this.#entries()) {
      const definition = object as Definition;
      if (!hasCondition(definition, "Established")) continue;
      const isTerminating = definition.metadata.deletionTimestamp !== undefined;
      const basis = { spec: definition.spec, names: definition.status?.acceptedNames, isTerminating };
      const before = this.#served.get(definition.metadata.name);
      const isSame = before !== undefined && deepEqual(before.basis, basis);
      served.set(definition.metadata.name, isSame ? before : { basis, endpoints: endpointsOf(definition, revision) });
    }
    const changed = [...new Set([...this.#served.keys(), ...served.keys()])].filter(
      (name) => this.#served.get(name) !== served.get(name),
    );
    this.#served = served;
    if (changed.length === 0) return;
    this.#resources.replaceCustom([...served.values()].flatMap(({ endpoints }) => endpoints));
    // Watches of what has changed end, so that their clients come back to the new form.
    for (const name of changed) this.#store.events(name).announce();
  }

  #advance(entry: Entry): void {
    const definition = entry.object as Definition;
    if (definition.metadata.deletionTimestamp !== undefined) this.#cleanUp(entry, definition);
    else this.#accept(entry, definition);
  }

  #accept(entry: Entry, definition: Definition): void {
    const others = this.#entries().map(({ object }) => object as Definition);
    const { acceptedNames, namesAccepted, established } = decideNames(definition, others, timestamp(this.#env.now()));
    const named = { ...definition, status: { ...definition.status, acceptedNames } };
    const wanted = withCondition(withCondition(named, namesAccepted), established);
    this.#write(entry, wanted);
  }

  #cleanUp(entry: Entry, definition: Definition): void {
    const { finalizers = [] } = definition.metadata;
    if (!finalizers.includes(cleanupFinalizer)) return;
    const endpoint = this.#served.get(definition.metadata.name)?.endpoints[0];
    const objects = this.#store.collection(definition.metadata.name).range();
    if (objects.length === 0) {
      const rest = finalizers.filter((name) => name !== cleanupFinalizer);
      if (rest.length === 0) void this.#store.write(definitionCollection, entry.key, entry, undefined)?.catch(() => {});
      else this.#write(entry, { ...definition, metadata: { ...definition.metadata, finalizers: rest } });
      return;
    }
    const inProgress = withCondition(definition, {
      type: "Terminating",
      status: "True",
      lastTransitionTime: timestamp(this.#env.now()),
      reason: "InstanceDeletionInProgress",
      message: "CustomResource deletion is in progress",
    });
    this.#write(entry, inProgress);
    if (!endpoint) return;
    for (const { key, object } of objects) {
      // A failed write is tried again at the next change of the definition or of its objects.
      if (object.metadata.deletionTimestamp === undefined) void this.#hands.removeObject(endpoint, key).catch(() => {});
    }
  }

  #write(entry: Entry, wanted: Definition): void {
    if (deepEqual(wanted, entry.object)) return;
    const recorded = this.#hands.recordStatus(wanted, entry.object as Definition);
    // A write of somebody else in between leads here again.
    void this.#store.write(definitionCollection, entry.key, entry, recorded)?.catch(() => {});
  }
}

/** What the keeper cannot do itself. */
export interface KeeperHands {
  /** Removes one object of a resource whose definition goes; finalizers still hold. */
  removeObject(endpoint: Endpoint, key: string): Promise<void>;
  /** Writes down in managedFields that the server wrote this status. */
  recordStatus(wanted: Definition, old: Definition): KubeObject;
}
