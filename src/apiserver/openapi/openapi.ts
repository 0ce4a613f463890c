import { createHash } from "node:crypto";
import type { Discovery } from "../discovery/discovery.ts";
import type { Endpoint } from "../endpoint.ts";
import { parseAccept } from "../protocol/negotiate.ts";
import type { NonResourceRequestInfo } from "../protocol/request-info.ts";
import { type Answer, json } from "../protocol/respond.ts";
import { notAcceptable } from "../protocol/status-error.ts";
import type { ResourceTable } from "../resource-table.ts";
import { serverVersion } from "../version.ts";
import { documentV2 } from "./document-v2.ts";
import { documentV3 } from "./document-v3.ts";
import { encodeV2 } from "./protobuf-v2.ts";

interface Document {
  readonly body: Buffer;
  readonly etag: string;
}

/** OpenAPI documents, made when somebody asks and kept while the endpoints that they describe stay. */
export class OpenApi {
  readonly #resources: ResourceTable;
  readonly #discovery: Discovery;
  readonly #documents = new Map<string, { readonly hash: string; readonly document: Document }>();
  readonly #hashes = new WeakMap<Endpoint, string>();

  constructor(resources: ResourceTable, discovery: Discovery) {
    this.#resources = resources;
    this.#discovery = discovery;
  }

  /** Undefined when the path is not one of OpenAPI. */
  answer({ path }: NonResourceRequestInfo, headers: Readonly<Record<string, string>>): Answer | undefined {
    if (path === "/openapi/v3" || path === "/openapi/v3/") return this.#index();
    if (path === "/openapi/v2") {
      const { all } = this.#resources;
      const hash = this.#hashOf(all);
      if (acceptsJson(headers["accept"])) return this.#serve("v2", hash, headers, () => inJson(documentV2(all)));
      if (!acceptsProtobuf(headers["accept"])) throw notAcceptable(["application/json", protobufTypes[0] ?? ""]);
      const answer = this.#serve("v2.pb", hash, headers, () => encodeV2(documentV2(all)));
      return { ...answer, contentType: "application/com.github.proto-openapi.spec.v2.v1.0+protobuf" };
    }
    if (!path.startsWith("/openapi/v3/")) return undefined;
    const wanted = path.slice("/openapi/v3/".length);
    const found = this.#versions().find(({ name }) => name === wanted);
    if (!found) return undefined;
    return this.#serve(wanted, this.#hashOf(found.endpoints), headers, () => inJson(documentV3(found.endpoints)));
  }

  #index(): Answer {
    const paths = Object.fromEntries(
      this.#versions().map(({ name, endpoints }) => [
        name,
        { serverRelativeURL: `/openapi/v3/${name}?hash=${this.#hashOf(endpoints)}` },
      ]),
    );
    // The real server forgets to say that this is JSON.
    return { ...json(200, { paths }), contentType: "text/plain; charset=utf-8" };
  }

  #versions(): readonly { readonly name: string; readonly endpoints: readonly Endpoint[] }[] {
    return this.#discovery.groups.flatMap(({ name, versions }) =>
      versions.map(({ version, endpoints }) => ({
        name: name === "" ? `api/${version}` : `apis/${name}/${version}`,
        endpoints,
      })),
    );
  }

  #serve(name: string, hash: string, headers: Readonly<Record<string, string>>, make: () => Buffer): Answer {
    let kept = this.#documents.get(name);
    if (kept?.hash !== hash) {
      kept = { hash, document: { body: make(), etag: `"${hash}"` } };
      this.#documents.set(name, kept);
    }
    const { body, etag } = kept.document;
    const contentType = "application/json";
    const extra = { etag, vary: "Accept" };
    if (headers["if-none-match"] === etag) return { status: 304, contentType, body: new Uint8Array(), headers: extra };
    return { status: 200, contentType, body, headers: extra };
  }

  #hashOf(endpoints: readonly Endpoint[]): string {
    const hash = createHash("sha512").update(serverVersion.gitVersion);
    for (const endpoint of endpoints) hash.update(this.#endpointHash(endpoint));
    return hash.digest("hex").toUpperCase();
  }

  /** Built-in kinds change only with the server's version. */
  #endpointHash(endpoint: Endpoint): string {
    const { resource, isCustom, apiVersion } = endpoint;
    if (!isCustom) return `${apiVersion}/${resource.plural}`;
    let hash = this.#hashes.get(endpoint);
    if (hash === undefined) {
      const { schema, subresources, plural, kind, namespaced } = resource;
      hash = createHash("sha256")
        .update(JSON.stringify([apiVersion, plural, kind, namespaced, subresources, schema]))
        .digest("hex");
      this.#hashes.set(endpoint, hash);
    }
    return hash;
  }
}

const inJson = (document: object): Buffer => Buffer.from(JSON.stringify(document));

const protobufTypes = [
  "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
  "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
];

const acceptsProtobuf = (accept: string | undefined): boolean =>
  parseAccept(accept ?? "").some(({ type }) => protobufTypes.includes(type));

function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept === "") return true;
  return parseAccept(accept).some(
    ({ type }) => type === "application/json" || type === "*/*" || type === "application/*",
  );
}
