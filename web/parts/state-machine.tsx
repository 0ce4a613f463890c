import type { JSX } from "preact";
import type { ClassRuntimePhase } from "../../src/api/class-runtime.ts";
import { edges } from "../../src/controllers/class-runtime/life-cycle.ts";
import { toneOf } from "../model/tone.ts";

const box = { width: 118, height: 40 };
const places: Readonly<Record<ClassRuntimePhase, readonly [x: number, y: number]>> = {
  pending: [10, 24],
  applying: [188, 24],
  progressing: [366, 24],
  available: [544, 24],
  degraded: [366, 130],
  deleting: [722, 77],
};
const width = 850;
const height = 190;

/** The life of a class runtime: every state, the ways between them, and where it is now. */
export function StateMachine({ phase }: { readonly phase: ClassRuntimePhase }): JSX.Element {
  const shown = edges.filter(([, to]) => to !== "deleting");
  return (
    <div class="scroll-x">
      <svg
        class="machine"
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        role="img"
        aria-label={description(phase)}
      >
        <defs>
          <marker
            id="arrow"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            orient="auto-start-reverse"
          >
            <path d="M0 0 8 4 0 8z" class="arrow" />
          </marker>
        </defs>
        <g class="any">
          <rect x="2" y="4" width="682" height="182" rx="14" />
          <path d="M684 97 H 720" marker-end="url(#arrow)" />
        </g>
        {shown.map(([from, to, when]) => (
          <path
            key={`${from} ${to}`}
            class={from === phase ? "way open" : "way"}
            d={wayBetween(from, to)}
            marker-end="url(#arrow)"
          >
            <title>{`${from} → ${to}: ${when}`}</title>
          </path>
        ))}
        {Object.entries(places).map(([name, [x, y]]) => (
          <g
            key={name}
            class={name === phase ? `place now ${toneOf(name)}` : "place"}
            transform={`translate(${x} ${y})`}
          >
            <rect width={box.width} height={box.height} rx="9" />
            <text x={box.width / 2} y={box.height / 2 + 5}>
              {name}
            </text>
          </g>
        ))}
      </svg>
      <ul class="ways" aria-hidden="true">
        {next(phase).map(([to, when]) => (
          <li key={to}>
            <strong>{to}</strong> <span class="quiet">when {when}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Two ways between the same two states run side by side. */
function wayBetween(from: ClassRuntimePhase, to: ClassRuntimePhase): string {
  const [x1, y1] = places[from];
  const [x2, y2] = places[to];
  const isBothWays = edges.some(([start, end]) => start === to && end === from);
  if (y1 === y2) {
    const shift = isBothWays ? (x2 > x1 ? -8 : 8) : 0;
    const y = y1 + box.height / 2 + shift;
    return x2 > x1 ? `M ${x1 + box.width} ${y} H ${x2 - 2}` : `M ${x1} ${y} H ${x2 + box.width + 2}`;
  }
  if (x1 === x2) {
    const x = x1 + box.width / 2 + (y2 > y1 ? -12 : 12);
    return y2 > y1 ? `M ${x} ${y1 + box.height} V ${y2 - 2}` : `M ${x} ${y1} V ${y2 + box.height + 2}`;
  }
  const startX = x1 + box.width / 2;
  const endX = x2 > x1 ? x2 - 2 : x2 + box.width + 2;
  const endY = y2 + box.height / 2;
  return `M ${startX} ${y1 + box.height} C ${startX} ${endY - 8}, ${startX + (endX - startX) / 3} ${endY}, ${endX} ${endY}`;
}

const next = (phase: ClassRuntimePhase): readonly (readonly [string, string])[] =>
  edges.filter(([from, to]) => from === phase && to !== "deleting").map(([, to, when]) => [to, when]);

const description = (phase: ClassRuntimePhase): string =>
  `State machine. It is ${phase} now. ${next(phase)
    .map(([to, when]) => `It becomes ${to} when ${when}.`)
    .join(" ")}`;
