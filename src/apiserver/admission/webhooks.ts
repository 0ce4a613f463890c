import type { Env } from "../../env/env.ts";
import type { KubeObject } from "../../kube/object.ts";
import { applyJsonPatch } from "../../kube/patch/json-patch.ts";
import type { RbacAuthorizer } from "../auth/rbac.ts";
import { badRequest, internalError, StatusError } from "../protocol/status-error.ts";
import type { Store } from "../storage/store.ts";
import type { Admission, AdmissionQuestion } from "./admission.ts";
import { matchesResources } from "./match-resources.ts";
import { compileExpression, ExpressionValues, evaluate } from "./policy-expressions.ts";
import { reviewRequest } from "./review-request.ts";
import { type CallWebhook, targetOf } from "./webhook-call.ts";
import {
  mutatingCollection,
  validatingCollection,
  type Webhook,
  type WebhookConfiguration,
  type WebhookResponse,
} from "./webhook-objects.ts";

/** Webhooks cannot guard their own configurations: otherwise nobody could remove one that fails. */
const neverGuarded = "admissionregistration.k8s.io";
const defaultTimeoutSeconds = 10;

/** Mutating and validating webhooks, called over HTTPS. */
export class WebhookAdmission implements Admission {
  readonly #env: Env;
  readonly #store: Store;
  readonly #rbac: RbacAuthorizer;
  readonly #call: CallWebhook;

  constructor(env: Env, store: Store, rbac: RbacAuthorizer, call: CallWebhook) {
    this.#env = env;
    this.#store = store;
    this.#rbac = rbac;
    this.#call = call;
  }

  mutate(question: AdmissionQuestion): Promise<KubeObject | undefined> | undefined {
    const webhooks = this.#matching(mutatingCollection, question);
    return webhooks.length === 0 ? undefined : this.#mutateAll(webhooks, question);
  }

