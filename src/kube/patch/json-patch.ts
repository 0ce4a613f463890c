/** JSON Patch (RFC 6902): operations in order, all or nothing, on a document that is never changed in place. */
import { equalJson, fieldOf, isList, isMap, type JsonMap, setField } from "../apply/json-value.ts";
import { parsePointer } from "../json-pointer.ts";
import { PatchFault, type PatchResult, patchResult } from "./patch-result.ts";

export interface JsonPatchOptions {
  /**
   * The real API server is more lenient than the RFC: `replace` of a missing name sets it, `copy` of a missing name and an
   * operation without a value mean null, `test` takes a missing name for null, and an index may count from the end.
   */
  readonly dialect?: "Rfc6902" | "Kubernetes";
  readonly maxOperations?: number;
  /** What all `copy` operations together may copy, as JSON: otherwise a short patch could make an endless document. */
  readonly maxCopyBytes?: number;
}

export const jsonPatchMaxOperations = 10_000;
const defaultMaxCopyBytes = 3 * 1024 * 1024;

export function applyJsonPatch(document: unknown, patch: unknown, options: JsonPatchOptions = {}): PatchResult {
  return patchResult(() => {
    if (!isList(patch)) throw new PatchFault("Malformed", "a JSON patch is a list of operations");
    const { maxOperations = jsonPatchMaxOperations } = options;
    if (patch.length > maxOperations) {
      const message = `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${patch.length}`;
      throw new PatchFault("TooLarge", message);
    }
    const run = new PatchRun(document, options);
    patch.forEach((operation, index) => {
      run.perform(operation, `operation ${index}`);
    });
    return run.document;
  });
}

type Tokens = readonly string[];

/** One run over a document. Containers made in this run may be changed in place; all others are copied first. */
class PatchRun {
  document: unknown;
  readonly #lenient: boolean;
  readonly #maxCopyBytes: number;
  #copiedBytes = 0;
  #mine = new WeakSet<object>();

  constructor(document: unknown, { dialect, maxCopyBytes = defaultMaxCopyBytes }: JsonPatchOptions) {
    this.document = document;
    this.#lenient = dialect === "Kubernetes";
    this.#maxCopyBytes = maxCopyBytes;
  }

  perform(operation: unknown, where: string): void {
    if (!isMap(operation)) throw this.#fault(where, "is not an object");
    const { op } = operation;
    const path = this.#pointer(operation, "path", where);
    switch (op) {
      case "add":
        this.#add(path, this.#value(operation, where), where);
        return;
      case "remove":
        this.#remove(path, where);
        return;
      case "replace":
        this.#replace(path, this.#value(operation, where), where);
        return;
      case "test":
        this.#test(path, this.#value(operation, where), where);
        return;
      case "move":
        this.#move(this.#pointer(operation, "from", where), path, where);
        return;
      case "copy":
        this.#copy(this.#pointer(operation, "from", where), path, where);
        return;
      default:
        throw this.#fault(where, `has the unknown op ${JSON.stringify(op) ?? "undefined"}`);
    }
  }

