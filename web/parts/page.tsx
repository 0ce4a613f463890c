import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Live } from "../live/hub.ts";

interface PageProps {
  readonly title: string;
  /** The way here: links to the pages above. */
  readonly above?: readonly { readonly title: string; readonly link: string }[];
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly isWide?: boolean;
}

let isFirstPage = true;

/** One page: its heading takes the focus when people come here, so that a screen reader says where they are. */
export function Page({ title, above = [], aside, children, isWide }: PageProps): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Capstan`;
    if (!isFirstPage) heading.current?.focus({ preventScroll: true });
    isFirstPage = false;
  }, [title]);
  return (
    <div class={isWide ? "page wide" : "page"}>
      <header class="page-head">
        <div>
          {above.length > 0 && (
            <nav class="above" aria-label="Above this page">
              {above.map(({ title: name, link }) => (
                <a key={link} href={link}>
                  {name}
                </a>
              ))}
            </nav>
          )}
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
        </div>
        {aside && <div class="page-aside">{aside}</div>}
      </header>
      {children}
    </div>
  );
}

interface CardProps {
  readonly title?: ComponentChildren;
  readonly label?: string;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly isLive?: boolean;
  readonly class?: string;
}

export function Card({ title, label, aside, children, isLive, class: extra = "" }: CardProps): JSX.Element {
  return (
    <section
      class={`card ${extra}`}
      aria-label={label ?? (typeof title === "string" ? title : undefined)}
      aria-live={isLive ? "polite" : undefined}
    >
      {(title || aside) && (
        <header class="card-head">
          {title && <h2>{title}</h2>}
          {aside && <span class="card-aside">{aside}</span>}
        </header>
      )}
      {children}
    </section>
  );
}

/** What to show where nothing is: what it means, and what to do next. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <p class="quiet">{children}</p>}
    </div>
  );
}

/** What to show while a list is not there. */
export function Waiting({
  state,
  what,
}: {
  readonly state: Exclude<Live<unknown>, { kind: "Live" }>;
  readonly what: string;
}): JSX.Element {
  if (state.kind === "Loading")
    return (
      <p class="quiet loading" role="status">
        Loading {what}…
      </p>
    );
  if (state.status === 404)
    return (
      <Empty title={`This cluster does not know ${what}`}>
        Install the kinds with capstan install, then come back.
      </Empty>
    );
  if (state.status === 403)
    return (
      <div class="notice bad" role="alert">
        <strong>You may not see {what}.</strong> {state.message}
      </div>
    );
  return (
    <div class="notice bad" role="alert">
      <strong>Cannot read {what}.</strong> {state.message}. Trying again…
    </div>
  );
}

/** Names and values, side by side. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, ComponentChildren])[] }): JSX.Element {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
