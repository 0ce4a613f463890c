import type { KubeObject, ListMeta } from "../../kube/object.ts";
import type { Endpoint } from "../endpoint.ts";
import type { ApiRequest, ServerParts } from "../parts.ts";
import { type Answer, warningHeader } from "../protocol/respond.ts";
import type { Entry } from "../storage/entry.ts";
import { encodeValue } from "./object.ts";
import { partialObjectMetadata } from "./partial-metadata.ts";
import { tableOf } from "./table.ts";

/** A list in the form that the client asked for; plain JSON is put together from the stored bytes. */
export function encodeList(
  parts: ServerParts,
  request: ApiRequest,
  entries: readonly Entry[],
  metadata: ListMeta,
): Answer {
  const { form, endpoint, info } = request;
  const { resource, apiVersion } = endpoint;
  const headers = warningHeader(request.warnings);
  const seen = entries.map((entry) => endpoint.view(entry));
  switch (form.kind) {
    case "Table":
      return encodeValue(
        request,
        200,
        tableOf(resource, form.version, objectsOf(seen), {
          metadata,
          now: parts.env.now(),
          includeObject: info.query.get("includeObject"),
        }),
        headers,
      );
    case "PartialObjectMetadata": {
      const items = objectsOf(seen).map((object) => partialObjectMetadata(form.version, object));
      const kind = "PartialObjectMetadataList";
      return encodeValue(request, 200, { kind, apiVersion: `meta.k8s.io/${form.version}`, metadata, items }, headers);
    }
    case "Object": {
      const head = { kind: resource.listKind, apiVersion, metadata };
      if (form.yaml || form.pretty) return encodeValue(request, 200, { ...head, items: objectsOf(seen) }, headers);
      return { status: 200, contentType: "application/json", body: joinItems(head, endpoint, seen), headers };
    }
  }
}

const objectsOf = (entries: readonly Entry[]): readonly KubeObject[] => entries.map(({ object }) => object);

function joinItems(head: object, endpoint: Endpoint, entries: readonly Entry[]): Buffer {
  const skipped = headerLength(endpoint);
  const start = `${JSON.stringify(head).slice(0, -1)},"items":[`;
  const separator = skipped > 0 ? ",{" : ",";
  const length =
    Buffer.byteLength(start) +
    entries.reduce((sum, { bytes }) => sum + bytes.length - skipped + separator.length, 0) +
    2;
  const body = Buffer.allocUnsafe(length);
  let end = body.write(start);
  for (const [index, { bytes }] of entries.entries()) {
    end += body.write(index === 0 ? separator.slice(1) : separator, end, "latin1");
    end += bytes.copy(body, end, skipped);
  }
  end += body.write("]}", end, "latin1");
  return body.subarray(0, end);
}

/**
 * Like the real server, items of built-in lists do not repeat apiVersion and kind; stored bytes always begin with them.
 */
function headerLength({ isCustom, apiVersion, resource }: Endpoint): number {
  if (isCustom) return 0;
  return Buffer.byteLength(`{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(resource.kind)},`);
}
