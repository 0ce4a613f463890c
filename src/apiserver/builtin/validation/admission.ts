import { duplicate, type FieldError, forbidden, invalid, notSupported, required } from "../../../kube/field-error.ts";
import { type LabelSelector, validateLabelSelector } from "../../../kube/label-selector.ts";
import { dns1123SubdomainErrors } from "../../../kube/names.ts";
import { child, type Draft, items, numeral, strings, text } from "../draft.ts";
import { checkOneOf, checkQualifiedName, type Errors, requiredText } from "./rules.ts";

/** Admission policies, their bindings, and webhooks. Whether an expression can be read is the CEL room's business. */

const operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const scopes = ["*", "Cluster", "Namespaced"];
const failurePolicies = ["Fail", "Ignore"];
const matchPolicies = ["Equivalent", "Exact"];

function ruleErrors(rule: Draft, path: string): Errors {
  const [verbs, groups, versions, resources] = ["operations", "apiGroups", "apiVersions", "resources"].map((field) =>
    strings(rule, field),
  );
  const errors: FieldError[] = [];
  if (!verbs?.length) errors.push(required(`${path}.operations`));
  else if (verbs.includes("*") && verbs.length > 1) {
    errors.push(invalid(`${path}.operations`, verbs, "if '*' is present, must not specify other operations"));
  } else {
    for (const [index, verb] of verbs.entries()) {
      if (!operations.includes(verb)) errors.push(notSupported(`${path}.operations[${index}]`, verb, operations));
    }
  }
  if (!groups?.length) errors.push(required(`${path}.apiGroups`));
  else if (groups.includes("*") && groups.length > 1) {
    errors.push(invalid(`${path}.apiGroups`, groups, "if '*' is present, must not specify other API groups"));
  }
  if (!versions?.length) errors.push(required(`${path}.apiVersions`));
  else if (versions.includes("*") && versions.length > 1) {
    errors.push(invalid(`${path}.apiVersions`, versions, "if '*' is present, must not specify other API versions"));
  }
  if (!resources?.length) errors.push(required(`${path}.resources`));
  else if (resources.includes("*/*") && resources.length > 1) {
    errors.push(invalid(`${path}.resources`, resources, "if '*/*' is present, must not specify other resources"));
  }
  return [...errors, ...checkOneOf(text(rule, "scope"), `${path}.scope`, scopes)];
}

const selectors = (holder: Draft | undefined, path: string): Errors =>
  ["namespaceSelector", "objectSelector"].flatMap((field) =>
    validateLabelSelector(child(holder, field) as LabelSelector | undefined, `${path}.${field}`),
  );

export function validatePolicy(object: Draft): Errors {
  const spec = child(object, "spec") ?? {};
  const constraints = child(spec, "matchConstraints");
  const validations = items(spec, "validations");
  const errors: FieldError[] = [...checkOneOf(text(spec, "failurePolicy"), "spec.failurePolicy", failurePolicies)];
  const paramKind = child(spec, "paramKind");
  if (paramKind)
    errors.push(
      ...requiredText(paramKind, "apiVersion", "spec.paramKind"),
      ...requiredText(paramKind, "kind", "spec.paramKind"),
    );
  if (!constraints) errors.push(required("spec.matchConstraints"));
  else errors.push(...matchErrors(constraints, "spec.matchConstraints", true));
  if (validations.length === 0 && items(spec, "auditAnnotations").length === 0) {
    const detail = "validations or auditAnnotations must contain at least one item";
    errors.push(required("spec.validations", detail), required("spec.auditAnnotations", detail));
  }
  return [
    ...errors,
    ...validations.flatMap((validation, index) => validationErrors(validation, `spec.validations[${index}]`)),
    ...auditErrors(items(spec, "auditAnnotations"), text(child(object, "metadata"), "name")),
  ];
}

