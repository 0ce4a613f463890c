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
  const columns = useMemo(() => columnsOf(kind, definitions, all), [kind, definitions, all.length === 0]);
  const shown = useMemo(() => all.filter((row) => keyOf(row).toLowerCase().includes(text.toLowerCase())), [all, text]);
  if (found.kind !== "Live") return <Waiting state={found} what={kind.title.toLowerCase()} />;
  if (all.length === 0) return <Empty title={kind.empty} />;
  return (
    <Card label={kind.title} class="flush">
      <Filters
        name="state"
        chosen=""
        counts={[]}
        total={all.length}
        text={text}
        onText={setText}
        found={shown.length}
      />
      <VirtualTable label={kind.title} items={shown} columns={columns} keyOf={keyOf} />
    </Card>
  );
}

const stateColumns = new Set(["Phase", "Health", "Status", "Resolved", "Available"]);

function columnsOf(kind: Kind, definitions: readonly Column[], rows: readonly Row[]): readonly TableColumn<Row>[] {
  const widest = (titled: string, texts: readonly string[]): number =>
    Math.min(maxRem, Math.max(titled.length, ...texts.map(({ length }) => length)) * remPerLetter + paddingRem);
  const sample = rows.slice(0, sampleRows);
  const own = definitions.flatMap(({ name, priority }, index): readonly TableColumn<Row>[] =>
    priority === 0 && name !== "Name"
      ? [
          {
            title: name,
            rem:
              widest(
                name,
                sample.map(({ cells }) => text(cells[index])),
              ) + (stateColumns.has(name) ? 2.1 : 0),
            cell: ({ cells }) =>
              stateColumns.has(name) && cells[index] ? <State word={text(cells[index])} /> : text(cells[index]),
          },
        ]
      : [],
  );
  return [
    {
      title: "Name",
      rem:
        widest(
          "Name",
          sample.map(({ object }) => object.metadata.name),
        ) + 1,
      cell: ({ object: { metadata } }) => (
        <a href={linkTo(kind.id, metadata.namespace ?? "", metadata.name)}>{metadata.name}</a>
      ),
    },
    {
      title: "Namespace",
      rem: widest(
        "Namespace",
        sample.map(({ object }) => object.metadata.namespace ?? ""),
      ),
      cell: ({ object }) => <span class="quiet">{object.metadata.namespace}</span>,
    },
    ...own,
  ];
}

const sampleRows = 100;
const maxRem = 24;
const remPerLetter = 0.52;
const paddingRem = 1.2;

const text = (cell: unknown): string => (cell === null || cell === undefined ? "" : String(cell));
