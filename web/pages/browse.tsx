import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { type Column, keyOf, type Row } from "../live/collection.ts";
import { useTable } from "../live/use-live.ts";
import { browsable, type Kind } from "../model/kinds.ts";
import { useNamespace } from "../model/namespace.ts";
import { Filters } from "../parts/filters.tsx";
import { Card, Empty, Page, Waiting } from "../parts/page.tsx";
import { State } from "../parts/state.tsx";
import { type TableColumn, VirtualTable } from "../parts/virtual-table.tsx";
import { linkTo } from "../router.ts";

/** Every kind of ours, with the columns that kubectl shows. */
export function Browse({ id }: { readonly id: string | undefined }): JSX.Element {
  const kind = browsable.find((candidate) => candidate.id === id) ?? browsable[0];
  return (
    <Page title="All objects" isWide>
      <nav class="kinds" aria-label="Kinds">
        {browsable.map((each) => (
          <a key={each.id} href={linkTo("browse", each.id)} aria-current={each === kind ? "page" : undefined}>
            {each.title}
          </a>
        ))}
      </nav>
      {kind && <KindTable key={kind.id} kind={kind} />}
    </Page>
  );
}

function KindTable({ kind }: { readonly kind: Kind }): JSX.Element {
  const [namespace] = useNamespace();
  const found = useTable(kind, { namespace });
  const [text, setText] = useState("");
  const all = found.kind === "Live" ? found.value.items : [];
  const definitions = found.kind === "Live" ? found.value.columns : [];
  const columns = useMemo(() => columnsOf(kind, definitions), [kind, definitions]);
  const shown = useMemo(() => all.filter((row) => keyOf(row).toLowerCase().includes(text.toLowerCase())), [all, text]);
  if (found.kind !== "Live") return <Waiting state={found} what={kind.title.toLowerCase()} />;
  if (all.length === 0) return <Empty title={kind.empty} />;
  return (
    <Card label={kind.title} class="flush">
      <Filters
        name="state"
        chosen=""
        counts={[{ word: kind.title.toLowerCase(), tone: "quiet", count: all.length }]}
        text={text}
        onText={setText}
        found={shown.length}
      />
      <VirtualTable label={kind.title} items={shown} columns={columns} keyOf={keyOf} />
    </Card>
  );
}

const stateColumns = new Set(["Phase", "Health", "Status", "Resolved", "Available"]);

function columnsOf(kind: Kind, definitions: readonly Column[]): readonly TableColumn<Row>[] {
  const own = definitions.flatMap(({ name, priority }, index): readonly TableColumn<Row>[] =>
    priority === 0 && name !== "Name"
      ? [
          {
            title: name,
            cell: ({ cells }) =>
              stateColumns.has(name) && cells[index] ? <State word={text(cells[index])} /> : text(cells[index]),
          },
        ]
      : [],
  );
  return [
    {
      title: "Name",
      share: 2.5,
      cell: ({ object: { metadata } }) => (
        <a href={linkTo(kind.id, metadata.namespace ?? "", metadata.name)}>{metadata.name}</a>
      ),
    },
    { title: "Namespace", share: 1.3, cell: ({ object }) => <span class="quiet">{object.metadata.namespace}</span> },
    ...own,
  ];
}

const text = (cell: unknown): string => (cell === null || cell === undefined ? "" : String(cell));
