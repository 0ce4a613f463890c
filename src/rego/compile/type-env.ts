/** Environments of the type checker: each body sees what is known around it, and adds what it finds out itself. */
import { constantValue } from "../evaluate/terms.ts";
import type { Term } from "../syntax/ast.ts";
import { anyType, type MaybeType } from "../types/types.ts";
import { childOf, extentOf, newTypeNode, putType, selectAlong, type TypeNode } from "./type-tree.ts";

type RefTerm = Term & { readonly kind: "ref" };

export class TypeEnv {
  readonly tree: TypeNode;
  /** Where the types of variables go: for an expression with `with`, to the body around it. */
  readonly vars: TypeNode;
  readonly next: TypeEnv | undefined;

  constructor(next?: TypeEnv, tree: TypeNode = newTypeNode(), vars: TypeNode = tree) {
    this.next = next;
    this.tree = tree;
    this.vars = vars;
  }

  /** For one expression with `with`: documents may have other types in it, variables are those of the body. */
  forWith(tree?: TypeNode): TypeEnv {
    return new TypeEnv(this, tree ?? newTypeNode(), this.vars);
  }

  put(name: Term & { readonly kind: "var" }, type: MaybeType): void {
    putType(this.vars, [name], type);
  }

  variable(term: Term & { readonly kind: "var" }): MaybeType {
    for (let env: TypeEnv | undefined = this; env !== undefined; env = env.next) {
      const node = childOf(env.tree, term);
      if (node !== undefined) return node.value;
    }
    return undefined;
  }

  ref(ref: RefTerm): MaybeType {
    const [head] = ref.parts;
    if (head === undefined) return undefined;
    for (let env: TypeEnv | undefined = this; env !== undefined; env = env.next) {
      const node = childOf(env.tree, head);
      if (node === undefined) continue;
      const found = along(node, ref.parts);
      if (found !== "elsewhere") return found;
    }
    return isRootDocument(head) ? anyType : undefined;
  }
}

export function isRootDocument(term: Term): boolean {
  return term.kind === "var" && (term.name === "data" || term.name === "input");
}

/** The type at the end of a path, unless this tree says nothing about it. */
function along(head: TypeNode, parts: readonly Term[]): MaybeType | "elsewhere" {
  let node = head;
  for (let index = 1; index < parts.length; index++) {
    const part = parts[index];
    if (part === undefined) break;
    const child = childOf(node, part);
    if (node.value !== undefined) {
      if (child === undefined) return selectAlong(node.value, parts.slice(index));
    } else if (constantValue(part) === undefined) return selectAlong(extentOf(node), parts.slice(index));
    if (child === undefined) return "elsewhere";
    node = child;
  }
  return extentOf(node);
}
