package kubernetesexecution.safety.production_test

import data.kubernetesexecution.safety.production
import rego.v1

request(action, environment) := {"action": action, "namespace_labels": {"environment": environment}}

test_production_wants_approval if {
	production.require_approval with input as request("scale_deployment", "production")
}

test_other_namespaces_do_not if {
	not production.require_approval with input as request("scale_deployment", "staging")
	not production.require_approval with input as {"action": "scale_deployment", "namespace_labels": {}}
}

test_nodes_always_want_approval if {
	production.require_approval with input as {"action": "drain_node", "namespace_labels": {}}
}

test_what_can_break_in_many_ways_is_tried_first if {
	production.require_dry_run with input as request("patch_deployment", "production")
	not production.require_dry_run with input as request("patch_deployment", "staging")
	not production.require_dry_run with input as request("scale_deployment", "production")
}
