# What the action executor asks before it changes a cluster.
package kubernetesexecution.safety

default allow := false

protected := {"kube-system", "kube-public", "kube-node-lease", "kubernaut-system"}

destructive := {"DrainNode", "DeletePod", "ScaleDeployment"}

deny contains message if {
	input.target.namespace in protected
	message := sprintf("namespace %s is protected", [input.target.namespace])
}

deny contains message if {
	input.action == "ScaleDeployment"
	input.parameters.replicas > 50
	message := sprintf("%d replicas are more than 50", [input.parameters.replicas])
}

deny contains message if {
	input.action == "ScaleDeployment"
	input.parameters.replicas < 0
	message := "replicas must not be negative"
}

deny contains message if {
	input.action == "UpdateImage"
	not regex.match(`^[a-z0-9./-]+:[A-Za-z0-9_.-]+$`, input.parameters.image)
	message := "image needs a tag"
}

require_approval if {
	input.action in destructive
	input.target.labels.environment == "production"
}

require_approval if {
	input.action == "DrainNode"
	input.facts.nodes_ready < 3
}

allow if {
	count(deny) == 0
	not require_approval
}

decision := {"allow": allow, "deny": deny, "approval": approval}

default approval := false

approval if require_approval
