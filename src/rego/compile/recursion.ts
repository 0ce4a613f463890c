/** Rules may not depend on themselves, however indirectly. */
import type { RefTerm } from "../syntax/ast.ts";
import type { DependencyGraph, RuleVertex } from "./dependencies.ts";
import type { Diagnostics } from "./diagnostics.ts";

export function checkRecursion(graph: DependencyGraph, show: (ref: RefTerm) => string, diagnostics: Diagnostics): void {
  if (graph.sorted() !== undefined) return;
  for (const vertex of graph.vertices) {
    const path = cycleFrom(vertex, graph);
    if (path === undefined) continue;
    const shown = path.map(({ ref }) => show(ref)).join(" -> ");
    diagnostics.report("rego_recursion_error", vertex.rule.loc, `rule ${show(vertex.ref)} is recursive: ${shown}`);
  }
}

/** The shortest way from a rule back to itself. */
function cycleFrom(start: RuleVertex, graph: DependencyGraph): readonly RuleVertex[] | undefined {
  const previous = new Map<RuleVertex, RuleVertex>();
  const queue: RuleVertex[] = [start];
  const seen = new Set<RuleVertex>();
  for (let index = 0; index < queue.length; index++) {
    const vertex = queue[index];
    if (vertex === undefined) break;
    for (const next of graph.targets(vertex)) {
      if (next === start) {
        const path = [start];
        for (let at: RuleVertex | undefined = vertex; at !== undefined && at !== start; at = previous.get(at))
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
