// r-nacos (Rust), built by build-peers.ts. One HTTP worker, as our server has one thread.
import { type Peer, startPeer } from "./peer.ts";

const port = 18_848;

export const startRnacos = (file: string): Promise<Peer> =>
  startPeer({
    file,
    url: `http://127.0.0.1:${port}`,
    args: () => [],
    env: (folder) => ({
      RNACOS_HTTP_PORT: String(port),
      RNACOS_GRPC_PORT: String(port + 1000),
      RNACOS_HTTP_CONSOLE_PORT: String(port + 2000),
      RNACOS_DATA_DIR: folder,
      RNACOS_HTTP_WORKERS: "1",
      RNACOS_ENABLE_NO_AUTH_CONSOLE: "true",
    }),
    readyPath: "/nacos/v1/ns/operator/metrics",
  });