/** The name of the policy goes before each key. */
function auditErrors(annotations: readonly Draft[], policy: string): Errors {
  const keys = annotations.map((annotation) => text(annotation, "key"));
  return annotations.flatMap((annotation, index) => {
    const [path, key] = [`spec.auditAnnotations[${index}]`, keys[index] ?? ""];
    return [
      ...checkQualifiedName(`${policy}/${key}`, `${path}.key`),
      ...(text(annotation, "valueExpression").trim() === ""
        ? [required(`${path}.valueExpression`, "valueExpression is not specified")]
        : []),
      ...(keys.indexOf(key) < index ? [duplicate(`${path}.key`, key)] : []),
    ];
  });
}

function matchErrors(match: Draft, path: string, needsRules: boolean): Errors {
  const rules = items(match, "resourceRules");
  const errors: FieldError[] = [
    ...checkOneOf(text(match, "matchPolicy"), `${path}.matchPolicy`, matchPolicies),
    ...selectors(match, path),
  ];
  if (rules.length === 0 && needsRules) errors.push(required(`${path}.resourceRules`));
  return [
    ...errors,
    ...rules.flatMap((rule, index) => ruleErrors(rule, `${path}.resourceRules[${index}]`)),
    ...items(match, "excludeResourceRules").flatMap((rule, index) =>
      ruleErrors(rule, `${path}.excludeResourceRules[${index}]`),
    ),
  ];
}

const reasons = ["Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"];

function validationErrors(validation: Draft, path: string): Errors {
  const errors: FieldError[] = [];
  if (text(validation, "expression").trim() === "")
    errors.push(required(`${path}.expression`, "expression is not specified"));
  const message = text(validation, "message");
  if (message !== "" && message.trim() === "")
    errors.push(invalid(`${path}.message`, message, "message must be non-empty if specified"));
  else if (/[\n\r]/.test(message))
    errors.push(invalid(`${path}.message`, message, "message must not contain line breaks"));
  const reason = text(validation, "reason");
  if (reason !== "" && !reasons.includes(reason))
    errors.push(notSupported(`${path}.reason`, reason, reasons.slice(0, 3)));
  return errors;
}

const actions = ["Audit", "Deny", "Warn"];

export function validatePolicyBinding(object: Draft): Errors {
  const spec = child(object, "spec") ?? {};
  const reference = child(spec, "paramRef");
  const match = child(spec, "matchResources");
  return [
    ...(text(spec, "policyName") === ""
      ? [required("spec.policyName")]
      : dns1123SubdomainErrors(text(spec, "policyName")).map((error) =>
          invalid("spec.policyName", spec["policyName"], error),
        )),
    ...(reference ? parameterErrors(reference) : []),
    ...(match ? matchErrors(match, "spec.matchResouces", false) : []),
    ...actionErrors(strings(spec, "validationActions")),
  ];
}

function actionErrors(given: readonly string[]): Errors {
  const path = "spec.validationActions";
  if (given.length === 0) return [required(path, "at least one validation action is required")];
  const seen = new Set<string>();
  const errors: FieldError[] = given.flatMap((action, index) => {
    const field = `${path}[${index}]`;
    const isRepeated = seen.has(action);
    seen.add(action);
    if (isRepeated) return [{ type: "Duplicate", field, value: action, detail: "" }];
    return actions.includes(action) ? [] : [notSupported(field, action, actions)];
  });
  if (!seen.has("Deny") || !seen.has("Warn")) return errors;
  const detail =
    "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
  return [...errors, invalid(path, given, detail)];
}

function parameterErrors(reference: Draft): Errors {
  const path = "spec.paramRef";
  const [name, selector] = [text(reference, "name"), child(reference, "selector")];
  const errors: FieldError[] = [];
  if (name === "" && !selector) errors.push(required(path, "one of name or selector must be specified"));
  if (name !== "" && selector) errors.push(forbidden(`${path}.name`, "name and selector are mutually exclusive"));
  const action = text(reference, "parameterNotFoundAction");
  if (action === "") errors.push(required(`${path}.parameterNotFoundAction`));
  return [...errors, ...checkOneOf(action, `${path}.parameterNotFoundAction`, ["Allow", "Deny"])];
}

