import type { JSX } from "preact";
import type { RequirementReport } from "../../src/controllers/capability-resolver/report.ts";
import { useIsNarrow } from "../narrow.ts";

interface GraphProps {
  readonly requirements: readonly RequirementReport[];
  /** The requirement that is shown in detail, by its place in the list. */
  readonly selected: number;
  linkOf(index: number): string;
}

interface Measures {
  readonly width: number;
  readonly height: number;
  readonly columnGap: number;
  readonly rowGap: number;
  readonly margin: number;
  readonly maxNameLength: number;
}

const wide: Measures = { width: 190, height: 40, columnGap: 150, rowGap: 26, margin: 16, maxNameLength: 24 };
/** So that a need and who meets it are seen together on a phone. */
const narrow: Measures = { width: 116, height: 40, columnGap: 84, rowGap: 26, margin: 2, maxNameLength: 15 };

/** Who needs what from whom: consumers to the left of their providers, unresolved needs in red on the right. */
export function CapabilityGraph({ requirements, selected, linkOf }: GraphProps): JSX.Element {
  const box = useIsNarrow() ? narrow : wide;
  const { places, width, height } = layOut(requirements, box);
  const shorten = (name: string): string =>
    name.length > box.maxNameLength ? `${name.slice(0, box.maxNameLength - 1)}…` : name;
  const edges = requirements.flatMap((requirement, index) => edgesOf(requirement, index));
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section class="scroll-x" tabIndex={0} aria-label="Graph of who needs what from whom">
        <svg class="graph" width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
          <title>Who needs what from whom</title>
          {[...places].map(([name, { x, y, kind }]) => (
            <g key={name} class={`node ${kind}`} transform={`translate(${x} ${y})`}>
              <rect width={box.width} height={box.height} rx="8" />
              <text x={box.width / 2} y={box.height / 2 + 5}>
                {kind === "module" ? shorten(name) : "no provider"}
                {kind === "module" && name.length > box.maxNameLength && <title>{name}</title>}
              </text>
            </g>
          ))}
          {edges.map(({ from, to, index, label, isBound, isOptional }) => {
            const start = places.get(from);
            const end = places.get(to);
            if (!start || !end) return null;
            const middle = (start.x + box.width + end.x) / 2;
            const [y1, y2] = [start.y + box.height / 2, end.y + box.height / 2];
            const line = `M ${start.x + box.width} ${y1} C ${middle} ${y1}, ${middle} ${y2}, ${end.x} ${y2}`;
            const look = `${isBound ? "bound" : "unresolved"} ${isOptional ? "optional" : ""} ${selected === index ? "selected" : ""}`;
            return (
              <a
                key={`${from} ${to} ${index}`}
                href={linkOf(index)}
                class={`edge ${look}`}
                aria-current={selected === index ? "true" : undefined}
                aria-label={`${from} needs ${label}${isBound ? ` from ${to}` : `, ${isOptional ? "optional, " : ""}unresolved`}`}
              >
                <path d={line} class="click" />
                <path d={line} />
                <text class="halo" x={middle} y={(y1 + y2) / 2 - 6}>
                  {label}
                </text>
              </a>
            );
          })}
        </svg>
      </section>
      <p class="legend">
        <span>a line: left needs it, right gives it</span>
        <span>dotted: optional</span>
        <span class="bad-text">red: nobody gives it</span>
        <span>choose a line to learn why</span>
      </p>
    </>
  );
}

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly index: number;
  readonly label: string;
  readonly isBound: boolean;
  readonly isOptional: boolean;
}

function edgesOf(requirement: RequirementReport, index: number): readonly Edge[] {
  const { consumer, capabilityId: label, providers, dependencyMode } = requirement;
  const isOptional = dependencyMode === "optional";
  if (providers.length === 0) return [{ from: consumer, to: `? ${index}`, index, label, isBound: false, isOptional }];
  return providers
    .filter(({ module }) => module !== consumer)
    .map(({ module }) => ({ from: consumer, to: module, index, label, isBound: true, isOptional }));
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly kind: "module" | "missing" | "missing optional";
}

/** A module stands one column to the right of everything that needs it; cycles stop at the number of modules. */
function layOut(
  requirements: readonly RequirementReport[],
  box: Measures,
): {
  places: ReadonlyMap<string, Place>;
  width: number;
  height: number;
} {
  const edges = requirements.flatMap((requirement, index) => edgesOf(requirement, index));
  const names = [
    ...new Set(requirements.flatMap(({ consumer, providers }) => [consumer, ...providers.map(({ module }) => module)])),
  ].sort();
  const missing = edges.filter(({ isBound }) => !isBound).map(({ to }) => to);
  const column = new Map([...names, ...missing].map((name) => [name, 0]));
  for (let round = 0; round < names.length; round++) {
    for (const { from, to } of edges) {
      const wanted = (column.get(from) ?? 0) + 1;
      if (wanted > (column.get(to) ?? 0) && wanted <= names.length) column.set(to, wanted);
    }
  }
  const rows = new Map<number, number>();
  const places = new Map<string, Place>();
  for (const name of [...names, ...missing]) {
    const at = column.get(name) ?? 0;
    const row = rows.get(at) ?? 0;
    rows.set(at, row + 1);
    const kind = kindOf(name, edges);
    places.set(name, {
      x: box.margin + at * (box.width + box.columnGap),
      y: box.margin + row * (box.height + box.rowGap),
      kind,
    });
  }
  const columns = Math.max(0, ...column.values()) + 1;
  const height = 2 * box.margin + Math.max(1, ...rows.values()) * (box.height + box.rowGap) - box.rowGap;
  return { places, width: 2 * box.margin + columns * box.width + (columns - 1) * box.columnGap, height };
}

function kindOf(name: string, edges: readonly Edge[]): Place["kind"] {
  if (!name.startsWith("? ")) return "module";
  return edges.some(({ to, isOptional }) => to === name && isOptional) ? "missing optional" : "missing";
}
