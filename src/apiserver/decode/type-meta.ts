import { decodeBuiltin, isKnownKind } from "../builtin/index.ts";
import { badRequest, type StatusError } from "../protocol/status-error.ts";

/** The type that a body must be of, and the words of the real server for one that is not. */
export interface ExpectedType {
  readonly group: string;
  readonly apiVersion: string;
  readonly kind: string;
}

/** The body as it came; asked for only by refusals. */
export type Bytes = () => Uint8Array;

export type Members = Readonly<Record<string, unknown>>;

/** A body of a built-in kind may leave out its apiVersion and kind when the path says them; it may not say others. */
export function checkedBuiltin(expected: ExpectedType, value: unknown, body: Bytes): Members {
  const members = checkedMembers(expected.kind, value ?? {}, body);
  const kind = textOf(members["kind"]) || expected.kind;
  const apiVersion = textOf(members["apiVersion"]) || expected.apiVersion;
  if (kind === expected.kind && apiVersion === expected.apiVersion) {
    return { ...members, apiVersion, kind };
  }
  if (kind === expected.kind && isKnownKind(apiVersion, kind)) throw otherVersion(apiVersion, expected.apiVersion);
  const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
  throw badRequest(
    `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${expected.kind}: ${
      isConvertible(apiVersion, kind, expected)
        ? `converting (${version}.${kind}) to (${internalGroup(expected.group)}.${expected.kind}): unknown conversion`
        : notRegistered(apiVersion, kind)
    }`,
  );
}

/** Custom resources must name their type. */
export function checkedCustom({ kind, apiVersion }: ExpectedType, value: unknown, body: Bytes): Members {
  const members = value === null ? {} : checkedMembers(kind, value, body);
  if (textOf(members["kind"]) === "") {
    throw unrecognized(kind, `Object 'Kind' is missing in '${Buffer.from(body()).toString()}'`, body);
  }
  const given = textOf(members["apiVersion"]);
  if (given !== apiVersion) throw otherVersion(given, apiVersion);
  return members;
}

/** The body of a sub-resource, whose kind is another one than the resource's, in the form of its type. */
export function checkedLoose(expected: ExpectedType, value: unknown, body: Bytes): Members {
  const members = checkedBuiltin(expected, value, body);
  const decoded = decodeBuiltin(expected.apiVersion, expected.kind, members);
  if (decoded?.kind === "Refused") throw badRequest(decoded.message);
  return decoded?.kind === "Shaped" ? { ...decoded.object } : members;
}

export const unrecognized = (kind: string, why: string, body: Bytes): StatusError =>
  badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${summary(body())})`);

export const notRegistered = (apiVersion: string, kind: string): string =>
  `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;

/** Why a value cannot even be asked for its type; nothing when it can. */
export function typeProblem(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return `${parseProblem}json: cannot unmarshal ${jsonTypeName(value)} into Go value of type ${typeMeta}`;
  }
  for (const [name, member] of Object.entries(value)) {
    if ((name !== "kind" && name !== "apiVersion") || member === null || typeof member === "string") continue;
    return `${parseProblem}json: cannot unmarshal ${jsonTypeName(member)} into Go struct field .${name} of type string`;
  }
  const apiVersion = textOf((value as Members)["apiVersion"]);
  return apiVersion.split("/").length > 2 ? `unexpected GroupVersion string: ${apiVersion}` : undefined;
}

export const parseProblem = "couldn't get version/kind; json parse error: ";

export const jsonTypeName = (value: unknown): string =>
  Array.isArray(value) ? "array" : value === null ? "null" : typeof value === "boolean" ? "bool" : typeof value;

const typeMeta = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`;

function checkedMembers(kind: string, value: unknown, body: Bytes): Members {
  const problem = typeProblem(value);
  if (problem !== undefined) throw unrecognized(kind, problem, body);
  return value as Members;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

const otherVersion = (given: string, expected: string): StatusError =>
  badRequest(`the API version in the data (${given}) does not match the expected API version (${expected})`);

/** The kinds of one scheme; definitions of custom resources are kept in another one than all other kinds. */
function isConvertible(apiVersion: string, kind: string, expected: ExpectedType): boolean {
  const single = kind.endsWith("List") ? kind.slice(0, -"List".length) : kind;
  const isExtension = apiVersion.startsWith("apiextensions.k8s.io/");
  return isKnownKind(apiVersion, single) && isExtension === (expected.group === "apiextensions.k8s.io");
}

/** Where the server keeps its own form of a group's types: `rbac.authorization.k8s.io` is `rbac`. */
const internalGroup = (group: string): string =>
  group === "" || group === "events.k8s.io" ? "core" : (group.split(".", 1)[0] ?? group);

const summaryBytes = 30;

/** The beginning of a body: as text when it looks like JSON. */
function summary(body: Uint8Array): string {
  if (body.length === 0) return "<empty>";
  const shown = Buffer.from(body.subarray(0, summaryBytes)).toString(body[0] === 0x7b ? "utf8" : "hex");
  return body.length > summaryBytes ? `${shown} ...` : shown;
}
