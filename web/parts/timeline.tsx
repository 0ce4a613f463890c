import type { JSX } from "preact";
import type { Moment } from "../model/timeline.ts";
import { Ago } from "./ago.tsx";

export function Timeline({ moments }: { readonly moments: readonly Moment[] }): JSX.Element {
  return (
    <ol class="timeline">
      {moments.map((moment, index) => (
        <li key={`${moment.time} ${moment.source} ${moment.title} ${index}`} class={moment.tone}>
          <span class="moment-head">
            <strong>{moment.title}</strong>
            <span class="quiet nowrap">
              {moment.source === "event" ? "event · " : moment.source === "condition" ? "condition · " : ""}
              <Ago time={moment.time} />
            </span>
          </span>
          {moment.text && <span class="moment-text">{moment.text}</span>}
        </li>
      ))}
    </ol>
  );
}
