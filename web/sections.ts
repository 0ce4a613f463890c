/** What the dashboard shows, in the order of its menu. */
export interface Section {
  readonly id: string;
  readonly title: string;
  /** Below `/apis`. */
  readonly group: string;
  readonly plural: string;
  readonly empty: string;
}

export const sections: readonly Section[] = [
  {
    id: "modules",
    title: "Modules",
    group: "game.platform/v1alpha1",
    plural: "modulemanifests",
    empty: "No module yet.",
  },
  {
    id: "bindings",
    title: "Bindings",
    group: "game.platform/v1alpha1",
    plural: "capabilitybindings",
    empty: "Nothing is bound yet.",
  },
  {
    id: "class-runtimes",
    title: "Class runtimes",
    group: "oaas.io/v1alpha1",
    plural: "classruntimes",
    empty: "No class runtime yet.",
  },
  {
    id: "servers",
    title: "Servers",
    group: "mc.k8s.lex.la/v1beta1",
    plural: "papermcservers",
    empty: "No Minecraft server yet.",
  },
  { id: "plugins", title: "Plugins", group: "mc.k8s.lex.la/v1beta1", plural: "plugins", empty: "No plugin yet." },
  {
    id: "remediations",
    title: "Remediations",
    group: "remediation.kubernaut.io/v1alpha1",
    plural: "remediationrequests",
    empty: "Nothing was asked to be mended.",
  },
  {
    id: "actions",
    title: "Actions",
    group: "kubernetesexecution.kubernaut.io/v1alpha1",
    plural: "kubernetesexecutions",
    empty: "No action was asked for.",
  },
  {
    id: "services",
    title: "Services",
    group: "registry.capstan.dev/v1alpha1",
    plural: "servicetargets",
    empty: "No service has registered.",
  },
];
