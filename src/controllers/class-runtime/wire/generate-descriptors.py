"""Writes descriptors.ts from the .proto files: python generate-descriptors.py, with grpcio-tools installed."""

import base64
import pathlib
import tempfile

from google.protobuf import descriptor_pb2
from grpc_tools import protoc

here = pathlib.Path(__file__).parent
files = sorted((here / "proto").glob("*.proto"))
with tempfile.NamedTemporaryFile() as out:
    status = protoc.main(["protoc", f"-I{here / 'proto'}", f"--descriptor_set_out={out.name}", *map(str, files)])
    assert status == 0, "the .proto files cannot be read"
    described = descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(out.name).read_bytes())

lines = [
    "/** The .proto files in the form in which tools ask for them; written by generate-descriptors.py, and held against them by a test. */",
    "export const descriptors: readonly string[] = [",
    *(f'  "{base64.b64encode(file.SerializeToString(deterministic=True)).decode()}",' for file in sorted(described.file, key=lambda file: file.name)),
    "];",
]
print("\n".join(lines))
