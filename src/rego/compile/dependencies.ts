/** Which rules a rule depends on: those whose documents its refs may reach. Every `else` is a rule of its own here. */
import type { Module, RefTerm, Rule, Term } from "../syntax/ast.ts";
import { refOf, scalar } from "../syntax/ast.ts";
import { canonicalText } from "../values/value.ts";
import { dataRef } from "./globals.ts";
import { refsOfRule } from "./rule-refs.ts";

export interface RuleVertex {
  /** Its place among all rules and their branches, in the order of `branchesOf`. */
  readonly index: number;
  readonly rule: Rule;
  /** From `data` on; variables match anything. */
  readonly ref: RefTerm;
}

export interface PlacedRule {
  readonly rule: Rule;
  readonly module: Pick<Module, "packagePath">;
}

/** A rule and its `else` branches. */
export function branchesOf(rule: Rule): readonly Rule[] {
  return rule.elseRule === undefined ? [rule] : [rule, ...branchesOf(rule.elseRule)];
}

type Pattern = readonly (string | undefined)[];

interface Group {
  readonly pattern: Pattern;
  readonly branches: readonly RuleVertex[];
}

export class DependencyGraph {
  readonly vertices: readonly RuleVertex[];
  readonly #lookup: (pattern: Pattern) => readonly Group[];
  readonly #targets: readonly ReadonlySet<RuleVertex>[];
  #sources: readonly (readonly RuleVertex[])[] | undefined;

  constructor(rules: readonly PlacedRule[]) {
    const vertices: RuleVertex[] = [];
    const groups = rules.map(({ rule, module }): Group => {
      const ref = fullRef(rule, module.packagePath);
      const branches = branchesOf(rule).map((branch, at) => ({ index: vertices.length + at, rule: branch, ref }));
      vertices.push(...branches);
      return { pattern: ref.parts.slice(1).map(patternPart), branches };
    });
    this.vertices = vertices;
    this.#lookup = groupLookup(groups);
    this.#targets = vertices.map(({ rule }) => {
      const targets = new Set<RuleVertex>();
      for (const parts of refsOfRule(rule)) for (const vertex of this.#reached(parts)) targets.add(vertex);
      return targets;
    });
  }

  targets(vertex: RuleVertex): Iterable<RuleVertex> {
    return this.#targets[vertex.index] ?? [];
  }

  #reached(parts: readonly Term[]): readonly RuleVertex[] {
    const pattern = parts.map(patternPart);
    return this.#lookup(pattern).flatMap((group) => (overlaps(pattern, group.pattern) ? group.branches : []));
  }

  /** Dependencies first; undefined if a rule depends on itself. */
  sorted(): readonly RuleVertex[] | undefined {
    const sorted: RuleVertex[] = [];
    const state = new Map<RuleVertex, "open" | "done">();
    // The way down, with what is left to visit at each step: long chains of rules must not use up the stack.
    for (const root of inSourceOrder(this.vertices)) {
      if (state.has(root)) continue;
      const way = [{ vertex: root, rest: inSourceOrder(this.targets(root))[Symbol.iterator]() }];
      state.set(root, "open");
      for (let step = way.at(-1); step !== undefined; step = way.at(-1)) {
        const next = step.rest.next();
        if (next.done) {
          state.set(step.vertex, "done");
          sorted.push(step.vertex);
          way.pop();
        } else if (state.get(next.value) === "open") {
          return undefined;
        } else if (!state.has(next.value)) {
          state.set(next.value, "open");
          way.push({ vertex: next.value, rest: inSourceOrder(this.targets(next.value))[Symbol.iterator]() });
        }
      }
    }
    return sorted;
  }

  /** The documents of the rules that a ref may reach and of all that depend on them, as far as they are constant. */
  dependents(ref: RefTerm): readonly RefTerm[] {
    const [head, ...parts] = ref.parts;
    if (head?.kind !== "var" || head.name !== "data") return [];
    const found = new Set<RuleVertex>(
      this.#lookup(parts.map(patternPart)).length === 0 ? [] : this.#firstBranches(parts),
    );
    for (const vertex of found) for (const source of this.#sourcesOf(vertex)) found.add(source);
    return [...found].map((vertex) => groundPrefix(vertex.ref));
  }

  #firstBranches(parts: readonly Term[]): readonly RuleVertex[] {
    const pattern = parts.map(patternPart);
    return this.#lookup(pattern).flatMap((group) =>
      overlaps(pattern, group.pattern) ? group.branches.slice(0, 1) : [],
    );
  }

  #sourcesOf(vertex: RuleVertex): readonly RuleVertex[] {
    if (this.#sources === undefined) {
      const sources: RuleVertex[][] = this.vertices.map(() => []);
      for (const source of this.vertices)
        for (const target of this.targets(source)) sources[target.index]?.push(source);
      this.#sources = sources;
    }
    return this.#sources[vertex.index] ?? [];
  }
}

function fullRef(rule: Rule, packagePath: readonly string[]): RefTerm {
  const [name, ...rest] = rule.head.ref.parts;
  const first = scalar(name?.kind === "var" ? name.name : "", rule.head.loc);
  return refOf([...dataRef(packagePath).parts, first, ...rest], rule.head.loc);
}

function groundPrefix(ref: RefTerm): RefTerm {
  const open = ref.parts.findIndex((part, index) => index > 0 && part.kind !== "scalar");
  return open === -1 ? ref : refOf(ref.parts.slice(0, open), ref.loc);
}

function inSourceOrder(vertices: Iterable<RuleVertex>): readonly RuleVertex[] {
  return [...vertices].sort(({ rule: { loc: left } }, { rule: { loc: right } }) => {
    if (left.file !== right.file) return left.file < right.file ? -1 : 1;
    return left.row - right.row || left.col - right.col;
  });
}

/** Undefined matches anything; keys that are no strings only match themselves. */
function patternPart(part: Term): string | undefined {
  if (part.kind !== "scalar") return undefined;
  return typeof part.value === "string" ? part.value : `\u0000${canonicalText(part.value)}`;
}

/** A ref reaches a rule if they agree as far as both go. */
function overlaps(ref: Pattern, rule: Pattern): boolean {
  for (let index = 0; index < Math.min(ref.length, rule.length); index++) {
    const left = ref[index];
    const right = rule[index];
    if (left !== undefined && right !== undefined && left !== right) return false;
  }
  return true;
}

/** Rules that a ref could reach: those at, above and below the constant part of it. */
function groupLookup(groups: readonly Group[]): (pattern: Pattern) => readonly Group[] {
  const exact = new Map<string, Group[]>();
  const below = new Map<string, Group[]>();
  const add = (map: Map<string, Group[]>, key: string, group: Group): void => {
    const known = map.get(key);
    if (known === undefined) map.set(key, [group]);
    else known.push(group);
  };
  for (const group of groups) {
    const path = constantPart(group.pattern);
    add(exact, path.join("\u0001"), group);
    for (let length = 0; length <= path.length; length++) add(below, path.slice(0, length).join("\u0001"), group);
  }
  return (pattern) => {
    const path = constantPart(pattern);
    const found = [...(below.get(path.join("\u0001")) ?? [])];
    for (let length = 1; length < path.length; length++) {
      found.push(...(exact.get(path.slice(0, length).join("\u0001")) ?? []));
    }
    return found;
  };
}

function constantPart(pattern: Pattern): readonly string[] {
  const open = pattern.indexOf(undefined);
  return (open === -1 ? pattern : pattern.slice(0, open)).map((part) => part ?? "");
}
