import type { KubeObject } from "../../kube/object.ts";
import type { Endpoint } from "../endpoint.ts";
import type { ApiRequest } from "../parts.ts";

/** What admission is asked about. */
export interface AdmissionQuestion {
  readonly request: ApiRequest;
  readonly endpoint: Endpoint;
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Absent for a delete. */
  readonly object?: KubeObject;
  /** Absent for a create. */
  readonly oldObject?: KubeObject;
  readonly dryRun: boolean;
  /** The options of the request, as a policy or a webhook sees them. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** The gate between a well-formed write and the store. A refusal is thrown as a StatusError. */
export interface Admission {
  /** May change the object; answers the one that goes on. */
  mutate(question: AdmissionQuestion): Promise<KubeObject | undefined> | KubeObject | undefined;
  validate(question: AdmissionQuestion): Promise<void> | void;
}
