import Pool from "undici/lib/dispatcher/pool.js";
import type { Env } from "../env/env.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "../http/message.ts";
import type { ClientMetrics } from "./client-metrics.ts";
import type { ClientCertificate, ClusterAccess, TextSource } from "./cluster-access.ts";
import { ConnectionError } from "./connection-error.ts";
import { type Connector, createConnector, type TlsMaterial } from "./connector.ts";
import { createCredentials, type Identity } from "./credentials.ts";
import { dispatch } from "./dispatch.ts";
import { RotatingFile } from "./rotating-file.ts";

/**
 * HTTP over sockets to one cluster: connections are kept and shared, credentials are added and renewed, and a CA bundle
 * or client certificate that changes on disk is taken up without a restart.
 */
export interface Transport {
  readonly handle: HttpHandler;
  /** Ends every connection; streams that are under way break. */
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly env: Env;
  readonly metrics?: ClientMetrics;
  /** For credential plugins, which inherit it. */
  readonly processEnv?: Readonly<Record<string, string | undefined>>;
  /** Connections for ordinary requests; streams have their own and are not counted. */
  readonly maxConnections?: number;
}

export const defaultMaxConnections = 32;

export function createTransport(access: ClusterAccess, options: TransportOptions): Transport {
  const server = new URL(access.server);
  const prefix = server.pathname.replace(/\/+$/, "");
  const credentials = createCredentials(options.env, access, options.processEnv ?? {});
  const connections = new Connections(access, server, options);

  const sendAs = async (request: HttpRequest, identity: Identity): Promise<HttpResponse> => {
    const path = prefix + request.target;
    const headers = { ...request.headers, ...identity.headers };
    try {
      const ready = connections.current(identity.certificate);
      const pools = ready instanceof Promise ? await ready : ready;
      return await dispatch(pools.poolFor(request), request, path, headers);
    } catch (error) {
      if (!(error instanceof ConnectionError) || error.reason !== "TlsRejected") throw error;
      // The authority may have been replaced since we last looked; the request has not been sent.
      const renewed = await connections.reload(identity.certificate);
      if (!renewed) throw error;
      return await dispatch(renewed.poolFor(request), request, path, headers);
    }
  };

  return {
    async handle(request) {
      const current = credentials.current();
      const identity = current instanceof Promise ? await current : current;
      const response = await sendAs(request, identity);
      if (response.status !== 401) return response;
      const renewed = await credentials.renew(identity);
      if (!renewed) return response;
      for await (const _ of response.body);
      return sendAs(request, renewed);
    },
    close: () => connections.close(),
  };
}

/** The pools that belong to one set of certificates. */
class Pools {
  readonly material: TlsMaterial;
  readonly #connector: Connector;
  readonly #requests: Pool;
  readonly #streams: Pool;

  constructor(access: ClusterAccess, server: URL, material: TlsMaterial, options: TransportOptions) {
    this.material = material;
    this.#connector = createConnector({
      env: options.env,
      metrics: options.metrics ?? {},
      server,
      material,
      serverName: access.tls.serverName,
      skipVerify: access.tls.skipVerify,
      proxyUrl: access.proxyUrl,
    });
    // Time limits are the client's, which takes them from its Env.
    const shared = {
      connect: this.#connector.connect,
      allowH2: false,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: idleConnectionMs,
      maxHeaderSize: maxHeaderBytes,
    };
    this.#requests = new Pool(server.origin, {
      ...shared,
      connections: options.maxConnections ?? defaultMaxConnections,
    });
    // A watch holds its connection for minutes; were it counted, enough watches would leave none for requests.
    this.#streams = new Pool(server.origin, { ...shared, connections: null });
  }

  poolFor({ target }: HttpRequest): Pool {
    return longLived.test(target) ? this.#streams : this.#requests;
  }

  /** Lets what is under way finish on the old certificates. */
  retire(): void {
    for (const pool of [this.#requests, this.#streams]) pool.close().then(undefined, () => {});
  }

  async destroy(): Promise<void> {
    this.#connector.abandon();
    await Promise.all([this.#requests, this.#streams].map((pool) => pool.destroy()));
  }
}

const longLived = /[?&](watch|follow)=(true|1)(&|$)/;
/** Below the 90 s after which a Kubernetes API server closes an idle connection. */
const idleConnectionMs = 60_000;
const maxHeaderBytes = 64 * 1024;

class Connections {
  readonly #access: ClusterAccess;
  readonly #server: URL;
  readonly #options: TransportOptions;
  readonly #ca: Text;
  readonly #certificate: Text;
  readonly #key: Text;
  #pools: Pools | undefined;
  #closed = false;

  constructor(access: ClusterAccess, server: URL, options: TransportOptions) {
    this.#access = access;
    this.#server = server;
    this.#options = options;
    this.#ca = textOf(options.env, access.tls.ca);
    this.#certificate = textOf(options.env, access.tls.clientCertificate?.certificate);
    this.#key = textOf(options.env, access.tls.clientCertificate?.key);
  }

  /** Without waiting as long as the files have been read lately. */
  current(issued: ClientCertificate | undefined): Pools | Promise<Pools> {
    const isFresh = this.#ca.isFresh() && this.#certificate.isFresh() && this.#key.isFresh();
    if (isFresh && this.#pools && !this.#closed) return this.#poolsFor(this.#materialOf(issued));
    return this.#read(issued, false);
  }

  /** The pools for what the files say now, or undefined if that is nothing new. */
  async reload(issued: ClientCertificate | undefined): Promise<Pools | undefined> {
    const before = this.#pools;
    const after = await this.#read(issued, true);
    return after === before ? undefined : after;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#pools?.destroy();
  }

  async #read(issued: ClientCertificate | undefined, now: boolean): Promise<Pools> {
    if (this.#closed)
      throw new ConnectionError(`the transport to ${this.#server.origin} is closed`, {
        reason: "Refused",
        mayHaveBeenApplied: false,
      });
    await Promise.all([this.#ca.read(now), this.#certificate.read(now), this.#key.read(now)]);
    return this.#poolsFor(this.#materialOf(issued));
  }

  #materialOf(issued: ClientCertificate | undefined): TlsMaterial {
    const ca = this.#ca.text();
    const certificate = this.#certificate.text();
    const key = this.#key.text();
    const own = certificate !== undefined && key !== undefined ? { certificate, key } : undefined;
    return { ...(ca !== undefined && { ca }), ...((issued ?? own) && { certificate: issued ?? own }) } as TlsMaterial;
  }

  #poolsFor(material: TlsMaterial): Pools {
    if (this.#pools && isSame(this.#pools.material, material)) return this.#pools;
    this.#pools?.retire();
    this.#pools = new Pools(this.#access, this.#server, material, this.#options);
    return this.#pools;
  }
}

const isSame = (one: TlsMaterial, other: TlsMaterial): boolean =>
  one.ca === other.ca &&
  one.certificate?.certificate === other.certificate?.certificate &&
  one.certificate?.key === other.certificate?.key;

/** Inline text never changes; a file may. */
interface Text {
  text(): string | undefined;
  isFresh(): boolean;
  read(now: boolean): Promise<void>;
}

function textOf(env: Env, source: TextSource | undefined): Text {
  if (source?.kind !== "File") return { text: () => source?.text, isFresh: () => true, read: async () => {} };
  const file = new RotatingFile(env, source.path, source.label);
  let last: string | undefined;
  return {
    text: () => last,
    isFresh: () => file.fresh !== undefined,
    async read(now) {
      last = await (now ? file.reload() : file.current());
    },
  };
}
