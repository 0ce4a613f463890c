import type { VersionSchema } from "../kube/apply/versioned-types.ts";
import { apiVersionOf } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import type { Named } from "./protocol/status-error.ts";
import type { ServedResource, ServedSubresource } from "./resource.ts";
import { Entry } from "./storage/entry.ts";

/** A served resource as the request pipeline sees it: with the names that errors use and the way to its stored form. */
export class Endpoint {
  readonly resource: ServedResource;
  readonly apiVersion: string;
  /** Custom resources differ from built-in ones in a few answers. */
  readonly isCustom: boolean;
  /** The collection in the store. */
  readonly collection: string;
  readonly resourceName: Named;
  readonly kindName: Named;
  /** Brings a plain value into the form of the type and says which fields the type does not know. */
  readonly shape: (value: Readonly<Record<string, unknown>>) => Shaped;
  readonly deprecationWarning: string | undefined;
  /** The definition is being deleted: objects may be read, changed and removed, but no new one may come. */
  readonly isTerminating: boolean;
  /** Schemas of the other versions that managers may have written in. */
  readonly otherVersions: readonly VersionSchema[];
  readonly #storage: StorageForm | undefined;
  readonly #views = new WeakMap<Entry, Entry>();

  constructor(resource: ServedResource, options: EndpointOptions) {
    this.resource = resource;
    this.isCustom = options.isCustom;
    this.shape = options.shape;
    this.deprecationWarning = options.deprecationWarning;
    this.isTerminating = options.isTerminating ?? false;
    this.otherVersions = options.otherVersions ?? [];
    this.apiVersion = apiVersionOf(resource);
    const stored = resource.storedAs ?? resource;
    this.collection = collectionName(stored.group, stored.plural);
    this.resourceName = { group: resource.group, name: resource.plural };
    // A refusal speaks of the stored form: an Event of events.k8s.io is simply an Event.
    this.kindName = { group: stored.group, name: resource.kind };
    this.#storage = options.storage ?? resource.storedAs;
  }

  toStored(object: KubeObject): KubeObject {
    return this.#storage ? this.#storage.toStored(object) : object;
  }

  /** The entry in this version; the same one when the stored form is the served form. */
  view(entry: Entry): Entry {
    if (!this.#storage || this.#storage.isAsServed?.(entry)) return entry;
    const known = this.#views.get(entry);
    if (known) return known;
    const object = this.#storage.fromStored(entry.object);
    const seen =
      object === entry.object
        ? entry
        : new Entry(entry.key, entry.revision, Buffer.from(JSON.stringify(object)), object);
    this.#views.set(entry, seen);
    return seen;
  }

  subresource(name: string): ServedSubresource | undefined {
    return this.resource.subresources.find((subresource) => subresource.name === name);
  }
}

export interface EndpointOptions {
  readonly isCustom: boolean;
  readonly shape: (value: Readonly<Record<string, unknown>>) => Shaped;
  readonly storage?: StorageForm;
  readonly otherVersions?: readonly VersionSchema[];
  readonly isTerminating?: boolean;
  /** Sent with every answer of a version that is on its way out. */
  readonly deprecationWarning?: string;
}

export type Shaped =
  | { readonly kind: "Shaped"; readonly object: KubeObject; readonly unknownFields: readonly string[] }
  | { readonly kind: "Refused"; readonly message: string };

export interface StorageForm {
  /** Whether the stored bytes can be served as they are. */
  isAsServed?(entry: Entry): boolean;
  toStored(object: KubeObject): KubeObject;
  fromStored(object: KubeObject): KubeObject;
}

export const collectionName = (group: string, plural: string): string => (group === "" ? plural : `${plural}.${group}`);
