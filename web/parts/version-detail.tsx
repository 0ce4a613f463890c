import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Plugin } from "../../src/api/plugin.ts";
import type { Remedy } from "../../src/controllers/version-solver/remedies.ts";
import type { FleetReport } from "../../src/controllers/version-solver/report.ts";
import { type Answer, send } from "../api.ts";
import { type Matrix, type MatrixRow, newestOf, supportedBy } from "../model/version-matrix.ts";
import { linkTo } from "../router.ts";
import { Ago } from "./ago.tsx";
import { Facts } from "./page.tsx";

interface DetailProps {
  readonly matrix: Matrix;
  readonly row: MatrixRow;
  readonly plugin: string | undefined;
}

/** Why a server does not run something newer, or what one plugin supports on it. */
export function VersionDetail({ matrix, row, plugin }: DetailProps): JSX.Element {
  const { server } = row;
  const { name } = server.metadata;
  const blocked = server.status?.updateBlocked;
  const found = matrix.plugins.find(({ metadata }) => metadata.name === plugin);
  const update = server.status?.availableUpdate;
  return (
    <section class="detail" aria-label={`Why: ${name}`} aria-live="polite">
      <header>
        <h3>{found ? `${found.metadata.name} on ${name}` : name}</h3>
        <a class="close" href={linkTo("versions")} aria-label="Close">
          ×
        </a>
      </header>
      {blocked?.blocked ? (
        <p class="wait-text">{blocked.reason}</p>
      ) : (
        <p>{row.newest && row.newest === row.chosen ? "It has the newest version." : "Nothing holds it back."}</p>
      )}
      <Facts
        facts={[
          ["Strategy", server.spec.updateStrategy],
          ["Runs", row.current],
          ["Chosen", row.chosen],
          ["Newest", row.newest],
          ["Next update", update && `${update.version}-${update.build}`],
          ["Last checked", <Ago key="checked" time={server.status?.lastFetched} />],
        ]}
      />
      {found ? (
        <PluginSupport plugin={found} server={row} />
      ) : (
        blocked?.blockedBy && <Blocker blocker={blocked.blockedBy} />
      )}
      {blocked?.blocked && <Remedies namespace={matrix.namespace} server={name} />}
      <p>
        <a href={linkTo("servers", matrix.namespace, name)}>Everything about {name}</a>
      </p>
    </section>
  );
}

function Blocker({
  blocker,
}: {
  readonly blocker: {
    readonly plugin: string;
    readonly version: string;
    readonly supportedVersions?: readonly string[];
  };
}): JSX.Element {
  return (
    <>
      <h4>
        {blocker.plugin} {blocker.version} supports
      </h4>
      <Versions versions={blocker.supportedVersions ?? []} />
    </>
  );
}

function PluginSupport({ plugin, server }: { readonly plugin: Plugin; readonly server: MatrixRow }): JSX.Element {
  const cell = server.cells.get(plugin.metadata.name);
  return (
    <>
      <Facts
        facts={[
          ["Installed", cell?.installed],
          ["Version chosen", cell?.chosen],
          ["Newest version", newestOf(plugin)],
          ["Fits", cell && (cell.fits ? "yes" : "no")],
          ["Source", `${plugin.spec.source.type} ${plugin.spec.source.project ?? plugin.spec.source.url ?? ""}`],
          ["Override", plugin.spec.compatibilityOverride?.enabled && "the repository's word is ignored"],
        ]}
      />
      <h4>Supports Minecraft</h4>
      <Versions versions={supportedBy(plugin)} />
    </>
  );
}

const shownVersions = 40;

function Versions({ versions }: { readonly versions: readonly string[] }): JSX.Element {
  if (versions.length === 0) return <p class="quiet">It does not say, so it is taken to fit everything.</p>;
  return (
    <ul class="tags">
      {versions.slice(0, shownVersions).map((version) => (
        <li key={version}>{version}</li>
      ))}
      {versions.length > shownVersions && <li>and {versions.length - shownVersions} more</li>}
    </ul>
  );
}

/** Asked of the solver only when somebody wants to know: the proof can take a while. */
function Remedies({ namespace, server }: { readonly namespace: string; readonly server: string }): JSX.Element {
  const [asked, setAsked] = useState<"No" | "Asking" | Answer<FleetReport>>("No");
  useEffect(() => setAsked("No"), [namespace, server]);
  if (asked === "No")
    return (
      <button
        type="button"
        onClick={() => {
          setAsked("Asking");
          void send<FleetReport>("GET", `/ui/api/fleet/${encodeURIComponent(namespace)}`).then(setAsked);
        }}
      >
        What would unblock it?
      </button>
    );
  if (asked === "Asking") return <p role="status">Asking the solver…</p>;
  if (asked.kind === "Refused") return <p role="alert">The solver gave no answer: {asked.message}</p>;
  const report = asked.value.servers.find(({ name }) => name === server);
  const remedies = report?.unblockedBy ?? [];
  return (
    <div role="status">
      <h4>What would unblock it</h4>
      {remedies.length === 0 ? (
        <p class="quiet">No single change would. {report?.message}</p>
      ) : (
        <ul class="plain">
          {remedies.map((remedy) => (
            <li key={JSON.stringify(remedy)}>{sentence(remedy)}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

const verbs: Readonly<Record<string, string>> = {
  drop: "Without",
  unpin: "Without the pin of",
  undelay: "Without waiting with",
  pin: "With another version of",
};

/** `drop:plugin/x` as people say it. */
function sentence({ changes, reaches }: Remedy): string {
  const said = changes.map((change) => {
    const [, verb = "", object = "", name = "", version] = /^(\w+):(\w+)\/([^=]+)(?:=(.+))?$/.exec(change) ?? [];
    return verb === "pin" ? `With ${object} ${name} held at ${version}` : `${verbs[verb] ?? verb} ${object} ${name}`;
  });
  return `${said.join(", ").replace(/, W/g, ", w")} it reaches ${reaches}.`;
}
