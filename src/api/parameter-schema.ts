/** What the schema of one action's parameters says about a value: for whoever must know before the server is asked. */
import { type CompiledSchema, compileSchema } from "../kube/schema/compile.ts";
import type { Schema } from "../kube/schema/schema.ts";
import { type Action, type ActionMember, actionMembers } from "./action.ts";
import { actionParameters } from "./action-parameters.ts";

export interface SchemaVerdict {
  /** Without what the schema does not know. */
  readonly value: Readonly<Record<string, unknown>>;
  /** Every problem, each with its field; never with a value, which may be a secret. */
  readonly problems: readonly string[];
}

export function checkAgainstSchema(
  action: Action,
  given: Readonly<Record<string, unknown>>,
  path: string,
): SchemaVerdict {
  const schema = schemaOf(actionMembers[action]);
  const { value, unknown } = schema.prune(given);
  const problems = [
    ...unknown.map((name) => `${path}.${name}: unknown field`),
    ...schema
      .validate(value)
      // Of Secrets not even the schema's sentence, which may quote the value.
      .map(
        ({ field, type, detail }) =>
          `${joined(path, field)}: ${action === "update_secret" || !detail ? `${type} value` : detail}`,
      ),
  ];
  return { value: value as Readonly<Record<string, unknown>>, problems };
}

/** The names of an action's parameters; the first one names the target. */
export const parameterNames = (action: Action): readonly string[] =>
  Object.keys(memberSchema(actionMembers[action]).properties ?? {});

const memberSchema = (member: ActionMember): Schema => actionParameters.schema.properties?.[member] ?? {};

const compiled = new Map<ActionMember, CompiledSchema>();
function schemaOf(member: ActionMember): CompiledSchema {
  const known = compiled.get(member);
  if (known) return known;
  // `prune` expects a whole resource, of which it leaves the head alone.
  const made = compileSchema({ type: "object", ...memberSchema(member) });
  compiled.set(member, made);
  return made;
}

const joined = (path: string, field: string): string =>
  field === "" || field === "<nil>" ? path : `${path}${field.startsWith("[") ? "" : "."}${field}`;
