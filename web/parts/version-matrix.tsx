import type { JSX } from "preact";
import type { Cell, Matrix, MatrixRow } from "../model/version-matrix.ts";
import { linkTo } from "../router.ts";

interface MatrixProps {
  readonly matrix: Matrix;
  readonly chosen: { readonly server?: string | undefined; readonly plugin?: string | undefined };
}

/** Rows beyond this are counted: a namespace with more servers is narrowed by name first. */
const maxRows = 500;

export function VersionMatrix({ matrix, chosen }: MatrixProps): JSX.Element {
  const { namespace, plugins, rows } = matrix;
  return (
    <div class="scroll-x matrix-scroll">
      <table class="matrix">
        <caption class="visually-hidden">
          Versions in {namespace}: servers by plugins. Choose a cell to learn why.
        </caption>
        <thead>
          <tr>
            <th scope="col">Server</th>
            <th scope="col">Runs</th>
            <th scope="col">Chosen</th>
            <th scope="col">Newest</th>
            <th scope="col">Held back by</th>
            {plugins.map(({ metadata, status }) => (
              <th key={metadata.name} scope="col" class="plugin">
                <a href={linkTo("plugins", namespace, metadata.name)}>{metadata.name}</a>
                <span class="quiet">{status?.resolvedVersion ? `chosen ${status.resolvedVersion}` : "no version"}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, maxRows).map((row) => (
            <ServerRow key={row.server.metadata.name} row={row} matrix={matrix} chosen={chosen} />
          ))}
        </tbody>
      </table>
      {rows.length > maxRows && <p class="quiet">and {rows.length - maxRows} more servers</p>}
    </div>
  );
}

function ServerRow({ row, matrix, chosen }: MatrixProps & { readonly row: MatrixRow }): JSX.Element {
  const { name } = row.server.metadata;
  const isChosen = chosen.server === name;
  const link = linkTo("versions", matrix.namespace, name);
  return (
    <tr class={isChosen ? "chosen" : undefined}>
      <th scope="row">
        <a href={link} aria-current={isChosen && !chosen.plugin ? "true" : undefined}>
          {name}
        </a>
        <span class="quiet">{row.server.spec.updateStrategy}</span>
      </th>
      <td>{row.current ?? <span class="quiet">nothing yet</span>}</td>
      <td>
        <strong>{row.chosen ?? "–"}</strong>
      </td>
      <td class={row.newest !== row.chosen ? "wait-text" : undefined}>{row.newest ?? "–"}</td>
      <td>
        {row.server.status?.updateBlocked?.blocked ? (
          <a class="blocker" href={row.blocker ? linkTo("versions", matrix.namespace, name, row.blocker) : link}>
            {row.blocker ?? "why?"}
          </a>
        ) : (
          <span class="quiet">nothing</span>
        )}
      </td>
      {matrix.plugins.map(({ metadata }) => (
        <td key={metadata.name} class="plugin">
          <PluginCell
            cell={row.cells.get(metadata.name)}
            link={linkTo("versions", matrix.namespace, name, metadata.name)}
            isChosen={isChosen && chosen.plugin === metadata.name}
            server={name}
          />
        </td>
      ))}
    </tr>
  );
}

interface CellProps {
  readonly cell: Cell | undefined;
  readonly link: string;
  readonly isChosen: boolean;
  readonly server: string;
}

function PluginCell({ cell, link, isChosen, server }: CellProps): JSX.Element {
  if (!cell) return <span class="quiet">·</span>;
  const word = cell.isBlocker ? "holds it back" : cell.fits ? "fits" : "does not fit";
  const tone = cell.isBlocker ? "wait" : cell.fits ? "good" : "bad";
  const shown = cell.chosen ?? cell.installed ?? "none";
  return (
    <a
      class={`cell ${tone}`}
      href={link}
      aria-current={isChosen ? "true" : undefined}
      aria-label={`${cell.plugin} on ${server}: ${shown}, ${word}`}
    >
      <span>{shown}</span>
      <span class="cell-word">{cell.installed && cell.installed !== shown ? `runs ${cell.installed}` : word}</span>
    </a>
  );
}
