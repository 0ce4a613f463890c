"""What a Python program does with the class runtime API; prints one JSON object that the test looks at."""

import json
import sys

folder, address = sys.argv[1:]
sys.path.insert(0, folder)

import grpc
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import MessageToDict
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

import common_pb2 as common
import deployment_pb2 as deployment
import deployment_pb2_grpc
import deployment_types_pb2 as types
import health_pb2 as health
import health_pb2_grpc
import topology_pb2 as topology
import topology_pb2_grpc

found = {}


def ask(name, method, request, **options):
    try:
        answer, call = method.with_call(request, **({"timeout": 30} | options))
        headers = {key: value for key, value in call.initial_metadata()}
        found[name] = {"code": "OK", "answer": MessageToDict(answer, preserving_proto_field_name=True), "headers": headers}
    except grpc.RpcError as error:
        # A call that ends at once has only trailers.
        headers = {key: value for key, value in error.trailing_metadata()}
        found[name] = {"code": error.code().name, "details": error.details(), "headers": headers}


def unit(id, **more):
    image = common.ProvisionConfig(container_image="example/echo:1", min_scale=1)
    function = types.FunctionDeploymentSpec(function_key="shop.add", provision_config=image, config={"A": "1"})
    return types.DeploymentUnit(id=id, package_name="shop", class_key="Cart", target_env="e", functions=[function], **more)


unlimited = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]
with grpc.insecure_channel(address, options=unlimited) as channel:
    service = deployment_pb2_grpc.DeploymentServiceStub(channel)
    wanted = deployment.DeployRequest(deployment_unit=unit("Py_1"))
    ask("deploy", service.Deploy, wanted, metadata=(("x-correlation-id", "abc"),))
    ask("again", service.Deploy, wanted)
    ask("namesake", service.Deploy, deployment.DeployRequest(deployment_unit=unit("py.1")))
    ask("no unit", service.Deploy, deployment.DeployRequest(), metadata=(("x-correlation-id", "xyz"),))
    ask("status", service.GetDeploymentStatus, deployment.GetDeploymentStatusRequest(deployment_id="Py_1"))
    ask("list", service.ListClassRuntimes, deployment.ListClassRuntimesRequest(class_key="Cart"))
    ask("nobody", service.GetClassRuntime, deployment.GetClassRuntimeRequest(deployment_id="nobody"))

    for encoding in (grpc.Compression.Gzip, grpc.Compression.Deflate):
        long = deployment.ListClassRuntimesRequest(package_name="x" * 5_000)
        ask(encoding.name, service.ListClassRuntimes, long, compression=encoding)
    for name, size in (("too long for an object", 3_900_000), ("too long", 4_300_000), ("far too long", 40_000_000)):
        big = unit("big")
        big.functions[0].config["A"] = "x" * size
        ask(name, service.Deploy, deployment.DeployRequest(deployment_unit=big))
    ask("unknown method", channel.unary_unary("/oaas.deployment.DeploymentService/None"), b"")

    ask("check", health_pb2_grpc.HealthServiceStub(channel).Check, health.HealthCheckRequest())
    watching = health_pb2_grpc.HealthServiceStub(channel).Watch(health.HealthCheckRequest())
    found["watch"] = health.HealthCheckResponse.ServingStatus.Name(next(watching).status)
    watching.cancel()
    ask("environment", health_pb2_grpc.CrmInfoServiceStub(channel).GetEnvHealth, health.CrmEnvRequest())
    ask("topology", topology_pb2_grpc.TopologyServiceStub(channel).GetTopology, topology.TopologyRequest())

    told = ProtoReflectionDescriptorDatabase(channel)
    request = DescriptorPool(told).FindMessageTypeByName("oaas.deployment.DeployRequest")
    found["reflected"] = {"services": sorted(told.get_services()), "fields": [field.name for field in request.fields]}

    many = [service.ListClassRuntimes.future(deployment.ListClassRuntimesRequest(), timeout=30) for _ in range(500)]
    found["at once"] = sum(1 for call in many if len(call.result().items) == 1)
    ask("late", channel.unary_unary("/test.Slow/Never"), b"", timeout=0.2)
    ask("delete", service.DeleteDeployment, deployment.DeleteDeploymentRequest(deployment_id="Py_1"))

print(json.dumps(found))
