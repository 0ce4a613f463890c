import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { ClassRuntime } from "../../src/api/class-runtime.ts";
import { keyOf } from "../live/collection.ts";
import { useObjects } from "../live/use-live.ts";
import { countsOf } from "../model/counts.ts";
import { classRuntimes } from "../model/kinds.ts";
import { useNamespace } from "../model/namespace.ts";
import { Ago } from "../parts/ago.tsx";
import { Filters } from "../parts/filters.tsx";
import { Card, Empty, Page, Waiting } from "../parts/page.tsx";
import { State } from "../parts/state.tsx";
import { type TableColumn, VirtualTable } from "../parts/virtual-table.tsx";
import { linkTo } from "../router.ts";

const columns: readonly TableColumn<ClassRuntime>[] = [
  {
    title: "Name",
    rem: 10,
    cell: ({ metadata }) => (
      <a href={linkTo("class-runtimes", metadata.namespace ?? "", metadata.name)}>{metadata.name}</a>
    ),
  },
  { title: "Namespace", rem: 7.5, cell: ({ metadata }) => <span class="quiet">{metadata.namespace}</span> },
  { title: "State", rem: 8.5, cell: ({ status }) => <State word={status?.phase} /> },
  { title: "Since", rem: 6.5, cell: ({ status }) => <Ago time={status?.phase_since} /> },
  { title: "Class", rem: 10.5, cell: ({ spec }) => spec.package_class_key },
  { title: "Functions ready", rem: 7.5, isNumber: true, cell: readiness },
  { title: "Message", rem: 15.5, cell: ({ status }) => <span class="quiet">{status?.message}</span> },
];

function readiness({ spec, status }: ClassRuntime): string {
  const all = spec.functions?.length ?? 0;
  return `${(status?.functions ?? []).filter(({ ready }) => ready).length} of ${all}`;
}

/** Every class runtime, its state and how many of its functions are ready. */
export function ClassRuntimes({ query }: { readonly query: URLSearchParams }): JSX.Element {
  const [namespace] = useNamespace();
  const found = useObjects<ClassRuntime>(classRuntimes, { namespace });
  const [text, setText] = useState("");
  const phase = query.get("state") ?? "";
  const all = found.kind === "Live" ? found.value : [];
  const shown = useMemo(
    () =>
      all.filter(
        ({ metadata, spec, status }) =>
          (phase === "" || (status?.phase ?? "pending") === phase) &&
          `${metadata.namespace}/${metadata.name} ${spec.package_class_key}`.toLowerCase().includes(text.toLowerCase()),
      ),
    [all, phase, text],
  );
  return (
    <Page title="Class runtimes" isWide>
      {found.kind !== "Live" ? (
        <Waiting state={found} what="class runtimes" />
      ) : all.length === 0 ? (
        <Empty title={classRuntimes.empty}>Apply a ClassRuntime with kubectl; it appears here at once.</Empty>
      ) : (
        <Card label="Class runtimes" class="flush">
          <Filters
            name="state"
            chosen={phase}
            counts={countsOf(all.map(({ status }) => status?.phase))}
            total={all.length}
            text={text}
            onText={setText}
            found={shown.length}
          />
          <VirtualTable label="Class runtimes" items={shown} columns={columns} keyOf={keyOf} />
        </Card>
      )}
    </Page>
  );
}
