import type { HttpHandler, HttpResponse } from "../http/message.ts";

/** Questions to the Kubernetes API that are asked as one person: who they are, and what they may do. */
export interface Person {
  readonly username: string;
  readonly groups: readonly string[];
}

export type Recognition =
  | { readonly kind: "Known"; readonly person: Person }
  | { readonly kind: "Refused"; readonly message: string };

/** Who the API takes the holder of a credential for. */
export async function recognize(api: HttpHandler, credential: string): Promise<Recognition> {
  const answer = await post(api, credential, "/apis/authentication.k8s.io/v1/selfsubjectreviews", {
    apiVersion: "authentication.k8s.io/v1",
    kind: "SelfSubjectReview",
  });
  const body = answer.json as {
    readonly message?: string;
    readonly status?: { readonly userInfo?: { readonly username?: string; readonly groups?: readonly string[] } };
  };
  const { username, groups = [] } = body.status?.userInfo ?? {};
  if (answer.status >= 300 || !username)
    return { kind: "Refused", message: body.message ?? `the API server answered ${answer.status}` };
  if (username === "system:anonymous") return { kind: "Refused", message: "the API server does not know this token" };
  return { kind: "Known", person: { username, groups } };
}

export interface ResourceAccess {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** Whether RBAC lets the person do something. */
export async function isAllowed(api: HttpHandler, credential: string, access: ResourceAccess): Promise<boolean> {
  const { status, json } = await post(api, credential, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes: access },
  });
  return status < 300 && (json as { readonly status?: { readonly allowed?: boolean } }).status?.allowed === true;
}

async function post(
  api: HttpHandler,
  credential: string,
  target: string,
  body: unknown,
): Promise<{ readonly status: number; readonly json: unknown }> {
  const response = await api({
    method: "POST",
    target,
    headers: {
      accept: "application/json",
      "content-type": "application/json",
      authorization: `Bearer ${credential}`,
    },
    body: new TextEncoder().encode(JSON.stringify(body)),
  });
  return { status: response.status, json: parsed(await textOf(response)) };
}

export async function textOf(response: HttpResponse): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
