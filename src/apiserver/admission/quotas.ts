import type { Env } from "../../env/env.ts";
import type { KubeObject } from "../../kube/object.ts";
import { checkQuotas, type StandingQuota } from "../../kube/quota/check.ts";
import { measureOf } from "../../kube/quota/measure.ts";
import {
  type ResourceList,
  readResources,
  type WrittenResources,
  writeResources,
} from "../../kube/quota/resource-list.ts";
import type { ScopedSpec } from "../../kube/quota/scopes.ts";
import type { Endpoint } from "../endpoint.ts";
import { forbidden } from "../protocol/status-error.ts";
import type { Collection } from "../storage/collection.ts";
import type { Entry } from "../storage/entry.ts";
import type { Store } from "../storage/store.ts";
import { fieldManagerOf } from "../writes/managers.ts";
import type { AdmissionQuestion } from "./admission.ts";

interface Quota extends KubeObject {
  readonly spec?: ScopedSpec;
  readonly status?: { readonly hard?: WrittenResources; readonly used?: WrittenResources };
}

const resource = "resourcequotas";

/**
 * What the quotas of a namespace allow. Not a gate like the others: a write is checked, stored and charged in one turn,
 * so that nobody else can come between, and both reach the disk in one commit or not at all.
 */
export class Quotas {
  readonly #env: Env;
  readonly #store: Store;
  readonly #quotas: Collection;
  /** Where the quotas themselves are served; writes of their status are told apart by their manager. */
  readonly #endpoint: () => Endpoint | undefined;

  constructor(env: Env, store: Store, endpoint: () => Endpoint | undefined) {
    this.#env = env;
    this.#store = store;
    this.#quotas = store.collection(resource);
    this.#endpoint = endpoint;
  }

  /** Throws when the write does not fit. Answers how to charge it, to be called in the same turn; undefined: nothing to charge. */
  check(question: AdmissionQuestion): (() => void) | undefined {
    // Most servers have no quota at all, and pay nothing for it.
    if (this.#quotas.size === 0) return undefined;
    const { endpoint, namespace, name, object, oldObject, operation, subresource } = question;
    if (namespace === "" || !object || (operation !== "CREATE" && operation !== "UPDATE")) return undefined;
    const entries = this.#of(namespace);
    const measure = entries.length > 0 ? measureOf(endpoint.resource.group, endpoint.resource.plural) : undefined;
    if (!measure) return undefined;
    const write = { operation, subresource, object, ...(oldObject && { old: oldObject }) };
    const verdict = checkQuotas(entries.map(standing), measure, write, this.#env.now());
    if (verdict.kind === "Refused") throw forbidden(endpoint.resourceName, name, verdict.message);
    if (verdict.used.size === 0) return undefined;
    return () => {
      for (const entry of entries) {
        const used = verdict.used.get(entry.object.metadata.name);
        if (used) this.#charge(entry, used);
      }
    };
  }

  /** As the next writer sees them: with what was charged a moment ago. */
  #of(namespace: string): readonly Entry[] {
    return this.#quotas.range(`${namespace}/`).flatMap(({ key }) => this.#store.latest(resource, key) ?? []);
  }

  #charge(entry: Entry, used: ResourceList): void {
    const live = entry.object as Quota;
    const updated: Quota = { ...live, status: { ...live.status, used: writeResources(used) } };
    const endpoint = this.#endpoint();
    const managed = endpoint
      ? fieldManagerOf(endpoint).update({
          live,
          updated,
          manager: "kube-apiserver",
          subresource: "status",
          now: this.#env.now(),
        })
      : updated;
    const written = this.#store.write(resource, entry.key, entry, managed);
    if (!written) throw new Error(`the quota ${entry.key} changed in the turn in which it was read`);
    // Fails together with the write that it is charged for, which tells the client.
    written.catch(() => undefined);
  }
}

function standing(entry: Entry): StandingQuota {
  const { metadata, spec = {}, status = {} } = entry.object as Quota;
  return { name: metadata.name, spec, hard: readResources(status.hard), used: readResources(status.used) };
}
