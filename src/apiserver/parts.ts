import type { Env } from "../env/env.ts";
import type { HttpRequest } from "../http/message.ts";
import type { Admission } from "./admission/admission.ts";
import type { Quotas } from "./admission/quotas.ts";
import type { Authenticator } from "./auth/authenticate.ts";
import type { TokenSigner } from "./auth/jwt.ts";
import type { RbacAuthorizer } from "./auth/rbac.ts";
import type { decodeProtobufBody } from "./decode/protobuf.ts";
import type { Discovery } from "./discovery/discovery.ts";
import type { Endpoint } from "./endpoint.ts";
import type { OpenApi } from "./openapi/openapi.ts";
import type { Form } from "./protocol/negotiate.ts";
import type { ResourceRequestInfo } from "./protocol/request-info.ts";
import type { ResourceTable } from "./resource-table.ts";
import type { Store } from "./storage/store.ts";
import type { PodLogs } from "./subresources/log.ts";

/** What every step of the pipeline may use. */
export interface ServerParts {
  readonly env: Env;
  readonly store: Store;
  readonly resources: ResourceTable;
  readonly discovery: Discovery;
  readonly openApi: OpenApi;
  readonly admission: Admission;
  readonly quotas: Quotas;
  readonly authenticator: Authenticator;
  readonly authorizer: RbacAuthorizer;
  readonly tokenSigner: TokenSigner;
  readonly podLogs?: PodLogs;
  /** Where clients reach us: `127.0.0.1:6443`. */
  readonly serverAddress: () => string;
  /** Reads a `k8s\0` body of a built-in kind. */
  readonly decodeProtobuf: typeof decodeProtobufBody;
}

/** Who asks. */
export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** A request about a resource, on its way through the pipeline. */
export interface ApiRequest {
  readonly http: HttpRequest;
  readonly info: ResourceRequestInfo;
  readonly user: User;
  readonly endpoint: Endpoint;
  readonly form: Form;
  /** Collected on the way, sent as Warning headers. */
  readonly warnings: string[];
}
