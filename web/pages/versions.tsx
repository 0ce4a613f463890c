import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { PaperMCServer } from "../../src/api/papermc-server.ts";
import type { Plugin } from "../../src/api/plugin.ts";
import { useObjects } from "../live/use-live.ts";
import { plugins, servers } from "../model/kinds.ts";
import { useNamespace } from "../model/namespace.ts";
import { type Matrix, matricesOf } from "../model/version-matrix.ts";
import { Card, Empty, Page, Waiting } from "../parts/page.tsx";
import { VersionDetail } from "../parts/version-detail.tsx";
import { VersionMatrix } from "../parts/version-matrix.tsx";

interface VersionsProps {
  /** `NAMESPACE/SERVER` or `NAMESPACE/SERVER/PLUGIN` that is shown in detail. */
  readonly chosen: readonly string[];
}

/** Servers and their plugins: what runs, what was chosen, what is newest, and what keeps a server from it. */
export function Versions({ chosen: [namespace, server, plugin] }: VersionsProps): JSX.Element {
  const [narrowed] = useNamespace();
  const at = { namespace: narrowed };
  const foundServers = useObjects<PaperMCServer>(servers, at);
  const foundPlugins = useObjects<Plugin>(plugins, at);
  const matrices = useMemo(
    () =>
      matricesOf(
        foundServers.kind === "Live" ? foundServers.value : [],
        foundPlugins.kind === "Live" ? foundPlugins.value : [],
      ),
    [foundServers, foundPlugins],
  );
  return (
    <Page title="Versions" isWide>
      {foundServers.kind !== "Live" ? (
        <Waiting state={foundServers} what="Minecraft servers" />
      ) : matrices.length === 0 ? (
        <Empty title={servers.empty}>
          Apply a PaperMCServer and a Plugin whose selector matches it; versions are chosen for both.
        </Empty>
      ) : (
        matrices.map((matrix) => (
          <NamespaceCard
            key={matrix.namespace}
            matrix={matrix}
            chosen={namespace === matrix.namespace ? { server, plugin } : {}}
          />
        ))
      )}
    </Page>
  );
}

interface Chosen {
  readonly server?: string | undefined;
  readonly plugin?: string | undefined;
}

function NamespaceCard({ matrix, chosen }: { readonly matrix: Matrix; readonly chosen: Chosen }): JSX.Element {
  const row = matrix.rows.find(({ server }) => server.metadata.name === chosen.server);
  return (
    <Card
      title={matrix.namespace}
      class="flush"
      aside={`${matrix.rows.length} servers · ${matrix.plugins.length} plugins`}
    >
      <div class={row ? "with-detail open" : "with-detail"}>
        <VersionMatrix matrix={matrix} chosen={chosen} />
        {row && <VersionDetail matrix={matrix} row={row} plugin={chosen.plugin} />}
      </div>
    </Card>
  );
}
