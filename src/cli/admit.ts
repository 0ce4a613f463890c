import { formatFieldError } from "../kube/field-error.ts";
import type { Kind } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import { type CompiledSchema, compileSchema } from "../kube/schema/compile.ts";

/** What the API server would make of an object: defaults filled in, and everything that is wrong with it. */
export interface Admitted {
  readonly object: KubeObject;
  readonly errors: readonly string[];
}

export function admit(kind: Kind, object: KubeObject): Admitted {
  const schema = compiled.get(kind) ?? compileSchema(kind.schema);
  compiled.set(kind, schema);
  const { value, unknown } = schema.prune(object);
  const complete = schema.default(value) as KubeObject;
  return {
    object: complete,
    errors: [...unknown.map((path) => `unknown field "${path}"`), ...schema.validate(complete).map(formatFieldError)],
  };
}

const compiled = new WeakMap<Kind, CompiledSchema>();
