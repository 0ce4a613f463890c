import { stringifyYaml } from "../../kube/yaml.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import { type Answer, json, warningHeader } from "../protocol/respond.ts";
import type { Entry } from "../storage/entry.ts";
import { partialObjectMetadata } from "./partial-metadata.ts";
import { tableOf } from "./table.ts";

/** One stored object in the form that the client asked for. */
export function encodeObject(parts: ServerParts, request: ApiRequest, status: number, entry: Entry): Answer {
  const { form, endpoint } = request;
  const headers = warningHeader(request.warnings);
  const seen = endpoint.view(entry);
  if (form.kind === "Object" && !form.yaml && !form.pretty) {
    return { status, contentType: "application/json", body: seen.bytes, headers };
  }
  return encodeValue(request, status, formObject(parts, request, seen), headers);
}

function formObject(parts: ServerParts, { form, endpoint, info }: ApiRequest, entry: Entry): unknown {
  switch (form.kind) {
    case "Object":
      return entry.object;
    case "PartialObjectMetadata":
      return partialObjectMetadata(form.version, entry.object);
    case "Table":
      return tableOf(endpoint.resource, form.version, [entry.object], {
        metadata: { resourceVersion: entry.object.metadata.resourceVersion ?? "" },
        now: parts.env.now(),
        includeObject: info.query.get("includeObject"),
      });
  }
}

/** Any other value that answers a request about a resource. */
export function encodeValue(
  { form }: Pick<ApiRequest, "form">,
  status: number,
  value: unknown,
  headers?: Readonly<Record<string, string>>,
): Answer {
  const extra = headers && { headers };
  if (form.kind === "Object" && form.yaml) {
    return { status, contentType: "application/yaml", body: Buffer.from(stringifyYaml(value)), ...extra };
  }
  if (form.pretty) {
    return {
      status,
      contentType: "application/json",
      body: Buffer.from(`${JSON.stringify(value, null, 2)}\n`),
      ...extra,
    };
  }
  return json(status, value, headers);
}
