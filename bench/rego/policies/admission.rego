# Kubernetes admission: the usual house rules for pods.
package kubernetes.admission

deny contains message if {
	input.request.kind.kind == "Pod"
	some container in input.request.object.spec.containers
	not startswith(container.image, "registry.example.com/")
	message := sprintf("image '%v' comes from an untrusted registry", [container.image])
}

deny contains message if {
	input.request.kind.kind == "Pod"
	some container in input.request.object.spec.containers
	not container.resources.limits.memory
	message := sprintf("container '%v' has no memory limit", [container.name])
}

deny contains message if {
	input.request.kind.kind == "Pod"
	some container in input.request.object.spec.containers
	container.securityContext.privileged
	message := sprintf("container '%v' is privileged", [container.name])
}

deny contains message if {
	input.request.kind.kind == "Pod"
	required := {"app", "team"}
	provided := {label | some label, _ in input.request.object.metadata.labels}
	missing := required - provided
	count(missing) > 0
	message := sprintf("labels are missing: %s", [concat(", ", missing)])
}

deny contains message if {
	input.request.kind.kind == "Pod"
	some container in input.request.object.spec.containers
	endswith(container.image, ":latest")
	message := sprintf("container '%v' uses the tag latest", [container.name])
}
