import { type FieldError, forbidden, invalid, required } from "../../../kube/field-error.ts";
import { dns1035LabelErrors, dns1123SubdomainErrors } from "../../../kube/names.ts";
import { child, type Draft, items, strings, text } from "../draft.ts";
import { immutableMessage } from "../object-meta.ts";
import { clientErrors } from "./admission.ts";
import { checkOneOf, checkRequiredOneOf, type Errors, invalidText } from "./rules.ts";

/** CustomResourceDefinition, besides what its schemas say: those are judged by whoever enforces them. */

export function validateDefinition(object: Draft): Errors {
  const spec = child(object, "spec") ?? {};
  const name = text(child(object, "metadata"), "name");
  const [group, plural] = [text(spec, "group"), text(child(spec, "names"), "plural")];
  const errors: FieldError[] = [];
  if (name !== "" && name !== `${plural}.${group}`)
    errors.push(invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group'));
  errors.push(
    ...groupErrors(group),
    ...checkRequiredOneOf(text(spec, "scope"), "spec.scope", ["Cluster", "Namespaced"]),
  );
  errors.push(...versionErrors(spec), ...nameErrors(child(spec, "names"), "spec.names", true));
  errors.push(
    ...conversionErrors(child(spec, "conversion")),
    ...preserveErrors(spec),
    ...storedErrors(object),
    ...approvalErrors(object, group),
  );
  return errors;
}

function groupErrors(group: string): Errors {
  if (group === "") return [required("spec.group")];
  const wrong = dns1123SubdomainErrors(group);
  if (wrong.length > 0) return wrong.map((error) => invalid("spec.group", group, error));
  return group.includes(".") ? [] : [invalid("spec.group", group, "should be a domain with at least one dot")];
}

function versionErrors(spec: Draft): Errors {
  const versions = items(spec, "versions");
  const errors: FieldError[] = [];
  const names = versions.map((version) => text(version, "name"));
  errors.push(...versions.flatMap((version, index) => versionNameErrors(version, `spec.versions[${index}].name`)));
  if (new Set(names).size !== names.length)
    errors.push(invalidText("spec.versions", goVersions(versions), "must contain unique version names"));
  if (versions.filter((version) => version["storage"] === true).length !== 1) {
    errors.push(
      invalidText("spec.versions", goVersions(versions), "must have exactly one version marked as storage version"),
    );
  }
  const [first] = names;
  if (first !== undefined) {
    errors.push(...dns1035LabelErrors(first).map((error) => invalid("spec.version", first, error)));
  }
  return [...errors, ...versions.flatMap((version, index) => versionBodyErrors(version, versions, index))];
}

const versionNameErrors = (version: Draft, path: string): Errors =>
  dns1035LabelErrors(text(version, "name")).map((error) => invalid(path, text(version, "name"), error));

/** A single version, or several that agree, are shown by the real server as fields of the whole definition. */
function versionBodyErrors(version: Draft, all: readonly Draft[], index: number): Errors {
  const shared = (field: string): string => (all.length === 1 ? "spec" : `spec.versions[${index}]`) + field;
  const schema = child(child(version, "schema"), "openAPIV3Schema");
  const errors: FieldError[] = [];
  if (!schema) errors.push(required(`spec.versions[${index}].schema.openAPIV3Schema`));
  else if (text(schema, "type") !== "object") {
    const field =
      all.length === 1 ? "spec.validation.openAPIV3Schema.type" : `spec.versions[${index}].schema.openAPIV3Schema.type`;
    if (text(schema, "type") === "") errors.push(required(field, "must not be empty at the root"));
    else errors.push(invalid(field, text(schema, "type"), "must be object at the root"));
  }
  const scale = child(child(version, "subresources"), "scale");
  if (scale) errors.push(...scaleErrors(scale, shared(".subresources.scale")));
  errors.push(
    ...items(version, "additionalPrinterColumns").flatMap((column, at) =>
      columnErrors(column, `${shared(".additionalPrinterColumns")}[${at}]`),
    ),
  );
  return errors;
}

function scaleErrors(scale: Draft, path: string): Errors {
  return [
    ["specReplicasPath", ".spec."],
    ["statusReplicasPath", ".status."],
  ].flatMap(([field = "", prefix = ""]) => {
    const value = text(scale, field);
    if (value === "") return [required(`${path}.${field}`)];
    return value.startsWith(prefix)
      ? []
      : [invalid(`${path}.${field}`, value, `should be a json path under ${prefix.slice(0, -1)}`)];
  });
}

const columnTypes = "boolean,date,integer,number,string";
const columnFormats = "byte,date,date-time,double,float,int32,int64,password";

function columnErrors(column: Draft, path: string): Errors {
  const [name, type, format, jsonPath] = ["name", "type", "format", "jsonPath"].map((field) => text(column, field));
  const errors: FieldError[] = name === "" ? [required(`${path}.name`)] : [];
  if (type === "") errors.push(required(`${path}.type`, `must be one of ${columnTypes}`));
  else if (!columnTypes.split(",").includes(type ?? ""))
    errors.push(invalid(`${path}.type`, type, `must be one of ${columnTypes}`));
  if (format !== "" && !columnFormats.split(",").includes(format ?? "")) {
    errors.push(invalid(`${path}.format`, format, `must be one of ${columnFormats}`));
  }
  if (jsonPath === "") errors.push(required(`${path}.JSONPath`));
  else if (!jsonPath?.startsWith("."))
    errors.push(invalid(`${path}.JSONPath`, jsonPath, "must be a simple json path starting with ."));
  return errors;
}

function nameErrors(names: Draft | undefined, path: string, needsListKind: boolean): Errors {
  const errors: FieldError[] = [];
  const label = (field: string): void => {
    const value = text(names, field);
    if (value === "") errors.push(required(`${path}.${field}`));
    else errors.push(...dns1035LabelErrors(value).map((error) => invalid(`${path}.${field}`, value, error)));
  };
  const kindName = (field: string): void => {
    const value = text(names, field);
    if (value === "") errors.push(required(`${path}.${field}`));
    else {
      const prefix = "may have mixed case, but should otherwise match: ";
      errors.push(
        ...dns1035LabelErrors(value.toLowerCase()).map((error) =>
          invalid(`${path}.${field}`, value, `${prefix}${error}`),
        ),
      );
    }
  };
  label("plural");
  label("singular");
  kindName("kind");
  if (needsListKind) kindName("listKind");
  for (const [index, short] of strings(names, "shortNames").entries()) {
    errors.push(...dns1035LabelErrors(short).map((error) => invalid(`${path}.shortNames[${index}]`, short, error)));
  }
  const [kind, listKind] = [text(names, "kind"), text(names, "listKind")];
  if (kind !== "" && kind === listKind)
    errors.push(invalid(`${path}.listKind`, listKind, "kind and listKind may not be the same"));
  for (const [index, category] of strings(names, "categories").entries()) {
    errors.push(
      ...dns1035LabelErrors(category).map((error) => invalid(`${path}.categories[${index}]`, category, error)),
    );
  }
  return errors;
}

function conversionErrors(conversion: Draft | undefined): Errors {
  const path = "spec.conversion";
  const strategy = text(conversion, "strategy");
  const webhook = child(conversion, "webhook");
  const client = child(webhook, "clientConfig");
  const versions = strings(webhook, "conversionReviewVersions");
  const errors: FieldError[] = [...checkOneOf(strategy, `${path}.strategy`, ["None", "Webhook"])];
  if (strategy === "Webhook") {
    if (!client) errors.push(required(`${path}.webhookClientConfig`, "required when strategy is set to Webhook"));
    else errors.push(...clientErrors(client, `${path}.webhookClientConfig`));
    if (versions.length === 0) errors.push(required(`${path}.conversionReviewVersions`));
    return errors;
  }
  if (client)
    errors.push(forbidden(`${path}.webhookClientConfig`, "should not be set when strategy is not set to Webhook"));
  return errors;
}

function preserveErrors(spec: Draft): Errors {
  if (spec["preserveUnknownFields"] !== true) return [];
  const detail =
    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
  return [invalid("spec.preserveUnknownFields", true, detail)];
}

/** What may be in storage must be something that can be read. */
function storedErrors(object: Draft): Errors {
  const stored = strings(child(object, "status"), "storedVersions");
  const versions = items(child(object, "spec"), "versions");
  const path = "status.storedVersions";
  if (stored.length === 0) return [invalid(path, null, "must have at least one stored version")];
  const names = versions.map((version) => text(version, "name"));
  const errors: FieldError[] = stored.flatMap((version, index) =>
    names.includes(version)
      ? []
      : [
          invalid(
            `${path}[${index}]`,
            version,
            `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`,
          ),
        ],
  );
  const storage = versions.findLast((version) => version["storage"] === true);
  if (versions.filter((version) => version["storage"] === true).length > 1) {
    errors.push(invalid(path, stored, `must have the storage version ${text(storage, "name")}`));
  }
  return errors;
}

const approval = "api-approved.kubernetes.io";

function approvalErrors(object: Draft, group: string): Errors {
  const isProtected = /(^|\.)(k8s\.io|kubernetes\.io)$/.test(group);
  if (!isProtected) return [];
  const value = text(child(child(object, "metadata"), "annotations"), approval);
  const path = `metadata.annotations[${approval}]`;
  if (value === "") {
    const detail = `protected groups must have approval annotation "${approval}", see https://github.com/kubernetes/enhancements/pull/1111`;
    return [required(path, detail)];
  }
  if (value.startsWith("unapproved") || URL.canParse(value)) return [];
  const detail =
    'protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111';
  return [invalid(path, value, detail)];
}

function goVersions(versions: readonly Draft[]): string {
  if (versions.length === 0) return "null";
  return JSON.stringify(
    versions.map((version) => ({
      Name: text(version, "name"),
      Served: version["served"] === true,
      Storage: version["storage"] === true,
      Deprecated: version["deprecated"] === true,
      DeprecationWarning: version["deprecationWarning"] ?? null,
      Schema: null,
      Subresources: null,
      AdditionalPrinterColumns: null,
      SelectableFields: null,
    })),
  );
}

/** The names under which objects are stored stay as they are. */
export function validateDefinitionUpdate(object: Draft, old: Draft): Errors {
  const [spec, before] = [child(object, "spec"), child(old, "spec")];
  const isEstablished = items(child(old, "status"), "conditions").some(
    (condition) => text(condition, "type") === "Established" && text(condition, "status") === "True",
  );
  const errors: FieldError[] = [];
  const fixed = (field: string, now: unknown, then: unknown): void => {
    if (now !== then) errors.push(invalid(`spec.${field}`, now, immutableMessage));
  };
  if (isEstablished) {
    fixed("scope", spec?.["scope"], before?.["scope"]);
    fixed("names.kind", child(spec, "names")?.["kind"], child(before, "names")?.["kind"]);
  }
  fixed("group", spec?.["group"], before?.["group"]);
  fixed("names.plural", child(spec, "names")?.["plural"], child(before, "names")?.["plural"]);
  return errors;
}
