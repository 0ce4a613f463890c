import type { KindRef } from "../../src/kube/kind.ts";
import type { WebhookDeed } from "./plan.ts";
import type { Stage } from "./stage.ts";
import type { Story } from "./story.ts";

/** F30: a webhook, called by the real admission of the API server, that denies, changes or never answers. */
export const standInTheWay = (stage: Stage, story: Story, deed: WebhookDeed): Promise<() => Promise<unknown>> =>
  obstruct(stage, story, deed === "mutate" ? "Mutating" : "Validating", ["CREATE", "UPDATE"], deed);

/** F31: what a full quota answers, to creates alone. */
export const fillQuota = (stage: Stage, story: Story): Promise<() => Promise<unknown>> =>
  obstruct(stage, story, "Validating", ["CREATE"], "quota");

async function obstruct(
  { api }: Stage,
  story: Story,
  type: "Validating" | "Mutating",
  operations: readonly string[],
  deed: WebhookDeed | "quota",
): Promise<() => Promise<unknown>> {
  const client = api.clientOf("obstructor");
  const kind = configuration(type);
  // Two of a kind may stand in the way at once.
  const name = `simulation-${deed}-${api.revision()}`;
  api.webhook = async ({ url }, body, timeoutMs) => {
    const { request } = JSON.parse(body) as { readonly request: { readonly uid: string; readonly object: Reviewed } };
    const asked = url.pathname.slice(1);
    if (asked === "timeout") await new Promise((resolve) => void api.env.setTimer(timeoutMs, () => resolve(undefined)));
    if (asked === "timeout") throw new Error(`no answer within ${timeoutMs} ms`);
    return JSON.stringify({ ...review, response: { uid: request.uid, ...answers[asked]?.(request.object) } });
  };
  await client.create(kind, {
    metadata: { name },
    webhooks: [
      {
        name: `${deed}.simulation.test`,
        clientConfig: { url: `https://simulation.test/${deed}` },
        rules: story.children.map(({ group, version, plural }) => ({
          apiGroups: [group],
          apiVersions: [version],
          operations,
          resources: [plural],
        })),
        sideEffects: "None",
        timeoutSeconds: 5,
        admissionReviewVersions: ["v1"],
      },
    ],
  } as never);
  return () => client.delete(kind, { name });
}

interface Reviewed {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
}

const review = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" };

/** Left on everything that the webhook has changed; the end state does not count it. */
export const mutatedAnnotation = "simulation.test/mutated";

const answers: Readonly<Record<string, (object: Reviewed) => object>> = {
  deny: () => ({ allowed: false, status: { code: 403, message: "the simulation says no" } }),
  quota: () => ({ allowed: false, status: { code: 403, message: "exceeded quota: simulation, used: 1, limited: 1" } }),
  mutate: ({ metadata }) => ({ allowed: true, patchType: "JSONPatch", patch: mutation(metadata.annotations) }),
};

function mutation(present: Readonly<Record<string, string>> | undefined): string {
  const annotations = { ...present, [mutatedAnnotation]: "true" };
  return Buffer.from(JSON.stringify([{ op: "add", path: "/metadata/annotations", value: annotations }])).toString(
    "base64",
  );
}

const configuration = (type: "Validating" | "Mutating"): KindRef => ({
  group: "admissionregistration.k8s.io",
  version: "v1",
  kind: `${type}WebhookConfiguration`,
  plural: `${type.toLowerCase()}webhookconfigurations`,
  namespaced: false,
});
