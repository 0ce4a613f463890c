/** The kinds that the dashboard shows, where they are in the API and in the address. */
export interface Kind {
  /** In the address: `#/class-runtimes/NAMESPACE/NAME`. */
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  /** `/apis/GROUP/VERSION` or `/api/v1`. */
  readonly root: string;
  readonly plural: string;
  readonly empty: string;
  readonly isClusterScoped?: true;
}

const custom = (id: string, title: string, kind: string, group: string, plural: string, empty: string): Kind => ({
  id,
  title,
  kind,
  root: `/apis/${group}`,
  plural,
  empty,
});

const game = "game.platform/v1alpha1";
const minecraft = "mc.k8s.lex.la/v1beta1";

export const worlds = custom("worlds", "Worlds", "WorldInstance", game, "worldinstances", "There is no world yet.");
export const bindings = custom(
  "bindings",
  "Capability bindings",
  "CapabilityBinding",
  game,
  "capabilitybindings",
  "Nothing is bound yet.",
);
export const modules = custom(
  "modules",
  "Module manifests",
  "ModuleManifest",
  game,
  "modulemanifests",
  "There is no module yet.",
);
export const games = custom(
  "games",
  "Game definitions",
  "GameDefinition",
  game,
  "gamedefinitions",
  "There is no game yet.",
);
export const capabilities = custom(
  "capabilities",
  "Capability definitions",
  "CapabilityDefinition",
  game,
  "capabilitydefinitions",
  "No capability is defined.",
);
export const classRuntimes = custom(
  "class-runtimes",
  "Class runtimes",
  "ClassRuntime",
  "oaas.io/v1alpha1",
  "classruntimes",
  "There is no class runtime yet.",
);
export const servers = custom(
  "servers",
  "Minecraft servers",
  "PaperMCServer",
  minecraft,
  "papermcservers",
  "There is no Minecraft server yet.",
);
export const plugins = custom("plugins", "Plugins", "Plugin", minecraft, "plugins", "There is no plugin yet.");
export const executions = custom(
  "actions",
  "Actions",
  "KubernetesExecution",
  "kubernetesexecution.kubernaut.io/v1alpha1",
  "kubernetesexecutions",
  "No action was asked for.",
);
export const remediations = custom(
  "remediations",
  "Remediation requests",
  "RemediationRequest",
  "remediation.kubernaut.io/v1alpha1",
  "remediationrequests",
  "Nothing was asked to be mended.",
);
export const workflows = custom(
  "workflows",
  "Workflow executions",
  "WorkflowExecution",
  "workflowexecution.kubernaut.io/v1alpha1",
  "workflowexecutions",
  "No workflow runs.",
);
export const services = custom(
  "services",
  "Live services",
  "ServiceTarget",
  "registry.capstan.dev/v1alpha1",
  "servicetargets",
  "No service has registered.",
);
export const events: Kind = {
  id: "events",
  title: "Events",
  kind: "Event",
  root: "/api/v1",
  plural: "events",
  empty: "Nothing has happened yet.",
};
export const namespaces: Kind = {
  id: "namespaces",
  title: "Namespaces",
  kind: "Namespace",
  root: "/api/v1",
  plural: "namespaces",
  empty: "There is no namespace.",
  isClusterScoped: true,
};

/** What “All objects” lists, system by system. */
export const browsable: readonly Kind[] = [
  worlds,
  games,
  modules,
  capabilities,
  bindings,
  classRuntimes,
  servers,
  plugins,
  executions,
  remediations,
  workflows,
  services,
];

export interface Selection {
  /** All namespaces when empty. */
  readonly namespace?: string;
  readonly name?: string;
  readonly fieldSelector?: string;
}

export function pathOf(kind: Kind, { namespace, name, fieldSelector }: Selection = {}): string {
  const scope = namespace && !kind.isClusterScoped ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  const selector = fieldSelector ?? (name === undefined ? undefined : `metadata.name=${name}`);
  const query = selector === undefined ? "" : `?fieldSelector=${encodeURIComponent(selector)}`;
  return `${kind.root}${scope}/${kind.plural}${query}`;
}

export const kindNamed = (name: string | undefined): Kind | undefined => browsable.find(({ kind }) => kind === name);
