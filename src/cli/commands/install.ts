import { Command, InvalidArgumentError } from "commander";
import packageFile from "../../../package.json" with { type: "json" };
import { customResourceDefinitions } from "../../api/crds.ts";
import { installObjects } from "../../control-plane/manifests.ts";
import { stringifyYamlDocuments } from "../../kube/yaml.ts";
import { failClearly } from "../failure.ts";
import { setting } from "../settings.ts";

interface InstallFlags {
  readonly crdsOnly: boolean;
  readonly namespace: string;
  readonly image: string;
  readonly replicas: number;
  readonly single: boolean;
  readonly registryNamespace: string;
}

/** `capstan install`: prints what a cluster needs, for `kubectl apply --server-side -f -`. */
export function installCommand(): Command {
  return new Command("install")
    .description("Print the objects that a cluster needs, as YAML for `kubectl apply --server-side -f -`.")
    .addOption(setting("--crds-only", "only the CustomResourceDefinitions").default(false))
    .addOption(setting("--namespace <name>", "where Capstan runs").default("capstan-system"))
    .addOption(setting("--image <image>", "the image that it runs").default(`capstan:${packageFile.version}`))
    .addOption(setting("--replicas <count>", "replicas of each Deployment").argParser(parseReplicas).default(2))
    .addOption(setting("--single", "one Deployment for everything instead of one for each system").default(false))
    .addOption(
      setting("--registry-namespace <name>", "where registered services are mirrored").default("capstan-system"),
    )
    .addHelpText(
      "after",
      "\nExamples:\n  capstan install | kubectl apply --server-side -f -\n  capstan install --crds-only | kubectl apply --server-side -f -\n",
    )
    .action((flags: InstallFlags) => failClearly(() => install(flags)));
}

async function install(flags: InstallFlags): Promise<void> {
  const objects = flags.crdsOnly ? customResourceDefinitions : installObjects(flags);
  process.stdout.write(stringifyYamlDocuments(objects));
}

function parseReplicas(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError("Replicas are a whole number from 1.");
  return count;
}