  validate(question: AdmissionQuestion): Promise<void> | undefined {
    const webhooks = this.#matching(validatingCollection, question);
    if (webhooks.length === 0) return undefined;
    // All at once: they may not change anything, so none has to wait for another.
    return Promise.all(webhooks.map((webhook) => this.#ask(webhook, question))).then(() => {});
  }

  #matching(collection: string, question: AdmissionQuestion): readonly Webhook[] {
    if (this.#store.collection(collection).size === 0 || question.endpoint.resource.group === neverGuarded) return [];
    return this.#store
      .collection(collection)
      .range()
      .flatMap(({ object }) => (object as WebhookConfiguration).webhooks ?? [])
      .filter((webhook) => this.#applies(webhook, question));
  }

  #applies(webhook: Webhook, question: AdmissionQuestion): boolean {
    const { rules = [], namespaceSelector, objectSelector, matchPolicy } = webhook;
    if (rules.length === 0) return false;
    const match = {
      resourceRules: rules,
      ...(namespaceSelector && { namespaceSelector }),
      ...(objectSelector && { objectSelector }),
      ...(matchPolicy !== undefined && { matchPolicy }),
    };
    return matchesResources(this.#store, match, question) && this.#meetsConditions(webhook, question);
  }

  #meetsConditions(
    { name, matchConditions = [], failurePolicy = "Fail" }: Webhook,
    question: AdmissionQuestion,
  ): boolean {
    if (matchConditions.length === 0) return true;
    const lookup = new ExpressionValues(question, this.#rbac, undefined).with({});
    for (const { name: condition, expression } of matchConditions) {
      const compiled = compileExpression(expression, { authorizer: true });
      const result = compiled.ok ? evaluate(compiled.program, lookup) : undefined;
      if (result === true) continue;
      if (result === false || failurePolicy === "Ignore") return false;
      throw internalError(
        `failed calling webhook ${JSON.stringify(name)}: match condition ${JSON.stringify(condition)} failed`,
      );
    }
    return true;
  }

  /** One after the other; those that ask for it see the object again when somebody after them changed it. */
  async #mutateAll(webhooks: readonly Webhook[], question: AdmissionQuestion): Promise<KubeObject | undefined> {
    let current = question;
    const seen = new Map<Webhook, KubeObject | undefined>();
    for (const webhook of webhooks) {
      current = await this.#mutateOne(webhook, current);
      seen.set(webhook, current.object);
    }
    for (const webhook of webhooks) {
      if (webhook.reinvocationPolicy !== "IfNeeded" || seen.get(webhook) === current.object) continue;
      current = await this.#mutateOne(webhook, current);
    }
    if (current.object === question.object || !current.object) return undefined;
    return question.endpoint.resource.strategy.default(current.object);
  }

  async #mutateOne(webhook: Webhook, question: AdmissionQuestion): Promise<AdmissionQuestion> {
    const response = await this.#ask(webhook, question);
    if (!response?.patch || !question.object) return question;
    const patched = applyJsonPatch(question.object, parsePatch(webhook, response), { dialect: "Kubernetes" });
    if (!patched.ok)
      throw internalError(
        `webhook ${JSON.stringify(webhook.name)} sent a patch that does not apply: ${patched.message}`,
      );
    const { endpoint } = question;
    const shaped = endpoint.shape(patched.value as Readonly<Record<string, unknown>>);
    if (shaped.kind === "Refused") throw internalError(shaped.message);
    return { ...question, object: shaped.object };
  }

  /** Undefined when the webhook could not be asked and does not matter. */
  async #ask(webhook: Webhook, question: AdmissionQuestion): Promise<WebhookResponse | undefined> {
    const { name, failurePolicy = "Fail", sideEffects, timeoutSeconds = defaultTimeoutSeconds } = webhook;
    if (question.dryRun && sideEffects !== "None" && sideEffects !== "NoneOnDryRun") {
      throw badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`);
    }
    let response: WebhookResponse;
    try {
      response = await this.#exchange(webhook, question, timeoutSeconds * 1000);
    } catch (error) {
      if (failurePolicy === "Ignore") return undefined;
      throw internalError(
        `failed calling webhook ${JSON.stringify(name)}: failed to call webhook: ${error instanceof Error ? error.message : error}`,
      );
    }
    question.request.warnings.push(...(response.warnings ?? []));
    if (response.allowed !== true) throw denial(name, response);
    return response;
  }

  async #exchange(webhook: Webhook, question: AdmissionQuestion, timeoutMs: number): Promise<WebhookResponse> {
    const uid = this.#env.uuid();
    const { object = null, oldObject = null } = question;
    const review = {
      kind: "AdmissionReview",
      apiVersion: "admission.k8s.io/v1",
      request: { uid, ...reviewRequest(question), object, oldObject },
    };
    const answer = JSON.parse(await this.#call(targetOf(this.#store, webhook), JSON.stringify(review), timeoutMs)) as {
      readonly response?: WebhookResponse;
    };
    if (!answer.response) throw new Error("the answer has no response");
    if (answer.response.uid !== uid)
      throw new Error(`the answer is for ${JSON.stringify(answer.response.uid)}, not for ${JSON.stringify(uid)}`);
    return answer.response;
  }
}

function parsePatch({ name }: Webhook, { patch = "", patchType }: WebhookResponse): unknown {
  if (patchType !== "JSONPatch")
    throw internalError(`webhook ${JSON.stringify(name)} sent a patch of type ${JSON.stringify(patchType)}`);
  try {
    return JSON.parse(Buffer.from(patch, "base64").toString());
  } catch {
    throw internalError(`webhook ${JSON.stringify(name)} sent a patch that is not JSON`);
  }
}

function denial(name: string, { status }: WebhookResponse): StatusError {
  const denied = `admission webhook ${JSON.stringify(name)} denied the request`;
  const why = status?.message || status?.reason;
  const code = status?.code !== undefined && status.code >= 400 ? status.code : 400;
  return new StatusError(code, status?.reason ?? "", why ? `${denied}: ${why}` : `${denied} without explanation`);
}
