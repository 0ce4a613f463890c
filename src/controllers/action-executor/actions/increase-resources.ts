import type { ParametersOf } from "../../../api/action.ts";
import type { Container } from "../../../api/builtin/pod-spec.ts";
import { Deployment } from "../../../api/builtin/workloads.ts";
import { compareQuantities, parseQuantity } from "../../../kube/quantity.ts";
import { allow } from "../../../runtime/permission.ts";
import { defineAction, type TargetState } from "./definition.ts";
import { restoreDeployment } from "./restore-deployment.ts";

type Parameters = ParametersOf<"increase_resources">;

export const increaseResources = defineAction({
  action: "increase_resources",
  permissions: [allow(Deployment, ["get", "patch"])],
  idempotent: true,
  estimatedDuration: "2m",
  seenBy: "Read",
  problems(parameters) {
    return amounts(parameters).flatMap(({ field, amount }) => {
      const read = parseQuantity(amount);
      if (!read.ok) return [`${field}: ${read.message}`];
      return read.value.nanos > 0n ? [] : [`${field}: must be more than nothing`];
    });
  },
  target: ({ deployment, namespace }) => ({ kind: Deployment, namespace, name: deployment }),
  objection(state, parameters) {
    const container = containerOf(state, parameters);
    if (container === undefined) return `it has no container ${parameters.container ?? ""}`;
    const smaller = amounts(parameters).filter(({ part, resource, amount }) => {
      const [now, wanted] = [
        parseQuantity(String(container.resources?.[part]?.[resource] ?? "0")),
        parseQuantity(amount),
      ];
      return now.ok && wanted.ok && compareQuantities(wanted.value, now.value) < 0;
    });
    return smaller.length === 0
      ? undefined
      : `container ${container.name} has more already: ${smaller.map(({ part, resource }) => `${part}.${resource}`).join(", ")}`;
  },
  plan(state, parameters) {
    const container = containerOf(state, parameters);
    const wanted = amounts(parameters);
    const resources = {
      requests: Object.fromEntries(wanted.filter(({ part }) => part === "requests").map(pair)),
      limits: Object.fromEntries(wanted.filter(({ part }) => part === "limits").map(pair)),
    };
    return {
      effects: [
        {
          kind: "Patch",
          patch: {
            type: "strategic",
            value: { spec: { template: { spec: { containers: [{ name: container?.name, resources }] } } } },
          },
        },
      ],
      verb: "given more resources",
      before: JSON.stringify(container?.resources ?? {}),
      after: wanted.map(({ part, resource, amount }) => `${part}.${resource}: ${amount}`).join(", "),
    };
  },
  rollback: restoreDeployment,
});

interface Amount {
  readonly field: string;
  readonly part: "requests" | "limits";
  readonly resource: "cpu" | "memory";
  readonly amount: string;
}

/** The more exact field wins over `cpu` and `memory`. */
function amounts(parameters: Parameters): readonly Amount[] {
  const { cpu, memory, cpuRequest, cpuLimit, memoryRequest, memoryLimit } = parameters;
  const all = [
    {
      field: cpuRequest === undefined ? "cpu" : "cpuRequest",
      part: "requests",
      resource: "cpu",
      amount: cpuRequest ?? cpu,
    },
    { field: cpuLimit === undefined ? "cpu" : "cpuLimit", part: "limits", resource: "cpu", amount: cpuLimit ?? cpu },
    {
      field: memoryRequest === undefined ? "memory" : "memoryRequest",
      part: "requests",
      resource: "memory",
      amount: memoryRequest ?? memory,
    },
    {
      field: memoryLimit === undefined ? "memory" : "memoryLimit",
      part: "limits",
      resource: "memory",
      amount: memoryLimit ?? memory,
    },
  ] as const;
  return all.flatMap((entry) => (entry.amount === undefined ? [] : [{ ...entry, amount: entry.amount }]));
}

const pair = ({ resource, amount }: Amount): readonly [string, string] => [resource, amount];

function containerOf({ object }: TargetState<Deployment>, { container }: Parameters): Container | undefined {
  const containers = object?.spec.template.spec.containers ?? [];
  return container === undefined ? containers[0] : containers.find(({ name }) => name === container);
}