  #add(path: Tokens, value: unknown, where: string): void {
    const last = path.at(-1);
    if (last === undefined) {
      this.document = value;
      return;
    }
    const parent = this.#parentToChange(path, where);
    if (!isList(parent)) {
      setField(parent, last, value);
      return;
    }
    const index = last === "-" ? parent.length : this.#index(last, parent.length + 1);
    if (index === undefined) throw this.#missing(where, path);
    parent.splice(index, 0, value);
  }

  #remove(path: Tokens, where: string): void {
    const last = path.at(-1);
    if (last === undefined) throw this.#fault(where, "cannot remove the whole document");
    const parent = this.#parentToChange(path, where);
    if (isList(parent)) {
      const index = this.#index(last, parent.length);
      if (index === undefined) throw this.#missing(where, path);
      parent.splice(index, 1);
      return;
    }
    if (!Object.hasOwn(parent, last)) throw this.#missing(where, path);
    delete parent[last];
  }

  #replace(path: Tokens, value: unknown, where: string): void {
    const last = path.at(-1);
    if (last === undefined) {
      this.document = value;
      return;
    }
    const parent = this.#parentToChange(path, where);
    if (isList(parent)) {
      const index = this.#index(last, parent.length);
      if (index === undefined) throw this.#missing(where, path);
      parent[index] = value;
      return;
    }
    if (!this.#lenient && !Object.hasOwn(parent, last)) throw this.#missing(where, path);
    setField(parent, last, value);
  }

  #test(path: Tokens, value: unknown, where: string): void {
    const found = this.#find(path);
    if (found === undefined) {
      const parent = this.#find(path.slice(0, -1));
      if (this.#lenient && value === null && isMap(parent)) return;
      throw this.#missing(where, path);
    }
    if (!equalJson(found, value)) throw this.#fault(where, `found another value at ${display(path)}`);
  }

  #move(from: Tokens, path: Tokens, where: string): void {
    if (path.length > from.length && from.every((token, index) => token === path[index])) {
      throw this.#fault(where, `cannot move ${display(from)} into itself`);
    }
    const value = this.#find(from);
    if (value === undefined) throw this.#missing(where, from);
    if (from.length === 0) return;
    this.#remove(from, where);
    this.#add(path, value, where);
  }

  #copy(from: Tokens, path: Tokens, where: string): void {
    const found = this.#find(from);
    if (found === undefined && !(this.#lenient && isMap(this.#find(from.slice(0, -1)))))
      throw this.#missing(where, from);
    const value = found ?? null;
    this.#copiedBytes += JSON.stringify(value).length;
    if (this.#copiedBytes > this.#maxCopyBytes) {
      throw new PatchFault("TooLarge", `the patch copies more than ${this.#maxCopyBytes} bytes`);
    }
    // From here on the same containers are in two places, so none of them may be changed in place.
    this.#mine = new WeakSet();
    this.#add(path, value, where);
  }

  #value(operation: JsonMap, where: string): unknown {
    const value = fieldOf(operation, "value");
    if (value !== undefined) return value;
    if (this.#lenient) return null;
    throw this.#fault(where, "has no value");
  }

  #pointer(operation: JsonMap, name: "path" | "from", where: string): Tokens {
    const text = fieldOf(operation, name);
    if (typeof text !== "string") throw this.#fault(where, `has no ${name}`);
    const pointer = parsePointer(text);
    if (!pointer.ok) throw this.#fault(where, `has a ${name} that is no JSON pointer: ${pointer.message}`);
    return pointer.value;
  }

  #find(path: Tokens): unknown {
    let value = this.document;
    for (const token of path) {
      if (isList(value)) {
        const index = this.#index(token, value.length);
        value = index === undefined ? undefined : value[index];
      } else if (isMap(value)) value = fieldOf(value, token);
      else return undefined;
    }
    return value;
  }

  /** The container that the path leads into, and all above it, as copies of this run. */
  #parentToChange(path: Tokens, where: string): Record<string, unknown> | unknown[] {
    this.document = this.#changeable(this.document);
    let container = this.document;
    for (const token of path.slice(0, -1)) {
      if (isList(container)) {
        const index = this.#index(token, container.length);
        if (index === undefined) throw this.#missing(where, path);
        const inner = this.#changeable(container[index]);
        (container as unknown[])[index] = inner;
        container = inner;
      } else if (isMap(container) && Object.hasOwn(container, token)) {
        const inner = this.#changeable(container[token]);
        setField(container as Record<string, unknown>, token, inner);
        container = inner;
      } else throw this.#missing(where, path);
    }
    if (isList(container)) return container as unknown[];
    if (isMap(container)) return container as Record<string, unknown>;
    throw this.#missing(where, path);
  }

  #changeable(value: unknown): unknown {
    if (typeof value !== "object" || value === null || this.#mine.has(value)) return value;
    const copy = isList(value) ? [...value] : { ...value };
    this.#mine.add(copy);
    return copy;
  }

  #index(token: string, length: number): number | undefined {
    if (!(this.#lenient ? /^-?\d+$/ : /^(?:0|[1-9]\d*)$/).test(token)) return undefined;
    const index = Number(token);
    const counted = index < 0 ? index + length : index;
    return counted >= 0 && counted < length ? counted : undefined;
  }

  #missing(where: string, path: Tokens): PatchFault {
    return this.#fault(where, `finds nothing at ${display(path)}`);
  }

  #fault(where: string, what: string): PatchFault {
    return new PatchFault("Inapplicable", `${where} ${what}`);
  }
}

const display = (path: Tokens): string =>
  JSON.stringify(path.map((token) => `/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`).join(""));
