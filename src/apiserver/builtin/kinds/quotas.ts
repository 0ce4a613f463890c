import { formatQuantity, parseQuantity } from "../../../kube/quantity.ts";
import type { Behaviour } from "../behaviour.ts";
import { ageColumn, column, createdAtColumn, nameColumn } from "../columns.ts";
import { child, type Draft, ensure, entries, text } from "../draft.ts";
import { validateLimitRange } from "../validation/limit-range.ts";
import { validateQuota, validateQuotaStatus, validateQuotaUpdate } from "../validation/quota.ts";
import { quotaWarnings } from "../warnings.ts";

/** ResourceQuota and LimitRange. */

export const resourceQuota: Behaviour = {
  validate: validateQuota,
  validateUpdate: validateQuotaUpdate,
  validateStatus: validateQuotaStatus,
  warnings: quotaWarnings,
  columns: [
    nameColumn,
    column("Request", (quota) => usageText(quota, (name) => !name.startsWith("limits."))),
    column("Limit", (quota) => usageText(quota, (name) => name.startsWith("limits."))),
    ageColumn,
  ],
};

/** `pods: 1/10, requests.cpu: 500m/2`: what is used, of what may be. */
function usageText(quota: Draft, isShown: (name: string) => boolean): string {
  const status = child(quota, "status");
  return entries(status, "hard")
    .filter(([name]) => isShown(name))
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, hard]) => `${name}: ${amountText(child(status, "used")?.[name])}/${amountText(hard)}`)
    .join(", ");
}

function amountText(amount: unknown): string {
  const parsed = parseQuantity(String(amount ?? "0"));
  return parsed.ok ? formatQuantity(parsed.value) : "0";
}

export const limitRange: Behaviour = {
  validate: validateLimitRange,
  allowCreateOnUpdate: true,
  prepareCreate(draft) {
    // Nobody needs to know the name of one: the server makes one up.
    const metadata = ensure(draft, "metadata");
    if (text(metadata, "name") === "") metadata["name"] = metadata["uid"];
  },
  columns: [nameColumn, createdAtColumn],
};
