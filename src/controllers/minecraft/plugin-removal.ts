import { PaperMCServer } from "../../api/papermc-server.ts";
import { Plugin } from "../../api/plugin.ts";
import { deepEqual } from "../../kube/equality.ts";
import { formatTime, parseTime } from "../../kube/time.ts";
import type { ActContext } from "../../runtime/controller.ts";
import type { CleanUp } from "../../runtime/finalizer.ts";

type Progress = NonNullable<NonNullable<Plugin["status"]>["deletionProgress"]>;

/** Upstream's own limit, after which a server that does not react keeps nobody waiting. */
const patienceMs = 10 * 60_000;
const lookAgainMs = 30_000;

/**
 * A plugin may go when every server that has it has taken note: its status says so then, and the next restart removes the
 * jar, whether the Plugin still exists or not.
 */
export async function removePlugin(plugin: Plugin, { read, write, now }: ActContext<Plugin>): Promise<CleanUp> {
  const { name, namespace = "" } = plugin.metadata;
  const before = plugin.status?.deletionProgress ?? [];
  const since = (server: string): string =>
    before.find(({ serverName }) => serverName === server)?.deletionRequestedAt ?? formatTime(now);
  const servers = read
    .list(PaperMCServer, { namespace })
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const entries = servers.flatMap((server) => {
    const entry = server.status?.plugins?.find(({ pluginRef }) => pluginRef.name === name);
    return entry ? [{ server: server.metadata.name, entry }] : [];
  });
  const progress: Progress = [
    ...entries.map(({ server, entry }) => ({
      serverName: server,
      namespace,
      jarDeleted: entry.installedJarName === undefined && entry.currentVersion === undefined,
      deletionRequestedAt: since(server),
    })),
    ...before
      .filter(({ serverName }) => !entries.some(({ server }) => server === serverName))
      .map((done) => ({ ...done, jarDeleted: true, deletedAt: done.deletedAt ?? formatTime(now) })),
  ];
  if (!deepEqual(progress, before)) {
    const { uid, resourceVersion } = plugin.metadata;
    const value = { metadata: { uid, resourceVersion }, status: { deletionProgress: progress } };
    const written = await write.patch(Plugin, plugin.metadata, { type: "merge", value }, { subresource: "status" });
    if (!written.ok && written.reason !== "NotFound") return { kind: "Waiting", lookAgainMs: 1_000 };
  }
  const isNoted = entries.every(
    ({ server, entry }) =>
      entry.pendingDeletion === true ||
      (entry.installedJarName === undefined && entry.currentVersion === undefined) ||
      isOverdue(since(server), now),
  );
  return isNoted ? { kind: "Finished" } : { kind: "Waiting", lookAgainMs };
}

function isOverdue(requestedAt: string, now: Date): boolean {
  const requested = parseTime(requestedAt);
  return requested.ok && now.getTime() - requested.value.getTime() >= patienceMs;
}
