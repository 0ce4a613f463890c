import { createHash } from "node:crypto";
import { parseAccept } from "../protocol/negotiate.ts";
import type { NonResourceRequestInfo } from "../protocol/request-info.ts";
import type { Answer } from "../protocol/respond.ts";
import { json } from "../protocol/respond.ts";
import type { ResourceTable } from "../resource-table.ts";
import { groupDiscoveryList } from "./aggregated.ts";
import { type DiscoveredGroup, groupEndpoints } from "./groups.ts";
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from "./legacy.ts";

/** What is served, in the document that the client understands. Documents are made once for each set of resources. */
export class Discovery {
  readonly #resources: ResourceTable;
  readonly #serverAddress: () => string;
  #version = -1;
  #groups: readonly DiscoveredGroup[] = [];
  #aggregated = new Map<string, { readonly body: Buffer; readonly etag: string }>();

  constructor(resources: ResourceTable, serverAddress: () => string) {
    this.#resources = resources;
    this.#serverAddress = serverAddress;
  }

  /** Undefined when the path is not one of discovery. */
  answer({ path }: NonResourceRequestInfo, headers: Readonly<Record<string, string>>): Answer | undefined {
    const [root, group, version, ...rest] = path.split("/").filter((segment) => segment !== "");
    if (rest.length > 0) return undefined;
    if (root === "api" && version === undefined) {
      if (group === undefined) return this.#groupList("api", headers);
      return this.#resourceList("", group);
    }
    if (root !== "apis") return undefined;
    if (group === undefined) return this.#groupList("apis", headers);
    if (version !== undefined) return this.#resourceList(group, version);
    const found = this.#current().find(({ name }) => name === group);
    return found && json(200, apiGroup(found));
  }

  /** The groups and versions that are served now. */
  get groups(): readonly DiscoveredGroup[] {
    return this.#current();
  }

  #groupList(root: "api" | "apis", headers: Readonly<Record<string, string>>): Answer {
    const wanted = aggregatedVersion(headers["accept"]);
    if (!wanted) {
      return json(200, root === "api" ? apiVersions(this.#serverAddress()) : apiGroupList(this.#current()), {
        vary: "Accept",
      });
    }
    const groups = this.#current().filter(({ name }) => (name === "") === (root === "api"));
    const key = `${root}/${wanted}`;
    let document = this.#aggregated.get(key);
    if (!document) {
      const body = Buffer.from(JSON.stringify(groupDiscoveryList(wanted, groups)));
      document = { body, etag: `"${createHash("sha512").update(body).digest("hex").toUpperCase()}"` };
      this.#aggregated.set(key, document);
    }
    const contentType = `application/json;g=apidiscovery.k8s.io;v=${wanted};as=APIGroupDiscoveryList`;
    const extra = { etag: document.etag, vary: "Accept", "cache-control": "public" };
    if (headers["if-none-match"] === document.etag) {
      return { status: 304, contentType, body: new Uint8Array(), headers: extra };
    }
    return { status: 200, contentType, body: document.body, headers: extra };
  }

  #resourceList(group: string, version: string): Answer | undefined {
    const found = this.#current()
      .find(({ name }) => name === group)
      ?.versions.find((each) => each.version === version);
    return found && json(200, apiResourceList(found));
  }

  #current(): readonly DiscoveredGroup[] {
    if (this.#version !== this.#resources.version) {
      this.#version = this.#resources.version;
      this.#groups = groupEndpoints(this.#resources.all);
      this.#aggregated = new Map();
    }
    return this.#groups;
  }
}

/** Like the real server, wherever it stands among the alternatives. The version must be the very one that the client asked for: older clients stop at a document that they do not know. */
function aggregatedVersion(accept: string | undefined): "v2" | "v2beta1" | undefined {
  if (accept === undefined) return undefined;
  for (const { type, parameters } of parseAccept(accept)) {
    if (type !== "application/json") continue;
    const { as, g: group, v: version } = parameters;
    if (
      as === "APIGroupDiscoveryList" &&
      group === "apidiscovery.k8s.io" &&
      (version === "v2" || version === "v2beta1")
    ) {
      return version;
    }
  }
  return undefined;
}
