# Limits that no single action may cross, whichever action it is that would cross them.
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
