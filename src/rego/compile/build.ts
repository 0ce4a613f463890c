/** Puts compiled rules into the tree below `data`. */
import type { CompiledRule, FunctionGroup, Program, RuleGroup, RuleNode } from "../evaluate/program.ts";
import { newNode } from "../evaluate/program.ts";
import type { Rule, Term } from "../syntax/ast.ts";
import { scalar, stringPath } from "../syntax/ast.ts";

/** Packages count even without rules: their documents are empty objects. */
export function buildProgram(rules: readonly CompiledRule[], packages: readonly (readonly string[])[]): Program {
  const buckets = new Map<string, { readonly path: readonly string[]; readonly rules: CompiledRule[] }>();
  for (const rule of rules) {
    const path = rulePath(rule.source, rule.packagePath);
    const keys = rule.head.ref.parts.slice(1 + path.length - rule.packagePath.length - 1);
    const key = path.join("\u0000");
    const bucket = buckets.get(key) ?? { path, rules: [] };
    bucket.rules.push(withKeys(rule, keys));
    buckets.set(key, bucket);
  }
  absorb(buckets);
  const root = newNode([]);
  for (const path of packages) nodeAt(root, path);
  const groups: RuleGroup[] = [];
  const functions = new Map<string, FunctionGroup>();
  for (const { path, rules: members } of buckets.values()) {
    const group = makeGroup(groups.length, path, members);
    groups.push(group);
    nodeAt(root, path).group = group;
    if (group.kind === "function") functions.set(`data.${path.join(".")}`, group);
  }
  sortChildren(root);
  return { root, groups, functions };
}

/** Whole packages are evaluated in the order of their names. */
function sortChildren(node: RuleNode): void {
  const children = [...node.children].sort(([left], [right]) => (left < right ? -1 : 1));
  node.children.clear();
  for (const [name, child] of children) {
    node.children.set(name, child);
    sortChildren(child);
  }
}

/** Where a rule's document starts: the package and the constant strings of its head. */
export function rulePath(rule: Rule, packagePath: readonly string[]): readonly string[] {
  const [name, ...rest] = rule.head.ref.parts;
  const first = name?.kind === "var" ? name.name : "";
  return [...packagePath, first, ...stringPath(rest)];
}

function withKeys(rule: CompiledRule, keys: readonly Term[]): CompiledRule {
  const elseRule = rule.elseRule === undefined ? undefined : withKeys(rule.elseRule, keys);
  return { ...rule, keys, elseRule };
}

/** A document with variable keys takes in the rules below it: `p[x].q` and `p.a.q` are one object. */
function absorb(buckets: Map<string, { readonly path: readonly string[]; readonly rules: CompiledRule[] }>): void {
  const open = [...buckets.values()].filter(({ rules }) => rules.some((rule) => rule.keys.length > 0));
  open.sort((left, right) => left.path.length - right.path.length);
  for (const bucket of open) {
    if (buckets.get(bucket.path.join("\u0000")) !== bucket) continue;
    for (const [key, other] of buckets) {
      if (other === bucket || other.path.length <= bucket.path.length) continue;
      if (!bucket.path.every((name, index) => other.path[index] === name)) continue;
      if (other.rules.some((rule) => rule.head.args !== undefined)) continue;
      const between = other.path.slice(bucket.path.length);
      for (const rule of other.rules) {
        const prefix = between.map((name) => scalar(name, rule.loc));
        bucket.rules.push(withKeys(rule, [...prefix, ...rule.keys]));
      }
      buckets.delete(key);
    }
  }
}

function makeGroup(id: number, path: readonly string[], members: readonly CompiledRule[]): RuleGroup {
  const defaults = members.filter((rule) => rule.isDefault);
  const rules = members.filter((rule) => !rule.isDefault);
  const [first] = members;
  const common = { id, path, rules, defaultRule: defaults[0] };
  if (first?.head.args !== undefined) return { ...common, kind: "function", arity: first.head.args.length };
  if (members.some((rule) => rule.keys.length > 0)) return { ...common, kind: "object", defaults };
  if (members.some((rule) => rule.head.key !== undefined && rule.head.value === undefined)) {
    return { ...common, kind: "set" };
  }
  return { ...common, kind: "complete" };
}

function nodeAt(root: RuleNode, path: readonly string[]): RuleNode {
  let node = root;
  for (const name of path) {
    let child = node.children.get(name);
    if (child === undefined) {
      child = newNode([...node.path, name]);
      node.children.set(name, child);
    }
    node = child;
  }
  return node;
}
