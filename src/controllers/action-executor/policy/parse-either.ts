import type { Module } from "../../../rego/syntax/ast.ts";
import { RegoErrors } from "../../../rego/syntax/errors.ts";
import { parseModule } from "../../../rego/syntax/module.ts";

/** As today's Rego, and where that fails as the Rego of before 1.0; when neither works, today's complaint is the one to show. */
export function parseEither(file: string, source: string): Module {
  try {
    return parseModule(file, source, { version: "v1" });
  } catch (error) {
    if (!(error instanceof RegoErrors)) throw error;
    try {
      return parseModule(file, source, { version: "v0" });
    } catch {
      throw error;
    }
  }
}
