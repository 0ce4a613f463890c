export * from "./prepare.ts";
export { RegoError } from "./evaluate/errors.ts";
export { RegoErrors } from "./syntax/errors.ts";
export { parseTermText } from "./syntax/module.ts";
export { termValue } from "./term-value.ts";
export type { RegoEnv } from "./evaluate/machine.ts";
export type { RegoVersion } from "./syntax/ast.ts";
