import type { Env } from "../../env/env.ts";
import type { KubeObject } from "../../kube/object.ts";
import { type AdmissionLookups, admitNew, allocateService, claimErrors } from "../builtin/index.ts";
import { forbidden, invalid } from "../protocol/status-error.ts";
import { storageKey } from "../storage/entry.ts";
import type { Store } from "../storage/store.ts";
import { AddressBook } from "./address-book.ts";
import type { Admission } from "./admission.ts";

/** What the server itself adds to new objects of the built-in kinds, where that depends on other objects. */
export function builtinAdmission(env: Env, store: Store): Admission {
  const addresses = new AddressBook(env, store);
  const lookups: AdmissionLookups = {
    priorityClasses: () => objectsOf(store, "priorityclasses.scheduling.k8s.io"),
    storageClasses: () => objectsOf(store, "storageclasses.storage.k8s.io"),
    ingressClasses: () => objectsOf(store, "ingressclasses.networking.k8s.io"),
    serviceAccount: (namespace, name) => store.latest("serviceaccounts", storageKey(namespace, name))?.object,
    suffix: () => randomSuffix(env),
  };
  return {
    mutate({ endpoint, operation, subresource, object, oldObject, name }) {
      if (!object || subresource !== "" || endpoint.isCustom) return undefined;
      if (endpoint.collection === "services") {
        const errors = claimErrors(object, oldObject, addresses);
        if (errors.length > 0) throw invalid(endpoint.kindName, name, errors);
        return allocateService(object, oldObject, addresses);
      }
      if (operation !== "CREATE") return undefined;
      const admitted = admitNew(object, lookups);
      if (admitted.kind === "Forbidden") throw forbidden(endpoint.resourceName, name, admitted.message);
      return admitted.object === object ? undefined : admitted.object;
    },
    validate: () => {},
  };
}

const objectsOf = (store: Store, collection: string): readonly KubeObject[] =>
  store
    .collection(collection)
    .range()
    .map(({ object }) => object);

const suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789";

function randomSuffix(env: Env): string {
  let suffix = "";
  for (let i = 0; i < 5; i++) suffix += suffixAlphabet[Math.floor(env.random() * suffixAlphabet.length)];
  return suffix;
}
