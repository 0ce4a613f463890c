import type { GrpcMethod } from "../../../http/grpc-server.ts";
import { GrpcError, grpcStatus } from "../../../http/grpc-status.ts";
import { descriptors } from "./descriptors.ts";
import { decode, encode, type Message, ProtobufError, type Value } from "./protobuf.ts";

/** Tells tools such as grpcurl which services there are and what their messages look like. */
export const reflectionMethods: ReadonlyMap<string, GrpcMethod> = new Map(
  ["grpc.reflection.v1", "grpc.reflection.v1alpha"].map((version) => [
    `/${version}.ServerReflection/ServerReflectionInfo`,
    reflect,
  ]),
);

async function* reflect({ messages }: Parameters<GrpcMethod>[0]): AsyncIterable<Uint8Array> {
  const known = readFiles();
  for await (const bytes of messages) {
    const request = parse(bytes);
    const host = request["host"] ?? "";
    yield encode(Response, { valid_host: host, original_request: request, ...answer(known, request) });
  }
}

function parse(bytes: Uint8Array): Value {
  try {
    return decode(Request, bytes);
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error;
    throw new GrpcError(grpcStatus.invalidArgument, `the request cannot be read: ${error.message}`);
  }
}

function answer({ byName, bySymbol, services }: Files, request: Value): Value {
  const { list_services: list, file_by_filename: name, file_containing_symbol: symbol } = request;
  if (list !== undefined) {
    return { list_services_response: { service: services.map((service) => ({ name: service })) } };
  }
  const file =
    typeof name === "string" ? byName.get(name) : typeof symbol === "string" ? bySymbol.get(symbol) : undefined;
  if (file === undefined) {
    const what = name ?? symbol ?? "an extension";
    return { error_response: { error_code: grpcStatus.notFound, error_message: `${what} is not known` } };
  }
  return { file_descriptor_response: { file_descriptor_proto: withImports(file, byName).map(({ bytes }) => bytes) } };
}

interface File {
  readonly bytes: Uint8Array;
  readonly imports: readonly string[];
}

interface Files {
  readonly byName: ReadonlyMap<string, File>;
  /** `package.Message`, `package.Service` and `package.Service.Method`. */
  readonly bySymbol: ReadonlyMap<string, File>;
  readonly services: readonly string[];
}

/** Asked for rarely, so it is read anew each time instead of being kept. */
function readFiles(): Files {
  const byName = new Map<string, File>();
  const bySymbol = new Map<string, File>();
  const services: string[] = [];
  for (const text of descriptors) {
    const bytes = Buffer.from(text, "base64");
    const read = decode(FileDescriptor, bytes) as unknown as FileDescription;
    const file = { bytes, imports: read.dependency ?? [] };
    byName.set(read.name, file);
    const declare = (scope: string, named: Named): string => {
      const symbol = `${scope}.${named.name}`;
      bySymbol.set(symbol, file);
      return symbol;
    };
    for (const message of read.message_type ?? []) {
      const scope = declare(read.package, message);
      for (const inner of message.enum_type ?? []) declare(scope, inner);
    }
    for (const enumeration of read.enum_type ?? []) declare(read.package, enumeration);
    for (const service of read.service ?? []) {
      const scope = declare(read.package, service);
      services.push(scope);
      for (const method of service.method ?? []) declare(scope, method);
    }
  }
  return { byName, bySymbol, services: services.sort() };
}

/** The file itself first, then everything that it needs. */
function withImports(file: File, byName: ReadonlyMap<string, File>): readonly File[] {
  const all = new Set([file]);
  for (const { imports } of all) {
    for (const name of imports) {
      const imported = byName.get(name);
      if (imported) all.add(imported);
    }
  }
  return [...all];
}

interface Named {
  readonly name: string;
}
interface FileDescription extends Named {
  readonly package: string;
  readonly dependency?: readonly string[];
  readonly message_type?: readonly (Named & { readonly enum_type?: readonly Named[] })[];
  readonly enum_type?: readonly Named[];
  readonly service?: readonly (Named & { readonly method?: readonly Named[] })[];
}

const Name: Message = { name: { number: 1, type: "string" } };
const names = (number: number, message: Message = Name): Message[string] => ({
  number,
  type: { message: () => message },
  repeated: true,
});

/** Of descriptor.proto only what is needed to find a symbol's file. */
export const FileDescriptor: Message = {
  name: { number: 1, type: "string" },
  package: { number: 2, type: "string" },
  dependency: { number: 3, type: "string", repeated: true },
  message_type: names(4, { ...Name, enum_type: names(4) }),
  enum_type: names(5),
  service: names(6, { ...Name, method: names(2) }),
};

export const Request: Message = {
  host: { number: 1, type: "string" },
  file_by_filename: { number: 3, type: "string" },
  file_containing_symbol: { number: 4, type: "string" },
  list_services: { number: 7, type: "string" },
};

export const Response: Message = {
  valid_host: { number: 1, type: "string" },
  original_request: { number: 2, type: { message: () => Request } },
  file_descriptor_response: {
    number: 4,
    type: { message: () => ({ file_descriptor_proto: { number: 1, type: "bytes", repeated: true } }) },
  },
  list_services_response: { number: 6, type: { message: () => ({ service: names(1) }) } },
  error_response: {
    number: 7,
    type: {
      message: () => ({ error_code: { number: 1, type: "int32" }, error_message: { number: 2, type: "string" } }),
    },
  },
};
