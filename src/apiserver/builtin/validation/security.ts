import { type FieldError, invalid, required } from "../../../kube/field-error.ts";
import { child, type Draft, items, numeral, text } from "../draft.ts";
import { checkRequiredOneOf, type Errors, invalidText } from "./rules.ts";

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
    ...sysctlErrors(context, path),
    ...seccompErrors(context, path),
  ];
}

const sysctlPattern = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const sysctlText = "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";

function sysctlErrors(context: Draft, path: string): Errors {
  return items(context, "sysctls").flatMap((sysctl, index) => {
    const name = text(sysctl, "name");
    if (name === "") return [required(`${path}.sysctls[${index}].name`)];
    if (name.length <= 253 && sysctlPattern.test(name)) return [];
    return [
      invalid(`${path}.sysctls[${index}].name`, name, `must have at most 253 characters and match regex ${sysctlText}`),
    ];
  });
}

function seccompErrors(context: Draft, path: string): Errors {
  const profile = child(context, "seccompProfile");
  if (!profile) return [];
  const field = `${path}.seccompProfile`;
  const type = text(profile, "type");
  if (type === "Localhost" && text(profile, "localhostProfile") === "") {
    return [required(`${field}.localhostProfile`, "must be set when seccomp type is Localhost")];
  }
  return checkRequiredOneOf(type, `${field}.type`, ["Localhost", "RuntimeDefault", "Unconfined"]);
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
  if (Array.isArray(added) && added.includes("CAP_SYS_ADMIN")) {
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
    return `${JSON.stringify(name)}:${JSON.stringify(field === "capabilities" ? goCapabilities(context) : (context[field] ?? null))}`;
  });
  return `{${members.join(",")}}`;
}

function goCapabilities(context: Draft): unknown {
  const capabilities = child(context, "capabilities");
  return capabilities ? { Add: capabilities["add"] ?? null, Drop: capabilities["drop"] ?? null } : null;
}
