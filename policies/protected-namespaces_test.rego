package kubernetesexecution.safety.namespaces_test

import data.kubernetesexecution.safety.namespaces
import rego.v1

scale(namespace) := {
	"action": "scale_deployment",
	"namespace": namespace,
	"target_resource": {"kind": "Deployment", "name": "web", "namespace": namespace},
	"affected": [],
	"protected_namespaces": ["vault"],
}

test_an_ordinary_namespace_may_be_changed if {
	count(namespaces.deny) == 0 with input as scale("shop")
}

test_the_cluster_s_own_namespaces_may_not if {
	every namespace in ["kube-system", "kube-public", "kube-node-lease", "kubernaut-system", "kubernaut-executor"] {
		count(namespaces.deny) == 1 with input as scale(namespace)
	}
}

test_configured_namespaces_may_not if {
	namespaces.deny == {"Actions not allowed in protected namespace 'vault'"} with input as scale("vault")
}

test_a_drain_may_not_remove_protected_pods if {
	drain := {
		"action": "drain_node",
		"namespace": "",
		"target_resource": {"kind": "Node", "name": "node-1"},
		"affected": [{"metadata": {"name": "dns", "namespace": "kube-system"}}],
		"protected_namespaces": [],
	}
	count(namespaces.deny) == 1 with input as drain
}
