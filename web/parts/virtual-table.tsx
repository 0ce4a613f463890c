import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export interface TableColumn<T> {
  readonly title: string;
  /** The least width; what is left is given to all in this proportion. */
  readonly rem: number;
  readonly isNumber?: boolean;
  cell(item: T): ComponentChildren;
}

interface VirtualTableProps<T> {
  readonly label: string;
  readonly items: readonly T[];
  readonly columns: readonly TableColumn<T>[];
  keyOf(item: T): string;
  /** Told which rows can be seen, for what is asked about them only. */
  onShown?(items: readonly T[]): void;
}

export const rowHeightPx = 41;
const rowsAround = 12;

/**
 * A table of which only the rows in sight are in the document, so that ten thousand cost no more than fifty. Every row has
 * one link; arrow keys, Page Up, Page Down, Home and End go from row to row.
 */
export function VirtualTable<T>({ label, items, columns, keyOf, onShown }: VirtualTableProps<T>): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const wantsFocus = useRef<number | undefined>(undefined);
  const first = Math.max(0, Math.floor(view.top / rowHeightPx) - rowsAround);
  const last = Math.min(items.length, Math.ceil((view.top + view.height) / rowHeightPx) + rowsAround);
  const shown = items.slice(first, last);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const look = (): void => setView({ top: element.scrollTop, height: element.clientHeight });
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);

  useEffect(() => onShown?.(shown), [onShown, items, first, last]);

  useEffect(() => {
    const index = wantsFocus.current;
    if (index === undefined) return;
    const row = scroller.current?.querySelector<HTMLElement>(
      `tr[data-index="${index}"] a, tr[data-index="${index}"] button`,
    );
    if (!row) return;
    wantsFocus.current = undefined;
    row.focus({ preventScroll: true });
  });

  const goTo = (index: number): void => {
    const element = scroller.current;
    if (!element) return;
    const to = Math.max(0, Math.min(items.length - 1, index));
    const above = to * rowHeightPx;
    const below = above + 2 * rowHeightPx;
    wantsFocus.current = to;
    if (above < element.scrollTop) element.scrollTop = above;
    else if (below > element.scrollTop + element.clientHeight) element.scrollTop = below - element.clientHeight;
    setView({ top: element.scrollTop, height: element.clientHeight });
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    const at = (event.target as HTMLElement).closest("tr")?.dataset["index"];
    const step = stepOf(event.key, Math.max(1, Math.floor(view.height / rowHeightPx) - 2), items.length);
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    goTo(at === undefined ? first + Math.min(0, step) : Number(at) + step);
  };

  const total = columns.reduce((sum, { rem }) => sum + rem, 0);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are for the rows inside, which are links.
    <div class="scroller" ref={scroller} onKeyDown={onKeyDown} style={{ "--rows": items.length + 1 }}>
      <table class="virtual" aria-label={label} aria-rowcount={items.length + 1} style={{ minWidth: `${total}rem` }}>
        <colgroup>
          {columns.map(({ title, rem }) => (
            <col key={title} style={{ width: `${(100 * rem) / total}%` }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" class={isNumber ? "number" : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Gap rows={first} columns={columns.length} />
          {shown.map((item, index) => (
            <tr key={keyOf(item)} data-index={first + index} aria-rowindex={first + index + 2}>
              {columns.map(({ title, isNumber, cell }) => {
                const content = cell(item);
                return (
                  <td
                    key={title}
                    class={isNumber ? "number" : undefined}
                    title={typeof content === "string" ? content : undefined}
                  >
                    {content}
                  </td>
                );
              })}
            </tr>
          ))}
          <Gap rows={items.length - last} columns={columns.length} />
        </tbody>
      </table>
    </div>
  );
}

/** The rows that are not there, as empty height. */
function Gap({ rows, columns }: { readonly rows: number; readonly columns: number }): JSX.Element | null {
  if (rows <= 0) return null;
  return (
    <tr class="gap">
      <td colSpan={columns} aria-hidden="true" style={{ height: `${rows * rowHeightPx}px` }} />
    </tr>
  );
}

function stepOf(key: string, page: number, all: number): number | undefined {
  switch (key) {
    case "ArrowDown":
      return 1;
    case "ArrowUp":
      return -1;
    case "PageDown":
      return page;
    case "PageUp":
      return -page;
    case "Home":
      return -all;
    case "End":
      return all;
    default:
      return undefined;
  }
}
