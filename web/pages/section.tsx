import type { JSX } from "preact";
import { keyOf, type Row, type Table } from "../kube.ts";
import { Phase, StateNotice } from "../parts.tsx";
import { linkTo } from "../router.ts";
import type { Section } from "../sections.ts";
import { useTable } from "../use-live.ts";

/** Rows beyond this are counted, not drawn: nobody reads ten thousand rows, and the page must not stutter. */
const maxRows = 500;

/** Everything of one kind, with the columns that kubectl shows. */
export function SectionPage({ section }: { readonly section: Section }): JSX.Element {
  const table = useTable(`/apis/${section.group}/${section.plural}`);
  if (table.kind !== "Live") return <StateNotice state={table} />;
  if (table.value.rows.length === 0) return <p class="quiet">{section.empty}</p>;
  return (
    <section class="card" aria-label={section.title}>
      <header>
        <h2>{section.title}</h2>
        <span class="quiet">{table.value.rows.length}</span>
      </header>
      <KindTable section={section} table={table.value} />
    </section>
  );
}

function KindTable({ section, table }: { readonly section: Section; readonly table: Table }): JSX.Element {
  const shown = table.columns.flatMap(({ name, priority }, index) =>
    priority === 0 && name !== "Name" ? [{ name, index }] : [],
  );
  const hidden = table.rows.length - maxRows;
  return (
    <>
      <table>
        <thead>
          <tr>
            <th scope="col">Namespace</th>
            <th scope="col">Name</th>
            {shown.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.slice(0, maxRows).map((row) => (
            <KindRow key={keyOf(row.object)} section={section} row={row} shown={shown} />
          ))}
        </tbody>
      </table>
      {hidden > 0 && <p class="quiet">and {hidden} more; use kubectl to see them all</p>}
    </>
  );
}

interface KindRowProps {
  readonly section: Section;
  readonly row: Row;
  readonly shown: readonly { readonly name: string; readonly index: number }[];
}

function KindRow({ section, row, shown }: KindRowProps): JSX.Element {
  const { namespace = "", name } = row.object.metadata;
  return (
    <tr>
      <td class="quiet">{namespace}</td>
      <td>
        <a href={linkTo(section.id, namespace, name)}>{name}</a>
      </td>
      {shown.map(({ name: column, index }) => (
        <td key={column}>
          {column === "Phase" || column === "Health" ? (
            <Phase phase={text(row.cells[index])} />
          ) : (
            text(row.cells[index])
          )}
        </td>
      ))}
    </tr>
  );
}

const text = (cell: unknown): string => (cell === null || cell === undefined ? "" : String(cell));
