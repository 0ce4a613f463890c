import { type CelProgram, compileCel } from "../../kube/cel/compile.ts";
import { jsonToCel } from "../../kube/cel/data.ts";
import { withFunctions } from "../../kube/cel/library/kubernetes.ts";
import { type CelType, dynType } from "../../kube/cel/type.ts";
import { CelError, CelMap, type CelValue } from "../../kube/cel/value.ts";
import type { RbacAuthorizer } from "../auth/rbac.ts";
import type { AdmissionQuestion } from "./admission.ts";
import {
  authorizerLibrary,
  authorizerType,
  authorizerValue,
  resourceCheckType,
  resourceCheckValue,
} from "./cel-authorizer.ts";
import { reviewRequest } from "./review-request.ts";

/** CEL as admission uses it: the names that an expression may use, and their values for one request. */
export type Compiled =
  | { readonly ok: true; readonly program: CelProgram }
  | { readonly ok: false; readonly message: string };

export interface ExpressionNames {
  readonly params?: boolean;
  readonly variables?: boolean;
  readonly authorizer?: boolean;
}

const functions = withFunctions(authorizerLibrary);

export function compileExpression(expression: string, names: ExpressionNames): Compiled {
  const types: Record<string, CelType> = {
    object: dynType,
    oldObject: dynType,
    request: dynType,
    namespaceObject: dynType,
    ...(names.params && { params: dynType }),
    ...(names.variables && { variables: dynType }),
    ...(names.authorizer && { authorizer: authorizerType, "authorizer.requestResource": resourceCheckType }),
  };
  const compiled = compileCel(expression, types, { functions });
  return compiled.ok ? compiled : { ok: false, message: compiled.message };
}

/** The values for one request; what no expression asks for is never made. */
export class ExpressionValues {
  readonly #question: AdmissionQuestion;
  readonly #rbac: RbacAuthorizer;
  readonly #namespaceObject: unknown;
  readonly #known = new Map<string, CelValue>();

  constructor(question: AdmissionQuestion, rbac: RbacAuthorizer, namespaceObject: unknown) {
    this.#question = question;
    this.#rbac = rbac;
    this.#namespaceObject = namespaceObject;
  }

  /** Looks names up, with the parameters and variables of one policy on top. */
  with(extra: Readonly<Record<string, CelValue>>): (name: string) => CelValue | undefined {
    return (name) => (name in extra ? extra[name] : this.#value(name));
  }

  #value(name: string): CelValue | undefined {
    if (!this.#known.has(name)) {
      const made = this.#make(name);
      if (made === undefined) return undefined;
      this.#known.set(name, made);
    }
    return this.#known.get(name);
  }

  #make(name: string): CelValue | undefined {
    const { object, oldObject, request, endpoint, subresource, namespace, name: objectName } = this.#question;
    switch (name) {
      case "object":
        return jsonToCel(object ?? null);
      case "oldObject":
        return jsonToCel(oldObject ?? null);
      case "request":
        return jsonToCel(reviewRequest(this.#question));
      case "namespaceObject":
        return jsonToCel(this.#namespaceObject ?? null);
      case "authorizer":
        return authorizerValue(this.#rbac, request.user);
      case "authorizer.requestResource": {
        const { group, plural } = endpoint.resource;
        return resourceCheckValue(this.#rbac, request.user, {
          group,
          resource: plural,
          subresource,
          namespace,
          name: objectName,
        });
      }
      default:
        return undefined;
    }
  }
}

/** `variables`: each is evaluated when it is first used, and may use those before it. */
export class LazyVariables extends CelMap {
  readonly #evaluate: ReadonlyMap<string, () => CelValue>;
  readonly #known = new Map<string, CelValue>();

  constructor(evaluate: ReadonlyMap<string, () => CelValue>) {
    super();
    this.#evaluate = evaluate;
  }

  get size(): number {
    return this.#evaluate.size;
  }

  find(key: CelValue): CelValue | undefined {
    if (typeof key !== "string") return undefined;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const value = this.#evaluate.get(key)?.();
    if (value !== undefined) this.#known.set(key, value);
    return value;
  }

  keys(): Iterable<CelValue> {
    return this.#evaluate.keys();
  }
}

/** What an expression gave: its value, or why it has none. */
export function evaluate(program: CelProgram, values: (name: string) => CelValue | undefined): CelValue {
  const result = program.evaluate(values);
  return result.ok ? result.value : new CelError(result.message);
}