export function validateWebhooks(object: Draft): Errors {
  const names = new Set<string>();
  return items(object, "webhooks").flatMap((webhook, index) => {
    const path = `webhooks[${index}]`;
    const name = text(webhook, "name");
    const errors: FieldError[] = [...webhookErrors(webhook, path)];
    if (name !== "" && names.has(name))
      errors.push({ type: "Duplicate", field: `${path}.name`, value: name, detail: "" });
    names.add(name);
    return errors;
  });
}

const reviewVersions = ["v1", "v1beta1"];

function webhookErrors(webhook: Draft, path: string): Errors {
  const errors: FieldError[] = [...webhookNameErrors(text(webhook, "name"), `${path}.name`)];
  errors.push(...items(webhook, "rules").flatMap((rule, index) => ruleErrors(rule, `${path}.rules[${index}]`)));
  errors.push(...checkOneOf(text(webhook, "failurePolicy"), `${path}.failurePolicy`, failurePolicies));
  errors.push(...checkOneOf(text(webhook, "matchPolicy"), `${path}.matchPolicy`, matchPolicies));
  const effects = text(webhook, "sideEffects");
  if (effects === "") errors.push(required(`${path}.sideEffects`, "must specify one of None, NoneOnDryRun"));
  else errors.push(...checkOneOf(effects, `${path}.sideEffects`, ["None", "NoneOnDryRun"]));
  const seconds = numeral(webhook, "timeoutSeconds");
  if (seconds !== undefined && (seconds < 1 || seconds > 30)) {
    errors.push(invalid(`${path}.timeoutSeconds`, seconds, "the timeout value must be between 1 and 30 seconds"));
  }
  errors.push(...selectors(webhook, path), ...clientErrors(child(webhook, "clientConfig"), `${path}.clientConfig`));
  const versions = strings(webhook, "admissionReviewVersions");
  if (versions.length === 0)
    errors.unshift(required(`${path}.admissionReviewVersions`, "must specify one of v1, v1beta1"));
  else if (!versions.some((version) => reviewVersions.includes(version))) {
    errors.unshift(invalid(`${path}.admissionReviewVersions`, versions, "must include at least one of v1, v1beta1"));
  }
  return errors;
}

function webhookNameErrors(name: string, path: string): Errors {
  if (name === "") return [required(path)];
  const wrong = dns1123SubdomainErrors(name);
  if (wrong.length > 0) return wrong.map((error) => invalid(path, name, error));
  if (name.split(".").length >= 3) return [];
  return [invalid(path, name, "should be a domain with at least three segments separated by dots")];
}

const urlForm = "desired format: https://host[/path]";

export function clientErrors(config: Draft | undefined, path: string): Errors {
  const url = config?.["url"];
  const service = child(config, "service");
  if ((typeof url === "string") === (service !== undefined))
    return [required(path, "exactly one of url or service is required")];
  if (service)
    return [
      ...requiredText(service, "name", `${path}.service`),
      ...requiredText(service, "namespace", `${path}.service`),
    ];
  return typeof url === "string" ? urlErrors(url, `${path}.url`) : [];
}

function urlErrors(url: string, path: string): Errors {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed) return [required(path, `url must be a valid URL: parse ${JSON.stringify(url)}; ${urlForm}`)];
  const scheme = parsed.protocol.slice(0, -1);
  const errors: FieldError[] = [];
  if (scheme !== "https") errors.push(invalid(path, scheme, `'https' is the only allowed URL scheme; ${urlForm}`));
  if (parsed.username !== "")
    errors.push(invalid(path, parsed.username, "user information is not permitted in the URL"));
  if (parsed.hash !== "") errors.push(invalid(path, parsed.hash.slice(1), "fragments are not permitted in the URL"));
  if (parsed.search !== "")
    errors.push(invalid(path, parsed.search.slice(1), "query parameters are not permitted in the URL"));
  return errors;
}
