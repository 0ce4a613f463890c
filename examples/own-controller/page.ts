/** The kind `Page`. From this one definition come the TypeScript type, the CustomResourceDefinition and the validation. */
import {
  array,
  dateTime,
  defineKind,
  integer,
  object,
  oneOf,
  optional,
  type ResourceOf,
  string,
} from "../../src/index.ts";

const condition = object({
  type: string(),
  status: oneOf(["True", "False", "Unknown"]),
  reason: string(),
  message: string(),
  lastTransitionTime: dateTime(),
  observedGeneration: optional(integer()),
});

export const Page = defineKind({
  group: "example.dev",
  version: "v1",
  kind: "Page",
  plural: "pages",
  description: "A small web page, published as a ConfigMap.",
  spec: object({
    title: string({ minLength: 1, maxLength: 80 }),
    paragraphs: array(string({ maxLength: 4000 }), { maxItems: 50 }),
  }),
  status: object({
    configMap: optional(string()),
    conditions: optional(array(condition, { keys: ["type"] })),
  }),
  conditions: { Published: ["Published", "NameTaken", "Refused"] },
  columns: [
    { name: "Title", type: "string", jsonPath: ".spec.title" },
    { name: "Published", type: "string", jsonPath: '.status.conditions[?(@.type=="Published")].status' },
  ],
});
export type Page = ResourceOf<typeof Page>;
