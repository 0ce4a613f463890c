/** Runs the controller against the cluster of a kubeconfig: `node main.ts KUBECONFIG`. */
import {
  clientFromKubeconfig,
  createLogger,
  createManager,
  customResourceDefinition,
  type KindRef,
  type KubeObject,
  systemEnv,
} from "../../src/index.ts";
import { Page } from "./page.ts";
import { publishPages } from "./publish.ts";

const CustomResourceDefinition: KindRef<KubeObject & { readonly spec: unknown }> = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
};

const { client, close } = await clientFromKubeconfig({ env: systemEnv, paths: [process.argv[2] ?? ""] });
await client.apply(CustomResourceDefinition, customResourceDefinition(Page), { fieldManager: "pages", force: true });

const log = createLogger({ env: systemEnv, level: "info", format: "pretty", writeLine: (line) => console.error(line) });
const manager = createManager({ env: systemEnv, client, log });
manager.add(publishPages);
await manager.start();
console.log("publishing pages");

process.once("SIGTERM", stop);
process.once("SIGINT", stop);

async function stop(): Promise<void> {
  await manager.stop();
  await close();
}
