import { decodeProtobuf, ProtobufError } from "../builtin/index.ts";
import type { BodyProblem, DecodedBody } from "./body.ts";

/** A `k8s\0` body as plain JSON; one that leaves out its type is of the type that the path says. */
export function decodeProtobufBody(
  body: Uint8Array,
  fallback?: { readonly apiVersion: string; readonly kind: string },
): DecodedBody | BodyProblem {
  try {
    return { value: decodeProtobuf(body, fallback).object, duplicates: [] };
  } catch (error) {
    if (error instanceof ProtobufError) return { kind: "Unreadable", why: error.message };
    throw error;
  }
}
