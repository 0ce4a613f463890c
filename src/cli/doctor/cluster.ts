import { SelfSubjectAccessReview } from "../../api/builtin/access-review.ts";
import { CustomResourceDefinition } from "../../api/builtin/custom-resource-definition.ts";
import { customResourceDefinitions } from "../../api/crds.ts";
import { ApiError, isForbidden, isNotFound } from "../../client/api-error.ts";
import type { Client } from "../../client/client.ts";
import { ConnectionError, CredentialError } from "../../client/connection-error.ts";
import { installObjects } from "../../control-plane/manifests.ts";
import { isConditionTrue } from "../../kube/condition.ts";
import { deepEqual } from "../../kube/equality.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { Finding } from "./finding.ts";

export interface ClusterQuestions {
  readonly client: Client;
  readonly signal: AbortSignal;
  /** Told of every answer, for whoever waits only as long as there are some. */
  readonly heard?: () => void;
  /** Ask for one namespace only, as `capstan run --namespace` would need it. */
  readonly namespace?: string;
}

/** A cluster as our controllers would meet it: there, of a version that serves our kinds, and willing. */
export async function examineCluster(questions: ClusterQuestions): Promise<readonly Finding[]> {
  const api = await reach(questions);
  if (api.state === "wrong") {
    const message = "not looked at: the API does not answer";
    return [api, { check: "kinds", state: "skipped", message }, { check: "permissions", state: "skipped", message }];
  }
  const { signal } = questions;
  return [
    api,
    await kinds(questions).catch((error: unknown) => unanswered("kinds", error, signal)),
    await permissions(questions).catch((error: unknown) => unanswered("permissions", error, signal)),
  ];
}

async function reach({ client, signal }: ClusterQuestions): Promise<Finding> {
  try {
    const version = (await client.raw({ method: "GET", target: "/version", signal })) as ServerVersion;
    return judgeVersion(version);
  } catch (error) {
    return unanswered("api", error, signal);
  }
}

interface ServerVersion {
  readonly major?: string;
  readonly minor?: string;
  readonly gitVersion?: string;
}

/** Since 1.31 a CustomResourceDefinition's selectable fields are on everywhere; older servers drop ours. */
const oldestMinor = 31;

export function judgeVersion({ major, minor, gitVersion }: ServerVersion): Finding {
  const check = "api";
  if (typeof gitVersion !== "string")
    return { check, state: "wrong", message: "what answers is no Kubernetes API", next: "name another --kubeconfig" };
  const isOld = Number(major) === 1 && Number.parseInt(minor ?? "", 10) < oldestMinor;
  if (!isOld) return { check, state: "ok", message: `Kubernetes ${gitVersion} answers` };
  const message = `Kubernetes ${gitVersion} answers; it is older than 1.${oldestMinor}`;
  return {
    check,
    state: "note",
    message,
    next: `upgrade the cluster: field selectors on our kinds need 1.${oldestMinor}`,
  };
}

function unanswered(check: Finding["check"], error: unknown, signal: AbortSignal): Finding {
  const wrong = (message: string, next: string): Finding => ({ check, state: "wrong", message, next });
  if (signal.aborted) return wrong("no answer in time", "look whether the cluster runs and a firewall is in between");
  if (error instanceof CredentialError) return wrong(error.message, "renew the credential of this kubeconfig user");
  if (error instanceof ConnectionError) return wrong(error.message, nextOf[error.reason]);
  if (error instanceof ApiError) {
    const next =
      error.status === 401
        ? "sign in again: the API does not accept the credential of this kubeconfig user"
        : "look at the API server's log, or name another --kubeconfig";
    return wrong(`the API answered ${error.status}: ${error.message}`, next);
  }
  throw error;
}

const nextOf: Readonly<Record<ConnectionError["reason"], string>> = {
  Refused: "start the cluster (`capstan up` for the embedded one), or name another --kubeconfig",
  NotResolved: "correct the server's name in the kubeconfig",
  TlsRejected: "correct certificate-authority-data in the kubeconfig: the certificate is not the one that it expects",
  ProxyRejected: "correct proxy-url in the kubeconfig",
  TimedOut: "look whether the cluster runs and a firewall is in between",
  Broken: "try again; look at the API server's log if it stays so",
  Silent: "try again; look at the API server's log if it stays so",
};

