# Namespaces labelled `environment: production`: somebody else must agree, and a dry run comes first.
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
