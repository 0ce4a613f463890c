import type { Endpoint } from "./endpoint.ts";

/** All resources that the server serves now. Built-in ones are fixed; custom ones come and go with their definitions. */
export class ResourceTable {
  readonly #builtIn: readonly Endpoint[];
  #custom: readonly Endpoint[] = [];
  #byPath = new Map<string, Endpoint>();
  #version = 0;

  constructor(builtIn: readonly Endpoint[]) {
    this.#builtIn = builtIn;
    this.#index();
  }

  /** Changes whenever the set of resources does: discovery and OpenAPI documents are kept for one version. */
  get version(): number {
    return this.#version;
  }

  get all(): readonly Endpoint[] {
    return [...this.#builtIn, ...this.#custom];
  }

  find(group: string, version: string, plural: string): Endpoint | undefined {
    return this.#byPath.get(`${group}/${version}/${plural}`);
  }

  findKind(group: string, version: string, kind: string): Endpoint | undefined {
    return this.all.find(({ resource: r }) => r.group === group && r.version === version && r.kind === kind);
  }

  isCustomGroup(group: string): boolean {
    return this.#custom.some(({ resource }) => resource.group === group) && !this.isBuiltInGroup(group);
  }

  isBuiltInGroup(group: string): boolean {
    return this.#builtIn.some(({ resource }) => resource.group === group);
  }

  /** One endpoint for each stored collection: what has to be looked through when a namespace goes. */
  get collections(): readonly Endpoint[] {
    return [...new Map(this.all.map((endpoint) => [endpoint.collection, endpoint])).values()];
  }

  replaceCustom(endpoints: readonly Endpoint[]): void {
    this.#custom = endpoints;
    this.#index();
  }

  #index(): void {
    this.#byPath = new Map(
      this.all.map((endpoint) => {
        const { group, version, plural } = endpoint.resource;
        return [`${group}/${version}/${plural}`, endpoint];
      }),
    );
    this.#version++;
  }
}
