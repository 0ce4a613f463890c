// What has grown between two heap snapshots of one process, by who holds it: `node bench/soak/heap-difference.ts FIRST SECOND`.
// The soak writes such a pair when CAPSTAN_BENCH_SNAPSHOTS names a folder.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

export interface HeapSnapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly [readonly string[], ...unknown[]];
      readonly edge_fields: readonly string[];
      readonly edge_types: readonly [readonly string[], ...unknown[]];
    };
  };
  readonly nodes: readonly number[];
  readonly edges: readonly number[];
  readonly strings: readonly string[];
}

export interface Held {
  count: number;
  bytes: number;
}

export interface Growth extends Readonly<Held> {
  /** The nearest object of a class, and the way from there. */
  readonly holder: string;
}

export function growthBetween(first: HeapSnapshot, second: HeapSnapshot): readonly Growth[] {
  const before = heldBy(first);
  return [...heldBy(second)]
    .map(([holder, { count, bytes }]) => {
      const known = before.get(holder) ?? { count: 0, bytes: 0 };
      return { holder, count: count - known.count, bytes: bytes - known.bytes };
    })
    .filter(({ bytes }) => bytes > 0)
    .sort((a, b) => b.bytes - a.bytes);
}

/** Each object counts once, for the one that holds it on the shortest way from the roots. */
function heldBy({ snapshot: { meta }, nodes, edges, strings }: HeapSnapshot): ReadonlyMap<string, Held> {
  const { node_fields: fields, edge_fields: edgeFields } = meta;
  const at = (node: number, field: string): number => nodes[node * fields.length + fields.indexOf(field)] ?? 0;
  const edgeAt = (edge: number, field: string): number =>
    edges[edge * edgeFields.length + edgeFields.indexOf(field)] ?? 0;
  const typeOf = (node: number): string => meta.node_types[0][at(node, "type")] ?? "";
  const nameOf = (node: number): string =>
    typeOf(node).includes("string") ? "(string)" : (strings[at(node, "name")] ?? "").slice(0, maxNameLength);
  const firstEdge = new Uint32Array(nodes.length / fields.length + 1);
  for (let node = 0; node + 1 < firstEdge.length; node++)
    firstEdge[node + 1] = (firstEdge[node] ?? 0) + at(node, "edge_count");

  const held = new Map<string, Held>();
  const waysTo: Way[] = [{ owner: "(roots)", steps: [] }];
  // What is on the stack is different every time, so it is followed last, or the same objects would have other holders.
  const onStack: number[] = [];
  const follow = (start: readonly number[]): void => {
    for (let level = start; level.length > 0; ) {
      const next: number[] = [];
      for (const node of level) {
        const way = waysTo[node] ?? unknownWay;
        count(held, [way.owner, ...way.steps].join(" "), at(node, "self_size"));
        for (let edge = firstEdge[node] ?? 0; edge < (firstEdge[node + 1] ?? 0); edge++) {
          const target = edgeAt(edge, "to_node") / fields.length;
          const edgeType = meta.edge_types[0][edgeAt(edge, "type")] ?? "";
          if (edgeType === "weak" || waysTo[target] !== undefined) continue;
          const name = nameOf(target);
          if (name === "(Stack roots)") {
            onStack.push(target);
            continue;
          }
          const isNumbered = edgeType === "element" || edgeType === "hidden";
          const step = isNumbered ? "[]" : edgeName(strings[edgeAt(edge, "name_or_index")] ?? "");
          const owns = typeOf(target) === "object" && !ordinary.test(name);
          waysTo[target] = owns
            ? { owner: name, steps: [] }
            : { owner: way.owner, steps: [...way.steps, `${step}:${name}`].slice(0, maxSteps) };
          next.push(target);
        }
      }
      level = next;
    }
  };
  follow([0]);
  follow(onStack.filter((node) => waysTo[node] === undefined));
  return held;
}

interface Way {
  readonly owner: string;
  readonly steps: readonly string[];
}
const unknownWay: Way = { owner: "(stack)", steps: [] };
const maxSteps = 7;
const maxNameLength = 60;
/** Everybody uses these, so their names say nothing. */
const ordinary = /^(|Object|Array|Map|Set|WeakMap|Promise|Generator|Buffer|ArrayBuffer|Timeout|TimersList|system.*)$/;

const edgeName = (name: string): string => (name.includes("part of key") ? "weak" : name.replace(/^\d+$/, "[]"));

function count(held: Map<string, Held>, holder: string, bytes: number): void {
  const known = held.get(holder) ?? { count: 0, bytes: 0 };
  known.count++;
  known.bytes += bytes;
  held.set(holder, known);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [first, second] = process.argv
    .slice(2, 4)
    .map((file) => JSON.parse(readFileSync(file, "utf8")) as HeapSnapshot);
  if (!first || !second) throw new Error("usage: node bench/soak/heap-difference.ts FIRST SECOND");
  for (const { bytes, count: objects, holder } of growthBetween(first, second).slice(0, 60))
    console.log(`${(bytes / 1000).toFixed(0).padStart(8)} kB ${String(objects).padStart(8)}  ${holder}`);
}
