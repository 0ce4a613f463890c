// Consul as one server with its log on disk: a registration that it has answered is durable, as ours is. Built by
// build-peers.ts from its Go module.
import { type Peer, startPeer } from "./peer.ts";

const port = 18_500;

export const startConsul = (file: string): Promise<Peer> =>
  startPeer({
    file,
    url: `http://127.0.0.1:${port}`,
    args: (folder) => [
      "agent",
      "-server",
      "-bootstrap-expect=1",
      `-data-dir=${folder}`,
      "-bind=127.0.0.1",
      "-client=127.0.0.1",
      `-http-port=${port}`,
      "-dns-port=-1",
      "-grpc-tls-port=-1",
      "-serf-lan-port=18301",
      "-serf-wan-port=-1",
      "-server-port=18300",
      "-node=bench",
      "-log-level=err",
      // Its own limit on requests of one client is not what is measured.
      "-hcl=limits { http_max_conns_per_client = 1000 }",
    ],
    env: () => ({ GOMAXPROCS: "1" }),
    readyPath: "/v1/catalog/nodes?consistent",
  });
