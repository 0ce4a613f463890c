import { generateKeyPairSync } from "node:crypto";
import type { Env } from "../env/env.ts";
import type { HttpHandler } from "../http/message.ts";
import { builtinAdmission } from "./admission/builtin-admission.ts";
import { admissionChain } from "./admission/chain.ts";
import { limitRanger } from "./admission/limit-ranger.ts";
import { namespaceLifecycle } from "./admission/namespace-lifecycle.ts";
import { PolicyAdmission } from "./admission/policies.ts";
import { Quotas } from "./admission/quotas.ts";
import { type CallWebhook, webhookCaller } from "./admission/webhook-call.ts";
import { WebhookAdmission } from "./admission/webhooks.ts";
import { Authenticator, type StaticToken } from "./auth/authenticate.ts";
import { preventEscalation } from "./auth/escalation.ts";
import { createTokenSigner } from "./auth/jwt.ts";
import { RbacAuthorizer } from "./auth/rbac.ts";
import { RoleAggregation } from "./auth/role-aggregation.ts";
import { TokenChecker } from "./auth/service-account-tokens.ts";
import { ensureBootstrapEntries } from "./bootstrap-entries.ts";
import { builtinEndpoints } from "./builtin-endpoints.ts";
import { DefinitionKeeper } from "./crd/definition-keeper.ts";
import { decodeProtobufBody } from "./decode/protobuf.ts";
import { Discovery } from "./discovery/discovery.ts";
import { defaultEventTtlMs, expireEvents } from "./event-expiry.ts";
import { internalRequest } from "./internal-request.ts";
import { OpenApi } from "./openapi/openapi.ts";
import { publishOwnAddress } from "./own-address.ts";
import type { ServerParts } from "./parts.ts";
import { handle } from "./pipeline.ts";
import { ResourceTable } from "./resource-table.ts";
import { createMemoryLog } from "./storage/commit-log.ts";
import type { HistoryLimits } from "./storage/compactor.ts";
import { createSqliteLog } from "./storage/sqlite-log.ts";
import { Store } from "./storage/store.ts";
import type { PodLogs } from "./subresources/log.ts";
import { deleteObject } from "./writes/delete.ts";
import { fieldManagerOf } from "./writes/managers.ts";

export interface ApiServerOptions {
  readonly env: Env;
  /** The SQLite file, or `:memory:` to keep nothing. */
  readonly file: string;
  readonly history?: Partial<HistoryLimits>;
  /** How long Events are kept after they were last written. */
  readonly eventTtlMs?: number;
  /** Bearer tokens with their users, such as the administrator's. */
  readonly tokens?: readonly StaticToken[];
  /** PEM, EC P-256: signs the tokens of ServiceAccounts. Without one they end with the process. */
  readonly tokenKey?: string;
  /** Where clients reach the server, as discovery tells it: `127.0.0.1:6443`. */
  readonly serverAddress?: () => string;
  /** Replaces the HTTPS call to webhooks, where there is no network. */
  readonly callWebhook?: CallWebhook;
  /** Brought by whoever runs the containers. */
  readonly podLogs?: PodLogs;
  /** Without what every server has, for those who want to make it. */
  readonly startsEmpty?: boolean;
}

/** An embedded Kubernetes API: a handler for requests, whether they come over a socket or from the same process. */
export interface ApiServer {
  readonly handle: HttpHandler;
  /** Says in the API itself where clients reach it. */
  publishAddress(ip: string, port: number): Promise<void>;
  close(): Promise<void>;
}

export async function createApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { env } = options;
  const log = options.file === ":memory:" ? createMemoryLog() : createSqliteLog(options.file);
  const store = new Store(env, log, options.history);
  const resources = new ResourceTable(builtinEndpoints());
  const serverAddress = options.serverAddress ?? (() => "");
  const tokenSigner = createTokenSigner(options.tokenKey ?? newTokenKey());
  const authorizer = new RbacAuthorizer(store);
  const discovery = new Discovery(resources, serverAddress);
  const parts: ServerParts = {
    env,
    store,
    resources,
    serverAddress,
    discovery,
    openApi: new OpenApi(resources, discovery),
    admission: admissionChain([
      namespaceLifecycle(store),
      limitRanger(store),
      builtinAdmission(env, store),
      preventEscalation(authorizer),
      new WebhookAdmission(env, store, authorizer, options.callWebhook ?? webhookCaller(env)),
      new PolicyAdmission(store, resources, authorizer),
    ]),
    quotas: new Quotas(env, store, () => resources.find("", "v1", "resourcequotas")),
    authenticator: new Authenticator(options.tokens ?? [], new TokenChecker(env, store, tokenSigner)),
    authorizer,
    tokenSigner,
    decodeProtobuf: decodeProtobufBody,
    ...(options.podLogs && { podLogs: options.podLogs }),
  };
  const definitions = new DefinitionKeeper(env, store, resources, {
    async removeObject(endpoint, key) {
      await deleteObject(parts, internalRequest(endpoint, "DELETE"), key, {
        dryRun: false,
        preconditions: {},
        given: {},
      });
    },
    recordStatus(updated, live) {
      const endpoint = resources.find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
      if (!endpoint) return updated;
      return fieldManagerOf(endpoint).update({
        live,
        updated,
        manager: "kube-apiserver",
        subresource: "status",
        now: env.now(),
      });
    },
  });
  const aggregation = new RoleAggregation(store);
  definitions.start();
  if (!options.startsEmpty) await ensureBootstrapEntries(env, store);
  aggregation.start();
  const stopExpiring = expireEvents(env, store, options.eventTtlMs ?? defaultEventTtlMs);
  return {
    handle: (request) => handle(parts, request),
    publishAddress: (ip, port) => publishOwnAddress(env, store, ip, port),
    async close() {
      stopExpiring();
      definitions.stop();
      aggregation.stop();
      await store.close();
    },
  };
}

const newTokenKey = (): string =>
  generateKeyPairSync("ec", { namedCurve: "prime256v1" })
    .privateKey.export({ type: "pkcs8", format: "pem" })
    .toString();
