// Writes docs/reference/: one page per kind, the command line and an index, all from the definitions in the code. `npm run generate:reference`.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { kinds } from "../src/api/kinds.ts";
import { apiVersionOf, type Kind } from "../src/kube/kind.ts";
import type { Schema, ValidationRule } from "../src/kube/schema/schema.ts";
import { commandLinePage } from "./reference/command-line.ts";
import { eventsPage, eventsSection } from "./reference/events.ts";
import { code, generatedFrom, page, table } from "./reference/markdown.ts";
import { metricsPage } from "./reference/metrics.ts";

const folder = new URL("../docs/reference/", import.meta.url);

/** The text of every page by its file name; the same definitions always give the same bytes. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ["README.md", indexPage()],
    ["command-line.md", commandLinePage()],
    ["events.md", eventsPage()],
    ["metrics.md", await metricsPage()],
    ...kinds.map((kind) => [fileOf(kind), kindPage(kind)] as const),
  ]);
}

const fileOf = (kind: Kind): string => `${kind.singular}.md`;
const generated = generatedFrom("src/api");

function indexPage(): string {
  const rows = kinds.map((kind) => [
    `[${kind.kind}](${fileOf(kind)})`,
    code(apiVersionOf(kind)),
    kind.namespaced ? "Namespaced" : "Cluster",
    kind.shortNames.map(code).join(", "),
    kind.description,
  ]);
  return page([
    generated,
    "# Reference",
    "Generated from the code, and checked against it by a test: [the command line and configuration](command-line.md), [the metrics](metrics.md), [the events](events.md), and every kind.",
    "## Kinds",
    "Every field, default, column, condition and rule, from the same definitions that the CustomResourceDefinitions are made of. `kubectl explain` shows the same words.",
    table(["Kind", "API version", "Scope", "Short names", "What it is"], rows),
  ]);
}

function kindPage(kind: Kind): string {
  const { spec, status, ...others } = withoutHeader(kind.schema);
  return page([
    generated,
    `# ${kind.kind}`,
    kind.description,
    table(
      ["API version", "Resource", "Short names", "Categories", "Scope"],
      [
        [
          code(apiVersionOf(kind)),
          code(`${kind.plural}.${kind.group}`),
          kind.shortNames.map(code).join(", ") || "none",
          kind.categories.map(code).join(", ") || "none",
          kind.namespaced ? "Namespaced" : "Cluster",
        ],
      ],
    ),
    ...section("Spec", spec, "spec"),
    ...section("Status", status, "status"),
    ...Object.entries(others).flatMap(([name, schema]) => section(name, schema, name)),
    ...rulesSection(kind),
    ...conditionsSection(kind),
    ...eventsSection(kind),
    ...columnsSection(kind),
  ]);
}

function withoutHeader(schema: Schema): Readonly<Record<string, Schema>> {
  const { apiVersion, kind, metadata, ...rest } = schema.properties ?? {};
  return rest;
}

function section(title: string, schema: Schema | undefined, path: string): readonly string[] {
  if (schema === undefined) return [];
  const head = ["Field", "Type", "Required", "Default", "Description"];
  return [`## ${title}`, schema.description ?? "", table(head, fieldRows(schema, path))];
}

function fieldRows(schema: Schema, path: string): readonly (readonly string[])[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const here = `${path}.${name}`;
    const isRequired = schema.required?.includes(name) ?? false;
    const row = [
      code(here),
      typeText(field),
      isRequired ? "yes" : "",
      field.default === undefined ? "" : code(JSON.stringify(field.default)),
      [field.description ?? "", ...limits(innermost(field))].filter((part) => part !== "").join(" "),
    ];
    return [row, ...fieldRows(innermost(field), `${here}${suffixOf(field)}`)];
  });
}

/** What a list or map finally holds. */
function innermost(schema: Schema): Schema {
  if (schema.items) return innermost(schema.items);
  return typeof schema.additionalProperties === "object" ? innermost(schema.additionalProperties) : schema;
}

function suffixOf(schema: Schema): string {
  if (schema.items) return `[]${suffixOf(schema.items)}`;
  return typeof schema.additionalProperties === "object" ? `.*${suffixOf(schema.additionalProperties)}` : "";
}

function typeText(schema: Schema): string {
  if (schema.items) return `list of ${typeText(schema.items)}`;
  if (typeof schema.additionalProperties === "object") return `map of ${typeText(schema.additionalProperties)}`;
  if (schema.enum) return schema.enum.map((value) => code(String(value))).join(", ");
  if (schema["x-kubernetes-int-or-string"]) return "integer or string";
  if (schema.format === "date-time") return "time";
  if (schema.format === "byte") return "base64";
  if (schema.type === "object" && schema["x-kubernetes-preserve-unknown-fields"]) {
    return schema.properties ? "object, open" : "any object";
  }
  return schema.type ?? "anything";
}

function limits(schema: Schema): readonly string[] {
  const { minimum, maximum, maxLength, pattern } = schema;
  const range =
    minimum !== undefined && maximum !== undefined
      ? `From ${minimum} to ${maximum}.`
      : minimum !== undefined
        ? `At least ${minimum}.`
        : maximum !== undefined
          ? `At most ${maximum}.`
          : "";
  const length = maxLength !== undefined && maxLength <= 253 ? `At most ${maxLength} characters.` : "";
  return [range, length, pattern === undefined ? "" : `Matches ${code(pattern)}.`];
}

function rulesSection(kind: Kind): readonly string[] {
  const rows = rulesOf(kind.schema, "").map(({ path, rule }) => [
    code(path),
    rule.message ?? "",
    rule.rule.includes("oldSelf") ? "update" : "create, update",
  ]);
  if (rows.length === 0) return [];
  return ["## Rules", "The server refuses what breaks one of these.", table(["Field", "Rule", "On"], rows)];
}

function rulesOf(schema: Schema, path: string): readonly { readonly path: string; readonly rule: ValidationRule }[] {
  const own = (schema["x-kubernetes-validations"] ?? []).map((rule) => ({
    path: `${path}${rule.fieldPath ?? ""}`.replace(/^\./, ""),
    rule,
  }));
  const nested = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    rulesOf(innermost(field), `${path}.${name}${suffixOf(field)}`),
  );
  return [...own, ...nested];
}

function conditionsSection(kind: Kind): readonly string[] {
  const rows = Object.entries(kind.conditions).map(([type, reasons]) => [code(type), reasons.map(code).join(", ")]);
  if (rows.length === 0) return [];
  return ["## Conditions", "Every reason that Capstan writes.", table(["Type", "Reasons"], rows)];
}

function columnsSection(kind: Kind): readonly string[] {
  const rows = kind.columns.map(({ name, type, jsonPath, priority = 0 }) => [
    name,
    type,
    code(jsonPath),
    priority > 0 ? "`-o wide`" : "always",
  ]);
  return rows.length === 0 ? [] : ["## Columns", table(["Column", "Type", "Field", "Shown"], rows)];
}

if (import.meta.main) {
  mkdirSync(folder, { recursive: true });
  const pages = await referencePages();
  for (const name of readdirSync(folder)) if (!pages.has(name)) rmSync(new URL(name, folder));
  for (const [name, text] of pages) writeFileSync(new URL(name, folder), text);
  console.log(`${pages.size} pages written to docs/reference`);
}
