import type { JSX } from "preact";
import type { KubeObject } from "../../src/kube/object.ts";
import { useObjects } from "../live/use-live.ts";
import { events, kindNamed } from "../model/kinds.ts";
import { linkTo } from "../router.ts";
import { Ago } from "./ago.tsx";

export interface KubeEvent extends KubeObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly involvedObject: {
    readonly kind?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly uid?: string;
  };
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
}

export const timeOf = (event: KubeEvent): string =>
  event.lastTimestamp ?? event.eventTime ?? event.firstTimestamp ?? event.metadata.creationTimestamp ?? "";

export const latestFirst = (list: readonly KubeEvent[]): readonly KubeEvent[] =>
  list.toSorted((a, b) => secondOf(b) - secondOf(a) || versionOf(b) - versionOf(a));

/** Some events know microseconds and some only seconds; within a second the order of writing decides. */
const secondOf = (event: KubeEvent): number => Math.floor(Date.parse(timeOf(event)) / 1000);
const versionOf = ({ metadata }: KubeEvent): number => Number(metadata.resourceVersion ?? 0);

/** What happened to one object, the latest first. */
export function useEventsOf(namespace: string, name: string, kind: string): readonly KubeEvent[] {
  const found = useObjects<KubeEvent>(events, { namespace, fieldSelector: `involvedObject.name=${name}` });
  return found.kind === "Live"
    ? latestFirst(found.value.filter(({ involvedObject }) => involvedObject.kind === kind))
    : [];
}

export function EventList({
  list,
  withObject,
}: {
  readonly list: readonly KubeEvent[];
  readonly withObject?: boolean;
}): JSX.Element {
  return (
    <ol class="events">
      {list.map((event) => (
        <li key={event.metadata.uid ?? event.metadata.name} class={event.type === "Warning" ? "bad" : ""}>
          <span class="quiet nowrap event-time">
            <Ago time={timeOf(event)} />
          </span>
          <span class="event-text">
            <strong>{event.reason}</strong>
            {event.type === "Warning" && <span class="visually-hidden"> (warning)</span>}
            {withObject && (
              <>
                {" "}
                <ObjectLink event={event} />
              </>
            )}
            <span class="event-message">{event.message}</span>
            {(event.count ?? 1) > 1 && <span class="quiet"> {event.count} times</span>}
          </span>
        </li>
      ))}
    </ol>
  );
}

function ObjectLink({ event }: { readonly event: KubeEvent }): JSX.Element {
  const { kind, namespace = "", name = "" } = event.involvedObject;
  const known = kindNamed(kind);
  if (!known) return <span class="quiet">{`${kind} ${name}`}</span>;
  return <a href={linkTo(known.id, namespace, name)}>{name}</a>;
}
