import type { JSX } from "preact";
import type { Comparison } from "../model/execution-diff.ts";
import { lineDiff } from "../model/line-diff.ts";

const signs = { same: " ", removed: "−", added: "+" } as const;
const words = { same: "", removed: "before: ", added: "after: " } as const;

/** Two texts line by line: what was and what is. */
export function Diff({ comparison: { title, before, after } }: { readonly comparison: Comparison }): JSX.Element {
  const lines = lineDiff(before, after);
  return (
    <figure class="diff">
      <figcaption>{title}</figcaption>
      {lines.length === 0 ? (
        <p class="quiet">Nothing differs.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        <section class="diff-lines" tabIndex={0} aria-label={title}>
          {lines.map((line, index) =>
            line.kind === "skipped" ? (
              <div key={index} class="skipped">
                {line.count} unchanged lines
              </div>
            ) : (
              <div key={index} class={line.kind}>
                <span aria-hidden="true">{signs[line.kind]}</span>
                <span class="visually-hidden">{words[line.kind]}</span>
                {line.text}
              </div>
            ),
          )}
        </section>
      )}
    </figure>
  );
}
