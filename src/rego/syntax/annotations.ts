/** `# METADATA` blocks: YAML in comments that belongs to the statement below it. */
import { parseDocument } from "yaml";
import { fromPlain } from "../values/json.ts";
import { RegoObject, type Value } from "../values/value.ts";
import type { AnnotationScope, Annotations, Comment, Location, Module, Rule } from "./ast.ts";
import { type RegoErrorItem, RegoErrors } from "./errors.ts";

/** Throws `RegoErrors` for a block that is not valid or stands in the wrong place. */
export function attachAnnotations(module: Module): Module {
  const errors: RegoErrorItem[] = [];
  const report = (location: Location, message: string): void => {
    errors.push({ code: "rego_parse_error", message, location });
  };
  const annotations: Annotations[] = [];
  for (const block of metadataBlocks(module.comments)) {
    const fields = parseBlock(block, report);
    if (fields === undefined) continue;
    const endRow = block.lines.at(-1)?.loc.row ?? block.loc.row;
    const target = statementBelow(module, endRow);
    if (target === undefined) {
      report(block.loc, "annotation scope must be applied to a package or a rule");
      continue;
    }
    const scope = scopeOf(fields, target);
    const refusal = scopeRefusal(scope, target);
    if (refusal !== undefined) {
      report(block.loc, refusal);
      continue;
    }
    const shown = fields.copy();
    shown.set("scope", scope);
    annotations.push({
      scope: scope as AnnotationScope,
      fields: shown,
      loc: block.loc,
      endRow,
      target: target === "package" ? undefined : target,
    });
  }
  if (errors.length > 0) throw new RegoErrors(errors);
  return annotations.length === 0 ? module : { ...module, annotations };
}

interface Block {
  readonly loc: Location;
  readonly lines: readonly Comment[];
}

function metadataBlocks(comments: readonly Comment[]): readonly Block[] {
  const blocks: Block[] = [];
  let current: { loc: Location; lines: Comment[] } | undefined;
  let previousRow = 0;
  for (const comment of comments) {
    const startsBlock = comment.loc.col === 1 && comment.text.trim().startsWith("METADATA");
    if (startsBlock) {
      current = { loc: comment.loc, lines: [] };
      blocks.push(current);
    } else if (current !== undefined && comment.loc.col === 1 && comment.loc.row === previousRow + 1) {
      current.lines.push(comment);
    } else {
      current = undefined;
    }
    previousRow = comment.loc.row;
  }
  return blocks;
}

function parseBlock(block: Block, report: (location: Location, message: string) => void): RegoObject | undefined {
  const text = block.lines.map((line) => line.text.replace(/^ /, "")).join("\n");
  if (text.trim() === "") {
    report(block.loc, "expected METADATA block, found whitespace");
    return undefined;
  }
  const document = parseDocument(text, { version: "1.1", uniqueKeys: false });
  const [fault] = document.errors;
  if (fault !== undefined) {
    const line = fault.linePos?.[0].line ?? 1;
    report(block.lines[line - 1]?.loc ?? block.loc, `yaml: line ${line}: ${fault.message.split("\n")[0]}`);
    return undefined;
  }
  const raw: unknown = document.toJS();
  if (raw === null || typeof raw !== "object" || Array.isArray(raw)) {
    report(block.lines[0]?.loc ?? block.loc, "yaml: unmarshal errors: metadata must be a mapping");
    return undefined;
  }
  const fields = new RegoObject();
  try {
    for (const [name, value] of Object.entries(raw)) addField(fields, name, value);
  } catch (error) {
    if (!(error instanceof MetadataFault)) throw error;
    report(block.loc, error.message);
    return undefined;
  }
  return fields;
}

class MetadataFault extends Error {}

/** Keeps the fields that OPA knows, in the form in which it shows them. */
function addField(fields: RegoObject, name: string, value: unknown): void {
  switch (name) {
    case "scope":
    case "title":
    case "description":
      if (typeof value === "string" && value !== "") fields.set(name, value);
      return;
    case "entrypoint":
      if (value === true) fields.set(name, true);
      return;
    case "organizations":
    case "schemas":
      if (Array.isArray(value) && value.length > 0) fields.set(name, fromPlain(value));
      return;
    case "custom":
    case "labels":
    case "compile":
      if (value !== null && typeof value === "object" && Object.keys(value).length > 0)
        fields.set(name, fromPlain(value));
      return;
    case "authors":
      if (Array.isArray(value) && value.length > 0) fields.set(name, value.map(authorOf));
      return;
    case "related_resources":
      if (Array.isArray(value) && value.length > 0) fields.set(name, value.map(resourceOf));
      return;
    default:
      return;
  }
}

function authorOf(author: unknown): Value {
  if (typeof author === "string") {
    const words = author.split(/\s+/).filter((word) => word !== "");
    if (words.length === 0) throw new MetadataFault(`invalid author definition ${author}: author is an empty string`);
    const email = /^<(.*)>$/.exec(words.at(-1) ?? "")?.[1];
    if (email === undefined) return RegoObject.fromEntries([["name", words.join(" ")]]);
    return withoutEmpty([
      ["name", words.slice(0, -1).join(" ")],
      ["email", email],
    ]);
  }
  const name = textField(author, "name");
  const email = textField(author, "email");
  if (name === "" && email === "") {
    throw new MetadataFault("invalid author definition: 'name' and/or 'email' values required in object");
  }
  return withoutEmpty([
    ["name", name],
    ["email", email],
  ]);
}

function resourceOf(resource: unknown): Value {
  const ref = typeof resource === "string" ? resource : textField(resource, "ref");
  if (ref === "") throw new MetadataFault("invalid related-resource definition: 'ref' value required in object");
  return withoutEmpty([
    ["ref", ref],
    ["description", textField(resource, "description")],
  ]);
}

function textField(value: unknown, name: string): string {
  if (value === null || typeof value !== "object") return "";
  const field = (value as { readonly [name: string]: unknown })[name];
  return typeof field === "string" ? field.trim() : "";
}

function withoutEmpty(entries: readonly (readonly [string, string])[]): RegoObject {
  return RegoObject.fromEntries(entries.filter(([name, value]) => value !== "" || name === "name"));
}

function statementBelow(module: Module, row: number): Rule | "package" | undefined {
  if (module.packageLoc.row > row) return "package";
  let nearest: Rule | undefined;
  for (const rule of module.rules) {
    if (rule.loc.row <= row) continue;
    if (nearest === undefined || rule.loc.row < nearest.loc.row) nearest = rule;
  }
  const importBetween = module.imports.some(
    (item) => item.loc.row > row && (nearest === undefined || item.loc.row < nearest.loc.row),
  );
  return importBetween ? undefined : nearest;
}

function scopeOf(fields: RegoObject, target: Rule | "package"): string {
  const scope = fields.field("scope");
  if (typeof scope === "string") return scope;
  if (target === "package") return "package";
  return fields.field("entrypoint") === true ? "document" : "rule";
}

function scopeRefusal(scope: string, target: Rule | "package"): string | undefined {
  const isPackage = target === "package";
  switch (scope) {
    case "package":
    case "subpackages":
      return isPackage ? undefined : `annotation scope '${scope}' must be applied to package (have rule)`;
    case "rule":
    case "document":
      return isPackage ? `annotation scope '${scope}' must be applied to rule (have package)` : undefined;
    default:
      return `invalid annotation scope '${scope}'`;
  }
}
