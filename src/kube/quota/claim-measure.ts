import type { KubeObject } from "../object.ts";
import { compareQuantities, type Quantity, quantityUnits } from "../quantity.ts";
import type { Measure } from "./measure.ts";
import { readResources, type WrittenResources } from "./resource-list.ts";
import { claimMatchesScope } from "./scopes.ts";

type Claim = KubeObject & {
  readonly spec?: { readonly storageClassName?: string; readonly resources?: { readonly requests?: WrittenResources } };
  readonly status?: { readonly allocatedResources?: WrittenResources };
};

/** Claims: how many, and for how much storage, altogether and of each class. */
export const claimMeasure: Measure = {
  matching: (names) =>
    [...names].filter(
      (name) =>
        name === "count/persistentvolumeclaims" ||
        ownNames.some((own) => name === own || name.endsWith(`${classSuffix}${own}`)),
    ),
  usage(object) {
    const claim = object as Claim;
    const usage = new Map<string, Quantity>([
      ["persistentvolumeclaims", one],
      ["count/persistentvolumeclaims", one],
    ]);
    const storage = storageOf(claim);
    if (storage) usage.set("requests.storage", storage);
    const storageClass = classOf(claim);
    if (storageClass === "") return usage;
    usage.set(`${storageClass}${classSuffix}persistentvolumeclaims`, one);
    if (storage) usage.set(`${storageClass}${classSuffix}requests.storage`, storage);
    return usage;
  },
  isConcerned: ({ operation, subresource }) =>
    subresource === "" || (subresource === "status" && operation === "UPDATE"),
  matchesScope: claimMatchesScope,
};

const ownNames = ["persistentvolumeclaims", "requests.storage"];
const classSuffix = ".storageclass.storage.k8s.io/";
const one: Quantity = { nanos: 1_000_000_000n, format: "DecimalSI" };

const classOf = ({ metadata, spec }: Claim): string =>
  metadata.annotations?.["volume.beta.kubernetes.io/storage-class"] ?? spec?.storageClassName ?? "";

/** What was asked for, or what is allocated already if that is more; in whole bytes. */
function storageOf({ spec, status }: Claim): Quantity | undefined {
  const asked = readResources(spec?.resources?.requests).get("storage");
  const allocated = readResources(status?.allocatedResources).get("storage");
  if (!asked) return undefined;
  return wholeBytes(allocated && compareQuantities(allocated, asked) > 0 ? allocated : asked);
}

const wholeBytes = (amount: Quantity): Quantity =>
  amount.nanos % 1_000_000_000n === 0n
    ? amount
    : { nanos: quantityUnits(amount) * 1_000_000_000n, format: amount.format };
