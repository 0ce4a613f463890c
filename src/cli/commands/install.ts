import { Command } from "commander";
import { customResourceDefinitions } from "../../api/crds.ts";
import { stringifyYamlDocuments } from "../../kube/yaml.ts";
import { Failure, failClearly } from "../failure.ts";
import { setting } from "../settings.ts";

/** `capstan install`: prints what a cluster needs, for `kubectl apply --server-side -f -`. */
export function installCommand(): Command {
  return new Command("install")
    .description("Print the objects that a cluster needs, as YAML for `kubectl apply --server-side -f -`.")
    .addOption(setting("--crds-only", "only the CustomResourceDefinitions").default(false))
    .addHelpText("after", "\nExample:\n  capstan install --crds-only | kubectl apply --server-side -f -\n")
    .action((flags: { readonly crdsOnly: boolean }) => failClearly(() => install(flags.crdsOnly)));
}

async function install(crdsOnly: boolean): Promise<void> {
  if (!crdsOnly) {
    throw new Failure("this version can only print the CRDs: add --crds-only. Deployments and RBAC are not there yet.");
  }
  process.stdout.write(stringifyYamlDocuments(customResourceDefinitions));
}
