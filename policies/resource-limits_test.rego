package kubernetesexecution.safety.limits_test

import data.kubernetesexecution.safety.limits
import rego.v1

scale(replicas, labels) := {
	"action": "scale_deployment",
	"parameters": {"replicas": replicas},
	"target_resource": {"labels": labels},
}

node(action, total, available) := {
	"action": action,
	"cluster_info": {"total_nodes": total, "available_nodes": available},
	"target": {"spec": {}},
}

test_up_to_the_limit if {
	count(limits.deny) == 0 with input as scale(110, {})
}

test_above_the_limit if {
	limits.deny == {"111 replicas are more than the limit of 110"} with input as scale(111, {})
}

test_autoscalers_have_the_same_limit if {
	count(limits.deny) == 1 with input as {"action": "update_hpa", "parameters": {"maxReplicas": 200}}
}

test_critical_deployments_keep_a_pod if {
	count(limits.deny) == 1 with input as scale(0, {"critical": "true"})
	count(limits.deny) == 0 with input as scale(1, {"critical": "true"})
	count(limits.deny) == 0 with input as scale(0, {})
}

test_small_clusters_are_not_drained if {
	count(limits.deny) == 1 with input as node("drain_node", 2, 2)
	count(limits.deny) == 0 with input as node("drain_node", 3, 3)
}

test_the_last_node_is_not_cordoned if {
	count(limits.deny) == 1 with input as node("cordon_node", 3, 1)
	count(limits.deny) == 0 with input as node("cordon_node", 3, 2)
	count(limits.deny) == 0 with input as node("uncordon_node", 3, 1)
}
