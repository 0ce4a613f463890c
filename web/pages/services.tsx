import type { JSX } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ServiceTarget } from "../../src/api/service-target.ts";
import { send } from "../api.ts";
import { keyOf } from "../live/collection.ts";
import { useObjects } from "../live/use-live.ts";
import { countsOf } from "../model/counts.ts";
import { services } from "../model/kinds.ts";
import { useNamespace } from "../model/namespace.ts";
import { capabilityOf, isWanted, languageOf, optionsOf } from "../model/service-filter.ts";
import { Ago } from "../parts/ago.tsx";
import { Filters } from "../parts/filters.tsx";
import { Card, Empty, Page, Waiting } from "../parts/page.tsx";
import { State } from "../parts/state.tsx";
import { type TableColumn, VirtualTable } from "../parts/virtual-table.tsx";
import { linkTo, setFilter } from "../router.ts";
import { useCanAsk } from "../session.tsx";

type Beats = Readonly<Record<string, string>>;

const columnsWith = (beats: Beats, hasLanguages: boolean): readonly TableColumn<ServiceTarget>[] => [
  {
    title: "Service",
    rem: 11.5,
    cell: ({ metadata, spec }) => (
      <a href={linkTo("services", metadata.namespace ?? "", metadata.name)}>{spec.serviceName}</a>
    ),
  },
  { title: "State", rem: 8, cell: ({ status }) => <State word={status?.health} /> },
  { title: "Capability", rem: 11.3, cell: ({ spec }) => capabilityOf(spec) },
  ...(hasLanguages ? [language] : []),
  { title: "Address", rem: 8.5, cell: ({ spec }) => <code>{`${spec.host}:${spec.port}`}</code> },
  { title: "Last seen", rem: 5.7, cell: ({ spec, status }) => <Ago time={beats[spec.id ?? ""] ?? status?.lastSeen} /> },
  { title: "Why", rem: 8, cell: ({ status }) => <span class="quiet">{reasonBeside(status)}</span> },
  { title: "Namespace", rem: 8, cell: ({ metadata }) => <span class="quiet">{metadata.namespace}</span> },
];

const language: TableColumn<ServiceTarget> = {
  title: "Language",
  rem: 5,
  cell: ({ spec }) => <span class="quiet">{languageOf(spec)}</span>,
};

/** A reason that only repeats the state explains nothing. */
const reasonBeside = (status: ServiceTarget["status"]): string | undefined =>
  status?.reason?.toLowerCase() === status?.health?.toLowerCase() ? undefined : status?.reason;

/** Who is registered, what it offers, and whether it is alive; changes as the registry does. */
export function Services({ query }: { readonly query: URLSearchParams }): JSX.Element {
  const [namespace] = useNamespace();
  const found = useObjects<ServiceTarget>(services, { namespace });
  const [text, setText] = useState("");
  const [beats, onShown] = useHeartbeats();
  const health = query.get("state") ?? "";
  const capability = query.get("capability") ?? "";
  const wantedLanguage = query.get("language") ?? "";
  const all = found.kind === "Live" ? found.value : [];
  const shown = useMemo(
    () => all.filter((service) => isWanted(service, { health, capability, language: wantedLanguage, text })),
    [all, health, capability, wantedLanguage, text],
  );
  const languages = useMemo(() => optionsOf(all.map(({ spec }) => spec.languageName)), [all]);
  const columns = useMemo(() => columnsWith(beats, languages.length > 0), [beats, languages.length > 0]);
  return (
    <Page title="Live services" isWide>
      {found.kind !== "Live" ? (
        <Waiting state={found} what="services" />
      ) : all.length === 0 ? (
        <Empty title={services.empty}>
          A service registers itself with <code>POST /api/v1/capabilities/register</code> or the registry client; it
          appears here at once.
        </Empty>
      ) : (
        <Card label="Live services" class="flush">
          <Filters
            name="state"
            chosen={health}
            counts={countsOf(all.map(({ status }) => status?.health))}
            total={all.length}
            text={text}
            onText={setText}
            found={shown.length}
          >
            <Choice
              name="capability"
              chosen={capability}
              options={optionsOf(all.map(({ spec }) => spec.serviceType))}
            />
            {languages.length > 0 && <Choice name="language" chosen={wantedLanguage} options={languages} />}
          </Filters>
          <VirtualTable label="Live services" items={shown} columns={columns} keyOf={keyOf} onShown={onShown} />
        </Card>
      )}
    </Page>
  );
}

function Choice({
  name,
  chosen,
  options,
}: {
  readonly name: string;
  readonly chosen: string;
  readonly options: readonly string[];
}): JSX.Element {
  return (
    <select
      aria-label={`Filter by ${name}`}
      value={chosen}
      onChange={(event) => setFilter(name, event.currentTarget.value)}
    >
      <option value="">any {name}</option>
      {options.map((option) => (
        <option key={option} value={option}>
          {option}
        </option>
      ))}
    </select>
  );
}

const askEveryMs = 5_000;
const maxAsked = 100;

/** Heartbeats never get into the Kubernetes API, so the registry is asked about the rows in sight, while anybody looks. */
function useHeartbeats(): readonly [Beats, (shown: readonly ServiceTarget[]) => void] {
  const [beats, setBeats] = useState<Beats>({});
  const canAsk = useCanAsk("heartbeats");
  const ids = useRef<readonly string[]>([]);
  const onShown = useCallback((shown: readonly ServiceTarget[]) => {
    ids.current = shown.flatMap(({ spec }) => (spec.id ? [spec.id] : [])).slice(0, maxAsked);
  }, []);
  useEffect(() => {
    if (!canAsk) return;
    let isWanted = true;
    const ask = async (): Promise<void> => {
      if (!isWanted || document.hidden || ids.current.length === 0) return;
      const answer = await send<Beats>("GET", `/ui/api/heartbeats/${encodeURIComponent(ids.current.join(","))}`);
      if (answer.kind === "Refused") isWanted = answer.status === 0 || answer.status >= 500;
      else if (isWanted) setBeats(answer.value);
    };
    const timer = setInterval(() => void ask(), askEveryMs);
    const soon = setTimeout(() => void ask(), 300);
    return () => {
      isWanted = false;
      clearInterval(timer);
      clearTimeout(soon);
    };
  }, [canAsk]);
  return [beats, onShown];
}
