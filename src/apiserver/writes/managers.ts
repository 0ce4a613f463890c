import type { KubeObject } from "../../kube/object.ts";
import type { WriteOptions } from "../decode/write-options.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";

/** Who writes down in managedFields that these fields are now theirs. */
export interface Managers {
  created(object: KubeObject): KubeObject;
  updated(object: KubeObject, old: KubeObject): KubeObject;
}

export function managerOf(_parts: ServerParts, _request: ApiRequest, _options: WriteOptions): Managers {
  return { created: (object) => object, updated: (object) => object };
}
