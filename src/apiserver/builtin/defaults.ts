import { formatQuantity, parseQuantity, quantityMillis } from "../../kube/quantity.ts";
import type { Draft } from "./draft.ts";
import { isRecord } from "./json.ts";
import { typeDefaults } from "./type-defaults.ts";
import type { WireStruct, WireType } from "./wire-types.ts";

/** Fills in what belongs to a type wherever it stands (a probe's period, a port's protocol), from the outside inwards. */
export function applyTypeDefaults(struct: WireStruct, draft: Draft): void {
  if (!reachesDefaults(struct)) return;
  typeDefaults.get(struct.name)?.(draft);
  for (const { name, type } of struct.fields) {
    const value = draft[name];
    if (value !== undefined && value !== null) descendInto(type, value);
  }
}

function descendInto(type: WireType, value: unknown): void {
  if (type.kind === "struct") {
    if (isRecord(value)) applyTypeDefaults(type.struct(), value as Draft);
  } else if (type.kind === "list") {
    if (type.items.kind === "struct" && Array.isArray(value)) for (const item of value) descendInto(type.items, item);
  } else if (type.kind === "map" && isRecord(value)) {
    if (type.values.kind === "quantity") roundUpToMillis(value as Draft);
    else if (type.values.kind === "struct") for (const item of Object.values(value)) descendInto(type.values, item);
  }
}

/** Resource lists keep thousandths and nothing finer. */
function roundUpToMillis(resources: Draft): void {
  for (const [name, value] of Object.entries(resources)) {
    if (typeof value !== "string" || !/[nu]$|e-|\./.test(value)) continue;
    const parsed = parseQuantity(value);
    if (!parsed.ok || parsed.value.nanos % 1_000_000n === 0n) continue;
    const nanos = quantityMillis(parsed.value) * 1_000_000n;
    resources[name] = formatQuantity({ nanos, format: parsed.value.format });
  }
}

const reaching = new Map<string, boolean>();

/** Most types have no default anywhere below them, so that a walk would be in vain. */
function reachesDefaults(struct: WireStruct): boolean {
  const known = reaching.get(struct.name);
  if (known !== undefined) return known;
  const found = search(struct, new Set());
  reaching.set(struct.name, found);
  return found;
}

function search(struct: WireStruct, seen: Set<string>): boolean {
  if (typeDefaults.has(struct.name)) return true;
  if (seen.has(struct.name)) return false;
  seen.add(struct.name);
  return struct.fields.some(({ type }) => {
    const inner = type.kind === "list" ? type.items : type.kind === "map" ? type.values : type;
    if (type.kind === "map" && inner.kind === "quantity") return true;
    return inner.kind === "struct" && search(inner.struct(), seen);
  });
}
