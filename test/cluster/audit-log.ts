import { createReadStream, globSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

/** What the API server wrote down about one ServiceAccount of ours. */
export interface Use {
  readonly allowed: ReadonlySet<string>;
  readonly forbidden: ReadonlySet<string>;
}

interface AuditEvent {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
  };
  readonly annotations?: Readonly<Record<string, string>>;
}

/** `verb group/resource` by the name of the ServiceAccount, for all accounts of the namespaces given. */
export async function usedPermissions(
  kubeconfig: string,
  namespaces: readonly string[],
): Promise<ReadonlyMap<string, Use>> {
  const found = new Map<string, { allowed: Set<string>; forbidden: Set<string> }>();
  const prefixes = namespaces.map((namespace) => `system:serviceaccount:${namespace}:`);
  for (const file of globSync(join(dirname(kubeconfig), "log", "audit*.log"))) {
    for await (const line of createInterface({ input: createReadStream(file) })) {
      if (!prefixes.some((prefix) => line.includes(prefix))) continue;
      const { user, verb, objectRef, annotations } = JSON.parse(line) as AuditEvent;
      const prefix = prefixes.find((start) => user.username.startsWith(start));
      if (prefix === undefined || objectRef?.resource === undefined) continue;
      const account = user.username.slice(prefix.length);
      const use = found.get(account) ?? { allowed: new Set(), forbidden: new Set() };
      found.set(account, use);
      const { apiGroup = "", resource, subresource } = objectRef;
      const what = `${verb} ${apiGroup}/${resource}${subresource ? `/${subresource}` : ""}`;
      const isAllowed = annotations?.["authorization.k8s.io/decision"] === "allow";
      (isAllowed ? use.allowed : use.forbidden).add(what);
    }
  }
  return found;
}
