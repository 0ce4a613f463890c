import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { CapabilityBinding } from "../../src/api/capability-binding.ts";
import type { ClassRuntime } from "../../src/api/class-runtime.ts";
import type { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import type { PaperMCServer } from "../../src/api/papermc-server.ts";
import type { Plugin } from "../../src/api/plugin.ts";
import type { RemediationRequest } from "../../src/api/remediation-request.ts";
import type { ServiceTarget } from "../../src/api/service-target.ts";
import type { WorldInstance } from "../../src/api/world-instance.ts";
import type { Live } from "../live/hub.ts";
import { useObjects } from "../live/use-live.ts";
import { type Concern, concernsOf, type Fleet } from "../model/attention.ts";
import { countsOf } from "../model/counts.ts";
import {
  bindings,
  classRuntimes,
  events,
  executions,
  kindNamed,
  plugins,
  remediations,
  servers,
  services,
  worlds,
} from "../model/kinds.ts";
import { useNamespace } from "../model/namespace.ts";
import { inWords } from "../model/tone.ts";
import { Ago } from "../parts/ago.tsx";
import { EventList, type KubeEvent, latestFirst } from "../parts/events.tsx";
import { Card, Empty, Page, Waiting } from "../parts/page.tsx";
import { linkTo } from "../router.ts";

const shownAtFirst = 8;
const shownEvents = 12;

/** The five systems at a glance, what needs a person, and what happened last. */
export function Overview(): JSX.Element {
  const [namespace] = useNamespace();
  const at = { namespace };
  const lists = {
    worlds: useObjects<WorldInstance>(worlds, at),
    bindings: useObjects<CapabilityBinding>(bindings, at),
    classRuntimes: useObjects<ClassRuntime>(classRuntimes, at),
    servers: useObjects<PaperMCServer>(servers, at),
    plugins: useObjects<Plugin>(plugins, at),
    executions: useObjects<KubernetesExecution>(executions, at),
    remediations: useObjects<RemediationRequest>(remediations, at),
    services: useObjects<ServiceTarget>(services, at),
  };
  const happened = useObjects<KubeEvent>(events, at);
  // What happens to pods and their like is seen at the object that they belong to; here it would bury the story.
  const recent = useMemo(
    () => (happened.kind === "Live" ? latestFirst(happened.value.filter(isOfOurs)).slice(0, shownEvents) : []),
    [happened],
  );
  const fleet = useFleet(lists);
  const concerns = useMemo(() => concernsOf(fleet), [fleet]);
  const isLoading = Object.values(lists).some(({ kind }) => kind === "Loading");
  return (
    <Page title="Overview">
      <Systems fleet={fleet} lists={lists} />
      <div class="columns">
        <Concerns concerns={concerns} isLoading={isLoading} />
        <Card title="Recent events">
          {happened.kind !== "Live" ? (
            <Waiting state={happened} what="events" />
          ) : recent.length === 0 ? (
            <Empty title="Nothing has happened yet" />
          ) : (
            <EventList list={recent} withObject />
          )}
        </Card>
      </div>
    </Page>
  );
}

const isOfOurs = ({ involvedObject }: KubeEvent): boolean => kindNamed(involvedObject.kind) !== undefined;

type Lists = { readonly [K in keyof Fleet]: Live<Fleet[K]> };

function useFleet(lists: Lists): Fleet {
  return useMemo(
    () =>
      Object.fromEntries(
        Object.entries(lists).map(([name, live]) => [name, live.kind === "Live" ? live.value : []]),
      ) as unknown as Fleet,
    Object.values(lists),
  );
}

interface System {
  readonly id: string;
  readonly title: string;
  readonly what: string;
  readonly words: readonly (string | undefined)[];
  readonly live: Live<unknown>;
}

function Systems({ fleet, lists }: { readonly fleet: Fleet; readonly lists: Lists }): JSX.Element {
  const systems: readonly System[] = [
    {
      id: "worlds",
      title: "Worlds",
      what: "Capabilities bound to providers",
      words: fleet.worlds.map(({ status }) => status?.phase),
      live: lists.worlds,
    },
    {
      id: "class-runtimes",
      title: "Class runtimes",
      what: "Classes of functions at work",
      words: fleet.classRuntimes.map(({ status }) => status?.phase),
      live: lists.classRuntimes,
    },
    {
      id: "versions",
      title: "Versions",
      what: "Servers and the plugins they carry",
      words: fleet.servers.map(wordOfServer),
      live: lists.servers,
    },
    {
      id: "actions",
      title: "Actions",
      what: "Gated changes to the cluster",
      words: fleet.executions.map(({ status }) => status?.phase),
      live: lists.executions,
    },
    {
      id: "services",
      title: "Live services",
      what: "Who is registered and alive",
      words: fleet.services.map(({ status }) => status?.health),
      live: lists.services,
    },
  ];
  return (
    <ul class="systems" aria-label="The five systems">
      {systems.map((system) => (
        <SystemTile key={system.id} system={system} />
      ))}
    </ul>
  );
}

function wordOfServer({ status }: PaperMCServer): string {
  if (status?.updateBlocked?.blocked) return "blocked";
  if (status?.updateProgress) return "updating";
  const ready = status?.conditions?.find(({ type }) => type === "StatefulSetReady");
  if (ready) return ready.status === "True" ? "ready" : "pending";
  return status?.desiredVersion ? "resolved" : "pending";
}

function SystemTile({ system: { id, title, what, words, live } }: { readonly system: System }): JSX.Element {
  const counts = countsOf(words);
  return (
    <li>
      <a class="tile" href={linkTo(id)}>
        <span class="tile-title">{title}</span>
        <span class="tile-number">{live.kind === "Live" ? words.length : "–"}</span>
        <span class="bar" aria-hidden="true">
          {counts.map(({ word, tone, count }) => (
            <span key={word} class={tone} style={{ flexGrow: count }} />
          ))}
        </span>
        <span class="tile-words">
          {live.kind === "Failed" ? (
            <span class="quiet">{live.status === 404 ? "not installed" : "not yours to see"}</span>
          ) : counts.length === 0 ? (
            <span class="quiet">{what}</span>
          ) : (
            counts.map(({ word, tone, count }) => (
              <span key={word} class={`word ${tone}`}>
                {count} {inWords(word)}
              </span>
            ))
          )}
        </span>
      </a>
    </li>
  );
}

function Concerns({
  concerns,
  isLoading,
}: {
  readonly concerns: readonly Concern[];
  readonly isLoading: boolean;
}): JSX.Element {
  const [isWhole, setIsWhole] = useState(false);
  const shown = isWhole ? concerns.slice(0, 200) : concerns.slice(0, shownAtFirst);
  return (
    <Card title="Needs attention" aside={concerns.length > 0 && <span class="count">{concerns.length}</span>}>
      {concerns.length === 0 ? (
        isLoading ? (
          <p class="quiet loading">Looking…</p>
        ) : (
          <Empty title="All is well">Nothing waits for you, and nothing is broken.</Empty>
        )
      ) : (
        <ul class="concerns">
          {shown.map((concern) => (
            <li key={`${concern.title} ${concern.place.join("/")}`} class={concern.tone}>
              <a href={linkTo(...concern.place)}>
                <span class="concern-head">
                  <strong>{concern.title}</strong>
                  <span class="quiet nowrap">
                    <Ago time={concern.since} />
                  </span>
                </span>
                <span class="concern-name">
                  {concern.name} <span class="quiet">{concern.namespace}</span>
                </span>
                {concern.message && <span class="concern-message">{concern.message}</span>}
              </a>
            </li>
          ))}
        </ul>
      )}
      {!isWhole && concerns.length > shownAtFirst && (
        <button type="button" class="more" onClick={() => setIsWhole(true)}>
          Show {concerns.length - shownAtFirst} more
        </button>
      )}
    </Card>
  );
}
