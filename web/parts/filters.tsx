import type { ComponentChildren, JSX } from "preact";
import type { Count } from "../model/counts.ts";
import { inWords } from "../model/tone.ts";
import { setFilter } from "../router.ts";

interface FiltersProps {
  /** The filter's name in the address. */
  readonly name: string;
  readonly chosen: string;
  /** None where the list knows no states. */
  readonly counts: readonly Count[];
  readonly total: number;
  readonly text: string;
  onText(text: string): void;
  /** How many rows are left. */
  readonly found: number;
  readonly children?: ComponentChildren;
}

/** Above a list: its states as buttons, and a box to find by name. */
export function Filters(props: FiltersProps): JSX.Element {
  const { name, chosen, counts, total, text, onText, found, children } = props;
  return (
    <div class="filters">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset has no place in a row of controls. */}
      <div class="chips" role="group" aria-label={`Filter by ${name}`}>
        {counts.length > 0 && (
          <Chip label="all" count={total} isOn={chosen === ""} onClick={() => setFilter(name, "")} />
        )}
        {counts.map(({ word, count, tone }) => (
          <Chip
            key={word}
            label={inWords(word)}
            count={count}
            tone={tone}
            isOn={chosen === word}
            onClick={() => setFilter(name, chosen === word ? "" : word)}
          />
        ))}
      </div>
      <div class="filter-rest">
        {children}
        <input
          type="search"
          placeholder="Find by name"
          aria-label="Find by name"
          value={text}
          onInput={(event) => onText(event.currentTarget.value)}
        />
        <span class="quiet nowrap" role="status">
          {found === total ? `${total}` : `${found} of ${total}`}
        </span>
      </div>
    </div>
  );
}

interface ChipProps {
  readonly label: string;
  readonly count: number;
  readonly isOn: boolean;
  readonly tone?: string;
  onClick(): void;
}

function Chip({ label, count, isOn, tone = "", onClick }: ChipProps): JSX.Element {
  return (
    <button type="button" class={`chip ${tone}`} aria-pressed={isOn} onClick={onClick}>
      {label} <span class="count">{count}</span>
    </button>
  );
}
