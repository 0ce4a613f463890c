# Nobody changes the cluster's own namespaces, nor ours, through an action.
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
