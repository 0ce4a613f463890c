import type { FieldError } from "../kube/field-error.ts";
import type { KubeObject, ObjectMeta } from "../kube/object.ts";
import { policyErrors } from "./admission/policy-errors.ts";
import type { Policy } from "./admission/policy-objects.ts";
import { type BuiltinResource, builtinResources, decodeBuiltin } from "./builtin/index.ts";
import type { Definition } from "./crd/definition.ts";
import { schemaErrors } from "./crd/schema-errors.ts";
import { Endpoint, type Shaped } from "./endpoint.ts";

/** The endpoints of all built-in kinds. */
export function builtinEndpoints(): readonly Endpoint[] {
  return builtinResources().map((resource) => endpointOf(withExpressions(resource)));
}

/** Kinds whose objects hold schemas or expressions are also judged by whoever enforces these. */
function withExpressions(resource: BuiltinResource): BuiltinResource {
  const errorsOf = expressionJudges[`${resource.group}/${resource.plural}`];
  if (!errorsOf) return resource;
  const { strategy } = resource;
  return Object.create(resource, {
    strategy: {
      value: {
        ...strategy,
        validate: (object: KubeObject) => [...strategy.validate(object), ...errorsOf(object)],
        validateUpdate: (object: KubeObject, old: KubeObject) => [
          ...strategy.validateUpdate(object, old),
          ...errorsOf(object, old),
        ],
      },
    },
  }) as BuiltinResource;
}

const expressionJudges: Readonly<Record<string, (object: KubeObject, old?: KubeObject) => readonly FieldError[]>> = {
  "apiextensions.k8s.io/customresourcedefinitions": (object, old) =>
    schemaErrors(object as Definition, old as Definition | undefined),
  "admissionregistration.k8s.io/validatingadmissionpolicies": (object) => policyErrors(object as Policy),
};

function endpointOf(resource: BuiltinResource): Endpoint {
  const endpoint: Endpoint = new Endpoint(resource, {
    isCustom: false,
    ...(resource.deprecation !== undefined && { deprecationWarning: resource.deprecation }),
    shape: (value) => shape(endpoint.apiVersion, resource.kind, value),
  });
  return endpoint;
}

function shape(apiVersion: string, kind: string, value: Readonly<Record<string, unknown>>): Shaped {
  const decoded = decodeBuiltin(apiVersion, kind, value);
  if (!decoded) return { kind: "Refused", message: `no kind "${kind}" is registered for version "${apiVersion}"` };
  if (decoded.kind === "Refused") return decoded;
  const { metadata = {} as ObjectMeta } = decoded.object;
  return { ...decoded, object: { ...decoded.object, apiVersion, kind, metadata } };
}
