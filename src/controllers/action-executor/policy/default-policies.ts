/** The policies of policies/*.rego as text, so that they are part of the bundle; a test holds the two against each other. */
export const defaultPolicies: Readonly<Record<string, string>> = {
  "production.rego": `# Namespaces labelled \`environment: production\`: somebody else must agree, and a dry run comes first.
package kubernetesexecution.safety.production

import rego.v1

production if input.namespace_labels.environment == "production"

require_approval if production

# What happens to a node, happens to every namespace on it.
require_approval if input.action in {"drain_node", "taint_node"}

require_dry_run if {
	production
	input.action in {"patch_deployment", "apply_manifest", "update_network_policy", "increase_resources"}
}
`,
  "protected-namespaces.rego": `# Nobody changes the cluster's own namespaces, nor ours, through an action.
package kubernetesexecution.safety.namespaces

import rego.v1

always_protected := {"kube-system", "kube-public", "kube-node-lease", "kubernaut-system", "kubernaut-executor"}

configured := {namespace | some namespace in input.protected_namespaces}

protected := always_protected | configured

deny contains message if {
	some namespace in touched
	namespace in protected
	message := sprintf("Actions not allowed in protected namespace '%s'", [namespace])
}

touched contains input.namespace if input.namespace != ""

# An action on a node also touches the pods that it removes from it.
touched contains object.metadata.namespace if {
	some object in input.affected
}

touched contains input.target_resource.name if input.target_resource.kind == "Namespace"
`,
  "resource-limits.rego": `# Limits that no single action may cross, whichever action it is that would cross them.
package kubernetesexecution.safety.limits

import rego.v1

max_replicas := 110

min_nodes_to_drain := 3

deny contains message if {
	some replicas in wanted_replicas
	replicas > max_replicas
	message := sprintf("%v replicas are more than the limit of %d", [replicas, max_replicas])
}

deny contains message if {
	some replicas in wanted_max_replicas
	replicas > max_replicas
	message := sprintf("maxReplicas %v is more than the limit of %d", [replicas, max_replicas])
}

deny contains "Cannot scale critical deployment to zero replicas" if {
	input.target_resource.labels.critical == "true"
	0 in wanted_replicas
}

deny contains message if {
	empties_a_node
	input.cluster_info.total_nodes < min_nodes_to_drain
	message := sprintf("A cluster of %d nodes is too small to drain one; %d are needed", [
		input.cluster_info.total_nodes,
		min_nodes_to_drain,
	])
}

deny contains "Cannot cordon the last node that takes pods" if {
	closes_a_node
	input.cluster_info.available_nodes <= 1
	not input.target.spec.unschedulable
}

empties_a_node if input.action == "drain_node"

empties_a_node if {
	input.action == "taint_node"
	input.parameters.effect == "NoExecute"
}

closes_a_node if input.action in {"cordon_node", "drain_node"}

closes_a_node if {
	input.action == "taint_node"
	input.parameters.effect in {"NoSchedule", "NoExecute"}
}

# A number of pods can be asked for by its own action, by a patch or by a manifest.
wanted_replicas contains input.parameters.replicas

wanted_replicas contains input.manifest.spec.replicas

wanted_replicas contains input.patch.value.spec.replicas

wanted_replicas contains operation.value if {
	some operation in input.patch.operations
	operation.path == "/spec/replicas"
}

wanted_replicas contains operation.value.replicas if {
	some operation in input.patch.operations
	operation.path == "/spec"
}

wanted_max_replicas contains input.parameters.maxReplicas

wanted_max_replicas contains input.manifest.spec.maxReplicas
`,
};
