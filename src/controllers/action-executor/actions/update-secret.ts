import { Secret } from "../../../api/builtin/configuration.ts";
import { allow } from "../../../runtime/permission.ts";
import { keyProblems, keysText } from "./data-keys.ts";
import { cannotBeUndone, defineAction } from "./definition.ts";

/** Nobody reads the Secret on the way: the action may patch it, and the executor not even that. */
export const updateSecret = defineAction({
  action: "update_secret",
  permissions: [allow(Secret, ["patch"])],
  idempotent: true,
  estimatedDuration: "5s",
  seenBy: "DryRun",
  problems: ({ data }) => [
    ...keyProblems(data),
    ...Object.entries(data)
      .filter(([, value]) => !/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(value))
      .map(([key]) => `data[${JSON.stringify(key.slice(0, 64))}]: not base64`),
  ],
  target: ({ secret, namespace }) => ({ kind: Secret, namespace, name: secret }),
  plan: (_state, { data }) => ({
    effects: [{ kind: "Patch", patch: { type: "merge", value: { data } } }],
    verb: "updated",
    after: keysText(data),
  }),
  rollback: () => cannotBeUndone("The content of a Secret is not copied, so it cannot be put back."),
});
