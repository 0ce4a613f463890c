import { deepEqual } from "../../kube/equality.ts";
import type { FieldError } from "../../kube/field-error.ts";
import { validateSchema } from "../../kube/schema/validate-schema.ts";
import type { Definition } from "./definition.ts";

/** What is wrong with the schemas of a definition. Schemas that have not changed were judged when they came. */
export function schemaErrors({ spec }: Definition, old?: Definition): readonly FieldError[] {
  const versions = spec.versions ?? [];
  const [first] = versions;
  // Like the real server, a schema that all versions share is shown as if it stood once for all.
  const isShared = versions.every(({ schema }) => deepEqual(schema, first?.schema));
  return versions.flatMap(({ name, schema }, index) => {
    const before = old?.spec.versions.find((version) => version.name === name);
    if (!schema?.openAPIV3Schema || (before && deepEqual(before.schema, schema)) || (isShared && index > 0)) return [];
    const path = isShared ? "spec.validation.openAPIV3Schema" : `spec.versions[${index}].schema.openAPIV3Schema`;
    return validateSchema(schema.openAPIV3Schema, { path });
  });
}
