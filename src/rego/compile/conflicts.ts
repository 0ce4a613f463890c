/** Rules that cannot live together: different kinds under one name, a value with rules inside it, two defaults. */
import type { Location, Module, Rule } from "../syntax/ast.ts";
import { refOf } from "../syntax/ast.ts";
import { printRef } from "../syntax/print.ts";
import { rulePath } from "./build.ts";
import type { Diagnostics } from "./diagnostics.ts";
import { dataRef } from "./globals.ts";

interface Placed {
  readonly rule: Rule;
  readonly module: Module;
  readonly path: readonly string[];
  readonly isGround: boolean;
}

export function checkConflicts(modules: readonly Module[], diagnostics: Diagnostics): void {
  const groups = new Map<string, Placed[]>();
  for (const module of modules) {
    for (const rule of module.rules) {
      const path = rulePath(rule, module.packagePath);
      const isGround = path.length - module.packagePath.length === rule.head.ref.parts.length;
      const key = path.join("\u0000");
      const group = groups.get(key) ?? [];
      group.push({ rule, module, path, isGround });
      groups.set(key, group);
    }
  }
  const inside = rulesByPrefix(groups);
  for (const [key, group] of groups) checkGroup(group, inside.get(key) ?? [], diagnostics);
  checkPackages(modules, groups, diagnostics);
}

function checkGroup(group: readonly Placed[], inside: readonly Placed[], diagnostics: Diagnostics): void {
  const [first] = group;
  if (first === undefined) return;
  const conflicting = group.some(({ isGround }) => isGround)
    ? inside
    : inside.filter(({ rule }) => rule.head.args !== undefined);
  if (conflicting.length > 0) {
    const names = [...new Set(conflicting.map(({ path }) => printRef(dataRef(path))))].sort();
    diagnostics.report(
      "rego_type_error",
      first.rule.loc,
      `rule ${fullName(first)} conflicts with [${names.join(" ")}]`,
    );
    return;
  }
  const isSet = ({ rule }: Placed): boolean => rule.head.key !== undefined && rule.head.value === undefined;
  const sets = group.filter(isSet);
  const arities = new Set(group.map(({ rule }) => rule.head.args?.length ?? -1));
  const complete = group.filter((placed) => !isSet(placed) && placed.isGround).length;
  const isMixed =
    (sets.length > 0 && sets.length < group.length) ||
    arities.size > 1 ||
    (complete > 0 && complete < group.length) ||
    (sets.some(({ isGround }) => isGround) && sets.some(({ isGround }) => !isGround));
  if (isMixed) {
    diagnostics.report("rego_type_error", first.rule.loc, `conflicting rules ${fullName(first)} found`);
    return;
  }
  const defaults = group.filter(({ rule }) => rule.isDefault);
  const [firstDefault] = defaults;
  if (defaults.length > 1 && firstDefault !== undefined) {
    const places = defaults.map(({ rule }) => place(rule.loc)).join(", ");
    diagnostics.report(
      "rego_type_error",
      firstDefault.module.packageLoc,
      `multiple default rules ${fullName(first)} found at ${places}`,
    );
  }
}

/** For each path, the rules whose documents lie inside it. */
function rulesByPrefix(groups: ReadonlyMap<string, readonly Placed[]>): ReadonlyMap<string, readonly Placed[]> {
  const inside = new Map<string, Placed[]>();
  for (const group of groups.values()) {
    const path = group[0]?.path ?? [];
    for (let length = 1; length < path.length; length++) {
      const prefix = path.slice(0, length).join("\u0000");
      // Packages have many rules inside; only paths that are rules themselves matter.
      if (!groups.has(prefix)) continue;
      const known = inside.get(prefix) ?? [];
      known.push(...group);
      inside.set(prefix, known);
    }
  }
  return inside;
}

function checkPackages(
  modules: readonly Module[],
  groups: ReadonlyMap<string, readonly Placed[]>,
  diagnostics: Diagnostics,
): void {
  for (const module of modules) {
    const placed = groups.get(module.packagePath.join("\u0000"))?.find(({ isGround }) => isGround);
    if (placed === undefined || placed.module === module) continue;
    const name = module.packagePath.join(".");
    diagnostics.report(
      "rego_type_error",
      placed.module.packageLoc,
      `package ${name} conflicts with rule ${printRef(placed.rule.head.ref)} defined at ${place(placed.rule.loc)}`,
    );
  }
}

function fullName({ rule, module }: Placed): string {
  const [head, ...rest] = rule.head.ref.parts;
  const path = [...module.packagePath, head?.kind === "var" ? head.name : ""];
  const base = dataRef(path);
  return printRef(refOf([...base.parts, ...rest], base.loc));
}

function place(loc: Location): string {
  return loc.file === "" ? `${loc.row}:${loc.col}` : `${loc.file}:${loc.row}`;
}
