/** Rules may not depend on themselves, however indirectly. */
import type { Rule, Term } from "../syntax/ast.ts";
import { refOf } from "../syntax/ast.ts";
import { printRef } from "../syntax/print.ts";
import { canonicalText } from "../values/value.ts";
import { eachExpr } from "./calls.ts";
import type { Diagnostics } from "./diagnostics.ts";
import { dataRef } from "./globals.ts";
import type { Names } from "./names.ts";

interface Vertex {
  readonly rule: Rule;
  readonly path: readonly string[];
  /** The head's ref below `data`; variables match anything. */
  readonly pattern: readonly (string | undefined)[];
  readonly name: string;
}

export function checkRecursion(
  rules: readonly { readonly rule: Rule; readonly path: readonly string[]; readonly packagePath: readonly string[] }[],
  names: Names,
  diagnostics: Diagnostics,
): void {
  const vertices = rules.map(({ rule, path, packagePath }) => vertexOf(rule, path, packagePath, names));
  const reach = vertexLookup(vertices);
  const edges = new Map<Vertex, ReadonlySet<Vertex>>();
  for (const vertex of vertices) {
    const targets = new Set<Vertex>();
    for (const ref of dataRefs(vertex.rule)) {
      const pattern = ref.map(patternPart);
      for (const candidate of reach(pattern)) if (overlaps(pattern, candidate.pattern)) targets.add(candidate);
    }
    edges.set(vertex, targets);
  }
  for (const vertex of vertices) {
    const path = cycleFrom(vertex, edges);
    if (path === undefined) continue;
    const shown = path.map(({ name }) => name).join(" -> ");
    diagnostics.report("rego_recursion_error", vertex.rule.loc, `rule ${vertex.name} is recursive: ${shown}`);
  }
}

/** Rules that a ref could reach: those at, above and below the constant part of it. */
function vertexLookup(vertices: readonly Vertex[]): (pattern: readonly (string | undefined)[]) => readonly Vertex[] {
  const exact = new Map<string, Vertex[]>();
  const below = new Map<string, Vertex[]>();
  const add = (map: Map<string, Vertex[]>, key: string, vertex: Vertex): void => {
    const known = map.get(key);
    if (known === undefined) map.set(key, [vertex]);
    else known.push(vertex);
  };
  for (const vertex of vertices) {
    add(exact, vertex.path.join("\u0000"), vertex);
    for (let length = 0; length <= vertex.path.length; length++) {
      add(below, vertex.path.slice(0, length).join("\u0000"), vertex);
    }
  }
  return (pattern) => {
    const open = pattern.indexOf(undefined);
    const constant = (open === -1 ? pattern : pattern.slice(0, open)).map((part) => part ?? "");
    const found = [...(below.get(constant.join("\u0000")) ?? [])];
    for (let length = 1; length < constant.length; length++) {
      found.push(...(exact.get(constant.slice(0, length).join("\u0000")) ?? []));
    }
    return found;
  };
}

function vertexOf(rule: Rule, path: readonly string[], packagePath: readonly string[], names: Names): Vertex {
  const rest = rule.head.ref.parts.slice(path.length - packagePath.length);
  const pattern = [...path, ...rest.map(patternPart)];
  const base = dataRef(path);
  const shown = rest.map((part) => (part.kind === "var" ? { ...part, name: names.sourceOf(part.name) } : part));
  return { rule, path, pattern, name: printRef(refOf([...base.parts, ...shown], base.loc)) };
}

/** Undefined matches anything; keys that are no strings only match themselves. */
function patternPart(part: Term): string | undefined {
  if (part.kind !== "scalar") return undefined;
  return typeof part.value === "string" ? part.value : `\u0000${canonicalText(part.value)}`;
}

/** A ref reaches a rule if they agree as far as both go. */
function overlaps(ref: readonly (string | undefined)[], rule: readonly (string | undefined)[]): boolean {
  for (let index = 0; index < Math.min(ref.length, rule.length); index++) {
    const left = ref[index];
    const right = rule[index];
    if (left !== undefined && right !== undefined && left !== right) return false;
  }
  return true;
}

/** The shortest way from a rule back to itself. */
function cycleFrom(start: Vertex, edges: ReadonlyMap<Vertex, ReadonlySet<Vertex>>): readonly Vertex[] | undefined {
  const previous = new Map<Vertex, Vertex>();
  const queue: Vertex[] = [start];
  const seen = new Set<Vertex>();
  for (let index = 0; index < queue.length; index++) {
    const vertex = queue[index];
    if (vertex === undefined) break;
    for (const next of edges.get(vertex) ?? []) {
      if (next === start) {
        const path = [start];
        for (let at: Vertex | undefined = vertex; at !== undefined && at !== start; at = previous.get(at))
          path.unshift(at);
        return [start, ...path];
      }
      if (seen.has(next)) continue;
      seen.add(next);
      previous.set(next, vertex);
      queue.push(next);
    }
  }
  return undefined;
}

/** The parts after `data` of every ref in a rule, operators and `with` included. */
function dataRefs(rule: Rule): readonly (readonly Term[])[] {
  const refs: (readonly Term[])[] = [];
  const addTerm = (term: Term): void => {
    switch (term.kind) {
      case "ref": {
        const [head, ...rest] = term.parts;
        if (head?.kind === "var" && head.name === "data") refs.push(rest);
        rest.forEach(addTerm);
        return;
      }
      case "array":
      case "set":
        term.items.forEach(addTerm);
        return;
      case "object":
        for (const [key, value] of term.entries) {
          addTerm(key);
          addTerm(value);
        }
        return;
      case "array-comprehension":
      case "set-comprehension":
        addTerm(term.head);
        return;
      case "object-comprehension":
        addTerm(term.key);
        addTerm(term.value);
        return;
      default:
        return;
    }
  };
  for (let branch: Rule | undefined = rule; branch !== undefined; branch = branch.elseRule) {
    for (const term of [branch.head.key, branch.head.value]) if (term !== undefined) addTerm(term);
    eachExpr(branch.body, (expr) => {
      if (expr.kind === "expr-term") addTerm(expr.term);
      if (expr.kind === "expr-every") addTerm(expr.domain);
      if (expr.kind === "expr-call") {
        addTerm(expr.operator);
        expr.args.forEach(addTerm);
      }
      for (const modifier of expr.withs) {
        addTerm(modifier.target);
        addTerm(modifier.value);
      }
    });
  }
  return refs;
}
