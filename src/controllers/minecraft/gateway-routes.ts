import { TCPRoute, UDPRoute } from "../../api/builtin/gateway.ts";
import type { PaperMCServer } from "../../api/papermc-server.ts";
import { safeName } from "../../kube/names.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import { childMetadata, gamePort } from "./children.ts";

/** Of which servers a route is known to be gone, so that nobody asks again before such a server is changed. */
export class RoutesGone {
  readonly #generations = new Map<string, number>();

  isKnown(server: PaperMCServer, suffix: string): boolean {
    return this.#generations.get(keyOf(server, suffix)) === (server.metadata.generation ?? 0);
  }

  note(server: PaperMCServer, suffix: string): void {
    const key = keyOf(server, suffix);
    this.#generations.delete(key);
    this.#generations.set(key, server.metadata.generation ?? 0);
    const [oldest] = this.#generations.keys();
    if (this.#generations.size > maxRemembered && oldest !== undefined) this.#generations.delete(oldest);
  }

  forget(server: PaperMCServer, suffix: string): void {
    this.#generations.delete(keyOf(server, suffix));
  }
}

const maxRemembered = 10_000;
const keyOf = ({ metadata: { uid = "" } }: PaperMCServer, suffix: string): string => `${uid} ${suffix}`;

/** Leads from a Gateway to the server, where the Gateway API is served; elsewhere there is nothing to do. */
export async function applyRoutes(
  server: PaperMCServer,
  gone: RoutesGone,
  { live, write }: Pick<ReconcileContext, "live" | "write">,
): Promise<readonly string[]> {
  const { gateway } = server.spec;
  const problems: string[] = [];
  for (const [kind, suffix, isOn] of [
    [TCPRoute, "tcp", gateway?.enabled === true && gateway.tcpRoute?.enabled !== false],
    [UDPRoute, "udp", gateway?.enabled === true && gateway.udpRoute?.enabled === true],
  ] as const) {
    if (!isOn && gone.isKnown(server, suffix)) continue;
    const served = await live.discover(kind.group, kind.kind);
    if (!served) continue;
    const name = safeName(`${server.metadata.name}-${suffix}`);
    if (isOn) gone.forget(server, suffix);
    const answer = isOn
      ? await write.apply(
          kind,
          {
            metadata: childMetadata(server, name, "networking"),
            spec: {
              parentRefs: gateway?.parentRefs ?? [],
              rules: [{ backendRefs: [{ name: server.metadata.name, port: gamePort }] }],
            },
          },
          { force: true },
        )
      : await removeOwn(kind, server, name, { live, write });
    if (!answer.ok) problems.push(`${kind.kind} ${name}: ${answer.message}`);
    else if (!isOn) gone.note(server, suffix);
  }
  return problems;
}

/** A route that somebody made by hand may have the same name, and stays. */
async function removeOwn(
  kind: typeof TCPRoute | typeof UDPRoute,
  { metadata: { uid, namespace = "" } }: PaperMCServer,
  name: string,
  { live, write }: Pick<ReconcileContext, "live" | "write">,
): Promise<{ readonly ok: true } | { readonly ok: false; readonly message: string }> {
  const { items } = await live.list(kind, { namespace, fieldSelector: `metadata.name=${name}` });
  const own = items.find(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
  return own ? write.delete(kind, own) : { ok: true };
}
