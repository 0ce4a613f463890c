import { decodeProtobuf, ProtobufError } from "../builtin/index.ts";
import type { BodyProblem, DecodedBody } from "./body.ts";

/** A `k8s\0` body as plain JSON. */
export function decodeProtobufBody(body: Uint8Array): DecodedBody | BodyProblem {
  try {
    return { value: decodeProtobuf(body).object, duplicates: [] };
  } catch (error) {
    if (error instanceof ProtobufError) return { kind: "Unreadable", why: error.message, shown: "protobuf" };
    throw error;
  }
}
