/** The schemas against manifests: all of upstream's shapes and our examples pass, mistakes are refused by field. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { type FieldError, formatFieldError } from "../kube/field-error.ts";
import type { Kind } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import { type CompiledSchema, compileSchema } from "../kube/schema/compile.ts";
import { parseYaml } from "../kube/yaml.ts";
import { findKind, kinds } from "./kinds.ts";
import { acceptedCases, manifest, refusedCases } from "./manifest-cases.ts";

const examples = new URL("../../examples/", import.meta.url);
const compiled: ReadonlyMap<Kind, CompiledSchema> = new Map(kinds.map((kind) => [kind, compileSchema(kind.schema)]));

describe("accepted:", () => {
  for (const { name, kind, spec, status } of acceptedCases) {
    test(`${kind.kind}: ${name}`, () => assertAccepted(kind, manifest(kind, "example", spec, status)));
  }
});

describe("refused:", () => {
  for (const { name, kind, spec, before, field, says } of refusedCases) {
    test(`${kind.kind}: ${name}`, () => {
      const schema = schemaOf(kind);
      const object = schema.default(parsed(manifest(kind, "example", spec)));
      const old = before && schema.default(parsed(manifest(kind, "example", before)));
      if (old) assert.deepEqual(messages(schema.validate(old)), []);
      const errors = old ? schema.validateUpdate(object, old) : schema.validate(object);
      const about = errors.filter((error) => error.field === field);
      assert.ok(
        about.some((error) => formatFieldError(error).includes(says)),
        messages(errors).join("\n") || "nothing was refused",
      );
    });
  }
});

describe("examples:", () => {
  for (const file of globSync("*/**/*.yaml", { cwd: examples }).sort()) {
    test(file, () => {
      const manifests = parseYaml(readFileSync(new URL(file, examples), "utf8"), { file });
      assert.ok(manifests.ok, JSON.stringify(manifests));
      for (const { value } of manifests.documents) {
        const object = value as KubeObject;
        const [group = "", version] = object.apiVersion.split("/");
        const kind = version === undefined ? undefined : findKind(group, object.kind);
        if (kind) assertAccepted(kind, object);
        else
          assert.ok(
            !group.includes(".") || version === undefined,
            `${object.apiVersion} ${object.kind} is not one of ours`,
          );
      }
    });
  }
});

test("what is not set gets its default", () => {
  const server = kinds.find(({ kind }) => kind === "PaperMCServer");
  assert.ok(server);
  const smallest = acceptedCases.find(({ kind }) => kind === server);
  const { spec } = schemaOf(server).default(parsed(manifest(server, "example", smallest?.spec ?? {}))) as {
    spec: { updateSchedule: { timeZone: string; maintenanceWindow: { duration: string } }; rcon: { port: number } };
  };
  assert.equal(spec.updateSchedule.timeZone, "UTC");
  assert.equal(spec.updateSchedule.maintenanceWindow.duration, "1h");
  assert.equal(spec.rcon.port, 25575);
});

function assertAccepted(kind: Kind, object: unknown): void {
  const schema = schemaOf(kind);
  const given = parsed(object);
  const { unknown } = schema.prune(given);
  assert.deepEqual(unknown, [], "fields would be dropped");
  assert.deepEqual(messages(schema.validate(schema.default(given))), []);
}

function schemaOf(kind: Kind): CompiledSchema {
  const schema = compiled.get(kind);
  assert.ok(schema);
  return schema;
}

/** As it would come over the wire: fields that are undefined are not there. */
const parsed = (object: unknown): unknown => JSON.parse(JSON.stringify(object));
const messages = (errors: readonly FieldError[]): readonly string[] => errors.map(formatFieldError);
