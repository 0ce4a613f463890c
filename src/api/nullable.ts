/** Optional fields of kinds whose other writers are programs that say null where they have nothing to say. */
import type { Field } from "../kube/schema/build.ts";

/** May be left out, and may be null, which means the same; readers take the nulls out first. */
export const optional = <T>(of: Field<T>): Field<T, "optional"> => ({
  schema: { ...of.schema, nullable: true },
  presence: "optional",
});
