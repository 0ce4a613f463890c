import { TCPRoute, UDPRoute } from "../../api/builtin/gateway.ts";
import type { PaperMCServer } from "../../api/papermc-server.ts";
import { safeName } from "../../kube/names.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import { childMetadata, gamePort } from "./children.ts";

/** Leads from a Gateway to the server, where the Gateway API is served; elsewhere there is nothing to do. */
export async function applyRoutes(
  server: PaperMCServer,
  { live, write }: Pick<ReconcileContext, "live" | "write">,
): Promise<readonly string[]> {
  const { gateway } = server.spec;
  const problems: string[] = [];
  for (const [kind, suffix, isOn] of [
    [TCPRoute, "tcp", gateway?.enabled === true && gateway.tcpRoute?.enabled !== false],
    [UDPRoute, "udp", gateway?.enabled === true && gateway.udpRoute?.enabled === true],
  ] as const) {
    // A server that never asked for routes costs no request; one that did may have left some behind.
    if (!gateway) continue;
    const served = await live.discover(kind.group, kind.kind);
    if (!served) continue;
    const name = safeName(`${server.metadata.name}-${suffix}`);
    const answer = isOn
      ? await write.apply(
          kind,
          {
            metadata: childMetadata(server, name, "networking"),
            spec: {
              parentRefs: gateway.parentRefs ?? [],
              rules: [{ backendRefs: [{ name: server.metadata.name, port: gamePort }] }],
            },
          },
          { force: true },
        )
      : await write.delete(kind, { namespace: server.metadata.namespace ?? "", name });
    if (!answer.ok) problems.push(`${kind.kind} ${name}: ${answer.message}`);
  }
  return problems;
}
