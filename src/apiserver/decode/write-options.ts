import { type FieldError, forbidden, invalid, notSupported, required, tooLong } from "../../kube/field-error.ts";
import type { ApiRequest } from "../parts.ts";
import { isTrue } from "../protocol/request-info.ts";
import { invalid as invalidObject } from "../protocol/status-error.ts";

/** What a writer may say besides the object. */
export interface WriteOptions {
  readonly dryRun: boolean;
  /** Whom managedFields will name. */
  readonly fieldManager: string;
  readonly fieldValidation: "Strict" | "Warn" | "Ignore";
  readonly force: boolean;
}

export type WriteOptionsKind = "CreateOptions" | "UpdateOptions" | "PatchOptions";

const managerLimit = 128;

export function parseWriteOptions({ info, http }: ApiRequest, kind: WriteOptionsKind, isApply = false): WriteOptions {
  const { query } = info;
  const dryRun = query.getAll("dryRun").filter((value) => value !== "");
  const manager = query.get("fieldManager") ?? "";
  const fieldValidation = query.get("fieldValidation") ?? "";
  const errors: FieldError[] = [];
  if (isApply && manager === "") errors.push(required("fieldManager", "is required for apply patch"));
  if (!isApply && query.has("force")) errors.push(forbidden("force", "may not be specified for non-apply patch"));
  if (utf8Length(manager) > managerLimit) errors.push(tooLong("fieldManager", managerLimit));
  for (const [index, character] of [...manager].entries()) {
    if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(character)) {
      errors.push(
        invalid("fieldManager", manager, `invalid character ${JSON.stringify(character)} (at position ${index})`),
      );
    }
  }
  if (dryRun.some((value) => value !== "All")) errors.push(notSupported("dryRun", dryRun, ["All"]));
  if (fieldValidation !== "" && !isFieldValidation(fieldValidation)) {
    errors.push(notSupported("fieldValidation", fieldValidation, ["", "Ignore", "Strict", "Warn"]));
  }
  if (errors.length > 0) throw invalidObject({ group: "meta.k8s.io", name: kind }, "", errors);
  return {
    dryRun: dryRun.length > 0,
    fieldManager: manager === "" ? managerOf(http.headers["user-agent"]) : manager,
    fieldValidation: isFieldValidation(fieldValidation) ? fieldValidation : "Warn",
    force: isTrue(query.get("force")),
  };
}

const isFieldValidation = (value: string): value is WriteOptions["fieldValidation"] =>
  value === "Strict" || value === "Warn" || value === "Ignore";

/** A writer without a name is called after its program: `kubectl/v1.33` is `kubectl`. */
function managerOf(userAgent = ""): string {
  const name = userAgent.split("/", 1)[0] ?? "";
  return name.slice(0, managerLimit).replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, "") || "unknown";
}

const utf8Length = (value: string): number => Buffer.byteLength(value);
