# Limits that no single action may cross.
package kubernetesexecution.safety.limits

import rego.v1

max_replicas := 110

min_nodes_to_drain := 3

deny contains message if {
	input.action in {"scale_deployment", "scale_statefulset"}
	input.parameters.replicas > max_replicas
	message := sprintf("%d replicas are more than the limit of %d", [input.parameters.replicas, max_replicas])
}

deny contains message if {
	input.action == "update_hpa"
	input.parameters.maxReplicas > max_replicas
	message := sprintf("maxReplicas %d is more than the limit of %d", [input.parameters.maxReplicas, max_replicas])
}

deny contains message if {
	input.action == "scale_deployment"
	input.parameters.replicas == 0
	input.target_resource.labels.critical == "true"
	message := "Cannot scale critical deployment to zero replicas"
}

deny contains message if {
	input.action == "drain_node"
	input.cluster_info.total_nodes < min_nodes_to_drain
	message := sprintf("A cluster of %d nodes is too small to drain one; %d are needed", [
		input.cluster_info.total_nodes,
		min_nodes_to_drain,
	])
}

deny contains "Cannot cordon the last node that takes pods" if {
	input.action in {"cordon_node", "drain_node"}
	input.cluster_info.available_nodes <= 1
	not input.target.spec.unschedulable
}
