import { join, resolve } from "node:path";

export interface Welcome {
  readonly startedInMs: number;
  readonly dataDir: string;
  readonly signInLink: string;
  readonly api: string;
  readonly http: string;
  readonly grpc: string;
  readonly kubeconfig: string;
  readonly demo: boolean;
}

/** The one screen that `capstan up` shows: what runs, where it is, and what to try first. */
export function welcome(running: Welcome): string {
  const { startedInMs, dataDir, signInLink, api, http, grpc, kubeconfig, demo } = running;
  const things = demo ? demoThings : otherThings;
  const width = Math.max(...things.map(([command]) => command.length));
  return `Capstan is up (${startedInMs} ms): worlds, class runtimes, Minecraft servers, actions and the service registry.

  dashboard    ${signInLink}
  Kubernetes   ${api}
  kubeconfig   ${kubeconfig}
  registry     ${http}/api/v1
  class API    ${grpc} (gRPC)

Try, in a second terminal:

  ${settingsFor(running).join("\n  ")}

${things.map(([command, meaning]) => `  ${command.padEnd(width)}   # ${meaning}`).join("\n")}

Ctrl-C stops it. Everything is kept in ${dataDir}; the next start goes on from there.
`;
}

/** The commands find the default folder by themselves. */
const settingsFor = ({ kubeconfig, dataDir }: Welcome): readonly string[] => [
  `export KUBECONFIG=${quoted(kubeconfig)}`,
  ...(dataDir === join(resolve("."), ".capstan") ? [] : [`export CAPSTAN_DATA_DIR=${quoted(dataDir)}`]),
];

const quoted = (path: string): string => (/^[\w./:@+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

type Thing = readonly [command: string, meaning: string];

const demoThings: readonly Thing[] = [
  ["npx capstan explain world stormy-world -n anvil-demo", "why a world does not run"],
  ["npx capstan approve checkout-is-slow-step-1 -n shop-demo", "let a remediation run that waits"],
  ["kubectl scale deployment providers --replicas=0 -n anvil-demo", "take providers away; see get capbind -A"],
];

const otherThings: readonly Thing[] = [
  ["kubectl get capstan -A", "all of Capstan's objects"],
  ["kubectl explain world.spec", "what a kind consists of"],
  ["npx capstan doctor", "whether all is well"],
];
