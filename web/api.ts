/** Requests that the page makes itself: questions to the dashboard's server and writes to the Kubernetes API. */
export type Answer<T> =
  | { readonly kind: "Done"; readonly value: T }
  | { readonly kind: "Refused"; readonly status: number; readonly message: string };

export async function send<T>(
  method: string,
  path: string,
  body?: unknown,
  type = "application/json",
): Promise<Answer<T>> {
  try {
    const response = await fetch(path, {
      method,
      ...(body !== undefined && { headers: { "content-type": type }, body: JSON.stringify(body) }),
    });
    const value = (await response.json().catch(() => ({}))) as T & { readonly message?: string };
    if (response.ok) return { kind: "Done", value };
    return {
      kind: "Refused",
      status: response.status,
      message: value.message ?? `the server answered ${response.status}`,
    };
  } catch (error) {
    return { kind: "Refused", status: 0, message: error instanceof Error ? error.message : String(error) };
  }
}

export interface Access {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** What RBAC says the signed-in person may do. */
export async function mayI(access: Access): Promise<boolean> {
  const answer = await send<{ readonly status?: { readonly allowed?: boolean } }>(
    "POST",
    "/k8s/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: access },
    },
  );
  return answer.kind === "Done" && answer.value.status?.allowed === true;
}