const install = "run `capstan install --crds-only | kubectl apply --server-side -f -`";

async function kinds({ client, signal }: ClusterQuestions): Promise<Finding> {
  try {
    const found = await Promise.all(
      customResourceDefinitions.map(({ metadata }) =>
        client.get(CustomResourceDefinition, metadata, { signal }).catch((error: unknown) => {
          if (isNotFound(error)) return undefined;
          throw error;
        }),
      ),
    );
    return judgeKinds(found.filter((definition) => definition !== undefined));
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const next = "ask somebody who may read CustomResourceDefinitions";
    return { check: "kinds", state: "note", message: "you may not look at CustomResourceDefinitions", next };
  }
}

export function judgeKinds(found: readonly CustomResourceDefinition[]): Finding {
  const check = "kinds";
  const installed = new Map(found.map((definition) => [definition.metadata.name, definition]));
  const problems = customResourceDefinitions.flatMap(({ metadata: { name }, spec }) => {
    const actual = installed.get(name);
    if (!actual) return [{ name, what: "missing" }];
    if (!isConditionTrue(actual.status?.conditions, "Established")) return [{ name, what: "not served" }];
    const isOurs = spec.versions.every((wanted) => {
      const served = actual.spec.versions.find((version) => version.name === wanted.name);
      return served?.served && deepEqual(served.schema?.openAPIV3Schema, wanted.schema.openAPIV3Schema);
    });
    return isOurs ? [] : [{ name, what: "of another version" }];
  });
  const all = customResourceDefinitions.length;
  if (problems.length === 0) return { check, state: "ok", message: `all ${all} kinds are installed, of this version` };
  const listed = [...Map.groupBy(problems, ({ what }) => what)]
    .map(([what, ofThem]) => `${what}: ${shortened(ofThem.map(({ name }) => name))}`)
    .join("; ");
  return { check, state: "wrong", message: `${problems.length} of ${all} kinds: ${listed}`, next: install };
}

async function permissions({ client, signal, heard, namespace }: ClusterQuestions): Promise<Finding> {
  const questions = controllerRules().flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((path) => {
        const [resource = "", subresource] = path.split("/");
        const about = { group, resource, ...(subresource && { subresource }), ...(namespace && { namespace }) };
        return verbs.map((verb) => ({ ...about, verb }));
      }),
    ),
  );
  const answers = await Promise.all(
    questions.map(async (resourceAttributes) => {
      const review = { metadata: {}, spec: { resourceAttributes } };
      const { status } = await client.create(SelfSubjectAccessReview, review, { signal });
      heard?.();
      const { verb, group, resource, subresource } = resourceAttributes;
      const what = `${verb} ${resource}${subresource ? `/${subresource}` : ""}${group ? `.${group}` : ""}`;
      return { what, allowed: status?.allowed === true };
    }),
  );
  return judgePermissions(answers, namespace);
}

interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** What `capstan install` would grant to the controllers. */
function controllerRules(): readonly PolicyRule[] {
  const system = "capstan-system";
  const objects = installObjects({
    namespace: system,
    registryNamespace: system,
    image: "",
    replicas: 1,
    single: true,
  });
  return objects
    .filter(({ kind }) => kind === "ClusterRole")
    .flatMap((role) => (role as KubeObject & { readonly rules: readonly PolicyRule[] }).rules);
}

export interface PermissionAnswer {
  readonly what: string;
  readonly allowed: boolean;
}

export function judgePermissions(answers: readonly PermissionAnswer[], namespace?: string): Finding {
  const check = "permissions";
  const where = namespace ? ` in namespace ${namespace}` : "";
  const missing = answers.filter(({ allowed }) => !allowed).map(({ what }) => what);
  if (missing.length === 0)
    return {
      check,
      state: "ok",
      message: `this user may do all ${answers.length} things that the controllers do${where}`,
    };
  const message = `this user may not do ${missing.length} of ${answers.length} things that the controllers do${where}: ${shortened(missing)}`;
  const next = "run the controllers as a user that is bound to the ClusterRoles of `capstan install`";
  return { check, state: "wrong", message, next };
}

const maxListed = 5;

const shortened = (names: readonly string[]): string =>
  names.length <= maxListed
    ? names.join(", ")
    : `${names.slice(0, maxListed).join(", ")} and ${names.length - maxListed} more`;
