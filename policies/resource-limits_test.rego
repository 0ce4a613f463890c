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

test_what_is_no_number_is_above_every_limit if {
	limits.deny == {"many replicas are more than the limit of 110"} with input as scale("many", {})
}

test_autoscalers_have_the_same_limit if {
	count(limits.deny) == 1 with input as {"action": "update_hpa", "parameters": {"maxReplicas": 200}}
}

test_critical_deployments_keep_a_pod if {
	count(limits.deny) == 1 with input as scale(0, {"critical": "true"})
	count(limits.deny) == 0 with input as scale(1, {"critical": "true"})
	count(limits.deny) == 0 with input as scale(0, {})
}

# The same number, asked for in other ways.
patched(patch) := {"action": "patch_deployment", "patch": patch, "target_resource": {"labels": {"critical": "true"}}}

other_ways(replicas) := [
	patched({"type": "merge", "value": {"spec": {"replicas": replicas}}}),
	patched({"type": "strategic", "value": {"spec": {"replicas": replicas}}}),
	patched({"type": "json", "operations": [{"op": "replace", "path": "/spec/replicas", "value": replicas}]}),
	patched({"type": "json", "operations": [{"op": "replace", "path": "/spec", "value": {"replicas": replicas}}]}),
	{
		"action": "apply_manifest",
		"manifest": {"spec": {"replicas": replicas}},
		"target_resource": {"labels": {"critical": "true"}},
	},
]

test_patches_and_manifests_have_the_same_limits if {
	every way in other_ways(111) {
		count(limits.deny) == 1 with input as way
	}
	every way in other_ways(0) {
		count(limits.deny) == 1 with input as way
	}
	every way in other_ways(110) {
		count(limits.deny) == 0 with input as way
	}
}

test_an_autoscaler_in_a_manifest_has_the_same_limit if {
	count(limits.deny) == 1 with input as {"action": "apply_manifest", "manifest": {"spec": {"maxReplicas": 111}}}
}

taint(effect, total, available) := object.union(
	node("taint_node", total, available),
	{"parameters": {"effect": effect}},
)

test_a_taint_that_empties_or_closes_a_node_counts_as_such if {
	count(limits.deny) == 1 with input as taint("NoExecute", 2, 2)
	count(limits.deny) == 1 with input as taint("NoSchedule", 3, 1)
	count(limits.deny) == 0 with input as taint("NoSchedule", 2, 2)
	count(limits.deny) == 0 with input as taint("PreferNoSchedule", 1, 1)
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
