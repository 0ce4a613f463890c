import { ConfigMap, Secret } from "../../api/builtin/configuration.ts";
import { isNotFound } from "../../client/api-error.ts";
import type { Client } from "../../client/client.ts";

/** Why a container cannot be started yet; it is tried again. */
export class NotStartable extends Error {
  readonly reason: "CreateContainerConfigError" | "ContainerCreating";

  constructor(reason: NotStartable["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The entries of ConfigMaps and Secrets of one namespace, each object asked for once. */
export class ConfigSource {
  readonly #client: Client;
  readonly #namespace: string;
  readonly #signal: AbortSignal;
  readonly #found = new Map<string, Promise<Entries | undefined>>();

  constructor(client: Client, namespace: string, signal: AbortSignal) {
    this.#client = client;
    this.#namespace = namespace;
    this.#signal = signal;
  }

  /** Undefined when it is missing and may be. */
  async entries(kind: ConfigKind, name: string, optional: boolean): Promise<Entries | undefined> {
    const id = `${kind}/${name}`;
    const asked = this.#found.get(id) ?? this.#fetch(kind, name);
    this.#found.set(id, asked);
    const found = await asked;
    if (found === undefined && !optional) {
      throw new NotStartable("CreateContainerConfigError", `${kind} ${JSON.stringify(name)} not found`);
    }
    return found;
  }

  async #fetch(kind: ConfigKind, name: string): Promise<Entries | undefined> {
    const key = { namespace: this.#namespace, name };
    const options = { signal: this.#signal };
    try {
      if (kind === "secret") return decoded((await this.#client.get(Secret, key, options)).data);
      const { data, binaryData } = await this.#client.get(ConfigMap, key, options);
      const text = Object.entries(data ?? {}).map(([entry, value]) => [entry, Buffer.from(value)] as const);
      return new Map([...decoded(binaryData), ...text]);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}

export type ConfigKind = "configmap" | "secret";
export type Entries = ReadonlyMap<string, Buffer>;

const decoded = (data: Readonly<Record<string, string>> | undefined): Entries =>
  new Map(Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64")]));
