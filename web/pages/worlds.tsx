import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { CapabilityBinding } from "../../src/api/capability-binding.ts";
import type { WorldInstance } from "../../src/api/world-instance.ts";
import { keyOf } from "../live/collection.ts";
import { useObjects } from "../live/use-live.ts";
import { countsOf } from "../model/counts.ts";
import { bindings, worlds } from "../model/kinds.ts";
import { useNamespace } from "../model/namespace.ts";
import { Filters } from "../parts/filters.tsx";
import { Card, Empty, Page, Waiting } from "../parts/page.tsx";
import { State } from "../parts/state.tsx";
import { type TableColumn, VirtualTable } from "../parts/virtual-table.tsx";
import { linkTo } from "../router.ts";

const columnsWith = (bound: ReadonlyMap<string, number>): readonly TableColumn<WorldInstance>[] => [
  {
    title: "World",
    rem: 11,
    cell: ({ metadata }) => <a href={linkTo("worlds", metadata.namespace ?? "", metadata.name)}>{metadata.name}</a>,
  },
  { title: "Namespace", rem: 7.5, cell: ({ metadata }) => <span class="quiet">{metadata.namespace}</span> },
  { title: "State", rem: 7, cell: ({ status }) => <State word={status?.phase} /> },
  { title: "Game", rem: 9.5, cell: ({ spec }) => spec.gameRef.name },
  { title: "Region", rem: 6, cell: ({ spec }) => spec.region },
  { title: "Bindings", rem: 5, isNumber: true, cell: (world) => bound.get(keyOf(world)) ?? 0 },
  {
    title: "Message",
    rem: 20,
    cell: ({ status }) => <span class="quiet">{status?.message ?? "Not looked at yet"}</span>,
  },
];

/** Every world, how much is bound in it, and why one is not running. */
export function Worlds({ query }: { readonly query: URLSearchParams }): JSX.Element {
  const [namespace] = useNamespace();
  const found = useObjects<WorldInstance>(worlds, { namespace });
  const bound = useObjects<CapabilityBinding>(bindings, { namespace });
  const [text, setText] = useState("");
  const phase = query.get("state") ?? "";
  const all = found.kind === "Live" ? found.value : [];
  const columns = useMemo(() => columnsWith(countBindings(bound.kind === "Live" ? bound.value : [])), [bound]);
  const shown = useMemo(
    () =>
      all.filter(
        ({ metadata, spec, status }) =>
          (phase === "" || (status?.phase ?? "pending") === phase) &&
          `${metadata.namespace}/${metadata.name} ${spec.gameRef.name}`.toLowerCase().includes(text.toLowerCase()),
      ),
    [all, phase, text],
  );
  return (
    <Page title="Worlds" isWide>
      {found.kind !== "Live" ? (
        <Waiting state={found} what="worlds" />
      ) : all.length === 0 ? (
        <Empty title={worlds.empty}>
          Apply a WorldInstance with kubectl, or start with capstan up --demo; it appears here at once.
        </Empty>
      ) : (
        <Card label="Worlds" class="flush">
          <Filters
            name="state"
            chosen={phase}
            counts={countsOf(all.map(({ status }) => status?.phase))}
            total={all.length}
            text={text}
            onText={setText}
            found={shown.length}
          />
          <VirtualTable label="Worlds" items={shown} columns={columns} keyOf={keyOf} />
        </Card>
      )}
    </Page>
  );
}

function countBindings(list: readonly CapabilityBinding[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { metadata, spec } of list) {
    const key = `${metadata.namespace}/${spec.worldRef?.name}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
