import { compareQuantities, parseQuantity, type Quantity } from "../../kube/quantity.ts";
import { child, type Draft, entries, items } from "./draft.ts";

/** How much a pod's resources are promised: decided once, when it is created. */
export function qosClass(spec: Draft | undefined): "Guaranteed" | "Burstable" | "BestEffort" {
  const podLevel = child(spec, "resources");
  const holders = podLevel ? [podLevel] : containers(spec).map((container) => child(container, "resources"));
  const requests = new Map<string, bigint>();
  const limits = new Map<string, bigint>();
  let isGuaranteed = true;
  for (const holder of holders) {
    addUp(requests, entries(holder, "requests"));
    const own = entries(holder, "limits").filter(isCounted);
    addUp(limits, own);
    if (!computeNames.every((name) => own.some(([key]) => key === name))) isGuaranteed = false;
  }
  if (requests.size === 0 && limits.size === 0) return "BestEffort";
  const agrees = [...requests].every(([name, amount]) => limits.get(name) === amount);
  return isGuaranteed && agrees && requests.size === limits.size ? "Guaranteed" : "Burstable";
}

const computeNames = ["cpu", "memory"];

const containers = (spec: Draft | undefined): readonly Draft[] => [
  ...items(spec, "containers"),
  ...items(spec, "initContainers"),
];

type Entry = readonly [string, unknown];

function isCounted([name, value]: Entry): boolean {
  return computeNames.includes(name) && compareQuantities(read(value), zero) > 0;
}

function addUp(sums: Map<string, bigint>, amounts: readonly Entry[]): void {
  for (const entry of amounts.filter(isCounted)) {
    sums.set(entry[0], (sums.get(entry[0]) ?? 0n) + read(entry[1]).nanos);
  }
}

const zero: Quantity = { nanos: 0n, format: "DecimalSI" };

function read(value: unknown): Quantity {
  const parsed = parseQuantity(String(value));
  return parsed.ok ? parsed.value : zero;
}
