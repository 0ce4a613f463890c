import type { NetworkPolicy } from "../../api/builtin/network-policy.ts";
import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { ApplyObject } from "../../client/client.ts";
import { parseCidr } from "../../kube/ip.ts";
import { safeName } from "../../kube/names.ts";
import { childMetadata, gamePort, selectorLabels } from "./children.ts";

export type PolicyResult =
  | { readonly kind: "Policy"; readonly policy: ApplyObject<NetworkPolicy> }
  | { readonly kind: "Off" }
  | { readonly kind: "Invalid"; readonly message: string };

export const policyName = (server: PaperMCServer): string => safeName(`${server.metadata.name}-minecraft`);

/** Who may speak to the server, and to whom it may speak. */
export function networkPolicyOf(
  server: PaperMCServer,
  pluginPorts: readonly number[],
  operatorNamespace: string,
): PolicyResult {
  const settings = server.spec.network?.networkPolicy;
  if (!settings?.enabled) return { kind: "Off" };
  const wrong = problemOf(settings);
  if (wrong !== undefined) return { kind: "Invalid", message: `spec.network.networkPolicy.${wrong}` };
  const { rcon } = server.spec;
  const from = [
    { podSelector: {} },
    ...(settings.allowFrom ?? []).map(({ cidr, podSelector, namespaceSelector }) =>
      cidr === undefined
        ? { ...(podSelector && { podSelector }), ...(namespaceSelector && { namespaceSelector }) }
        : { ipBlock: { cidr } },
    ),
  ];
  const tcp = (port: number) => ({ protocol: "TCP" as const, port });
  const dns = [{ protocol: "UDP" as const, port: 53 }, tcp(53)];
  return {
    kind: "Policy",
    policy: {
      metadata: childMetadata(server, policyName(server), "network-policy"),
      spec: {
        podSelector: { matchLabels: selectorLabels(server.metadata.name) },
        policyTypes: settings.restrictEgress === false ? ["Ingress"] : ["Ingress", "Egress"],
        ingress: [
          { from, ports: [tcp(gamePort)] },
          ...pluginPorts.map((port) => ({ from, ports: [tcp(port), { protocol: "UDP" as const, port }] })),
          ...(rcon.enabled
            ? [
                {
                  from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": operatorNamespace } } }],
                  ports: [tcp(rcon.port)],
                },
              ]
            : []),
        ],
        ...(settings.restrictEgress !== false && {
          egress: [
            { ports: dns },
            { ports: [tcp(443)] },
            ...(settings.allowEgressTo ?? []).map(({ cidr, port, protocol = "TCP" }) => ({
              ...(cidr !== undefined && { to: [{ ipBlock: { cidr } }] }),
              ...(port !== undefined && { ports: [{ protocol, port }] }),
            })),
          ],
        }),
      },
    },
  };
}

type Settings = NonNullable<NonNullable<PaperMCServer["spec"]["network"]>["networkPolicy"]>;

/** The schema's pattern lets 999.0.0.0/99 through; the API would refuse the whole policy for it. */
function problemOf({ allowFrom = [], allowEgressTo = [] }: Settings): string | undefined {
  for (const [index, { cidr, podSelector, namespaceSelector }] of allowFrom.entries()) {
    const at = `allowFrom[${index}]`;
    if (cidr === undefined && !podSelector && !namespaceSelector)
      return `${at}: one of cidr, podSelector and namespaceSelector is required`;
    if (cidr !== undefined && (podSelector || namespaceSelector)) return `${at}: cidr goes with no selector`;
    if (cidr !== undefined && !parseCidr(cidr)) return `${at}.cidr: ${cidr} is not a range of addresses`;
  }
  for (const [index, { cidr }] of allowEgressTo.entries())
    if (cidr !== undefined && !parseCidr(cidr))
      return `allowEgressTo[${index}].cidr: ${cidr} is not a range of addresses`;
  return undefined;
}
