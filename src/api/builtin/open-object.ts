/**
 * Built-in kinds are declared only as far as our controllers read and write them. Everything else in such an object is
 * kept, and the server that owns the kind checks it.
 */
import { type Field, type Fields, type ObjectOf, object } from "../../kube/schema/build.ts";

export const openObject = <const F extends Fields>(fields: F): Field<ObjectOf<F>> =>
  object(fields, { preserveUnknownFields: true });
