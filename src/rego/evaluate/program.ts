/** Compiled rules, grouped by the document that they define, in a tree below `data`. */
import type { Body, Head, Location, Rule, Term } from "../syntax/ast.ts";
import type { Value } from "../values/value.ts";

/** One rule (or `else` branch) ready for planning. */
export interface CompiledRule {
  readonly head: Head;
  readonly body: Body;
  readonly loc: Location;
  /** What follows the group's path in the head: keys of a partial object, possibly with variables. */
  readonly keys: readonly Term[];
  readonly isDefault: boolean;
  readonly elseRule: CompiledRule | undefined;
  readonly source: Rule;
  readonly packagePath: readonly string[];
}

interface GroupCommon {
  readonly id: number;
  /** Below `data`. */
  readonly path: readonly string[];
  readonly rules: readonly CompiledRule[];
  readonly defaultRule: CompiledRule | undefined;
}

export type CompleteGroup = GroupCommon & { readonly kind: "complete" };
export type SetGroup = GroupCommon & { readonly kind: "set" };
export type ObjectGroup = GroupCommon & { readonly kind: "object"; readonly defaults: readonly CompiledRule[] };
export type FunctionGroup = GroupCommon & { readonly kind: "function"; readonly arity: number };
export type RuleGroup = CompleteGroup | SetGroup | ObjectGroup | FunctionGroup;

export interface RuleNode {
  readonly path: readonly string[];
  readonly children: Map<string, RuleNode>;
  group: RuleGroup | undefined;
}

export interface Program {
  readonly root: RuleNode;
  readonly groups: readonly RuleGroup[];
  /** Functions by the printed ref of their name: `data.pkg.f`. */
  readonly functions: ReadonlyMap<string, FunctionGroup>;
}

export function newNode(path: readonly string[]): RuleNode {
  return { path, children: new Map(), group: undefined };
}

export function findNode(root: RuleNode, path: readonly string[]): RuleNode | undefined {
  let node: RuleNode | undefined = root;
  for (const name of path) {
    node = node.children.get(name);
    if (node === undefined) return undefined;
  }
  return node;
}

/** Rules below a node, in the order of their paths. */
export function* groupsBelow(node: RuleNode): IterableIterator<RuleGroup> {
  if (node.group !== undefined) yield node.group;
  for (const child of node.children.values()) yield* groupsBelow(child);
}

export function constantOf(term: Term): Value | undefined {
  return term.kind === "scalar" ? term.value : undefined;
}
