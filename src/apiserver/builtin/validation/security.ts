import { type FieldError, invalid } from "../../../kube/field-error.ts";
import { child, type Draft, numeral } from "../draft.ts";
import { type Errors, invalidText } from "./rules.ts";

/** Security contexts of pods and containers. */

const maxId = 2 ** 31 - 1;

export const checkUserId = (holder: Draft | undefined, field: string, path: string): Errors => {
  const value = numeral(holder, field);
  return value === undefined || (value >= 0 && value <= maxId)
    ? []
    : [invalid(`${path}.${field}`, value, `must be between 0 and ${maxId}, inclusive`)];
};

export function validatePodSecurity(context: Draft | undefined, path: string): Errors {
  if (!context) return [];
  const groups = Array.isArray(context["supplementalGroups"])
    ? (context["supplementalGroups"] as readonly unknown[])
    : [];
  return [
    ...checkUserId(context, "fsGroup", path),
    ...checkUserId(context, "runAsUser", path),
    ...checkUserId(context, "runAsGroup", path),
    ...groups.flatMap((group, index) =>
      checkUserId({ group }, "group", "").map((error) => ({ ...error, field: `${path}.supplementalGroups[${index}]` })),
    ),
  ];
}

export function validateContainerSecurity(context: Draft | undefined, path: string): Errors {
  if (!context) return [];
  const errors: FieldError[] = [
    ...checkUserId(context, "runAsUser", path),
    ...checkUserId(context, "runAsGroup", path),
  ];
  if (context["allowPrivilegeEscalation"] !== false) return errors;
  if (context["privileged"] === true) {
    errors.push(
      invalidText(path, goContext(context), "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"),
    );
  }
  const added = child(context, "capabilities")?.["add"];
  if (
    Array.isArray(added) &&
    added.some((capability) => capability === "CAP_SYS_ADMIN" || capability === "SYS_ADMIN")
  ) {
    const detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
    errors.push(invalidText(path, goContext(context), detail));
  }
  return errors;
}

const goFields = [
  ...["capabilities", "privileged", "seLinuxOptions", "windowsOptions", "runAsUser", "runAsGroup", "runAsNonRoot"],
  ...["readOnlyRootFilesystem", "allowPrivilegeEscalation", "procMount", "seccompProfile", "appArmorProfile"],
];

/** The message shows the server's inner form, whose fields have capital letters. */
function goContext(context: Draft): string {
  const members = goFields.map((field) => {
    const name = field === "seLinuxOptions" ? "SELinuxOptions" : field.charAt(0).toUpperCase() + field.slice(1);
    return `${JSON.stringify(name)}:${JSON.stringify(context[field] ?? null)}`;
  });
  return `{${members.join(",")}}`;
}
