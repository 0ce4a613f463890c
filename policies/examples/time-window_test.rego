package kubernetesexecution.safety.time_test

import data.kubernetesexecution.safety.time as window
import rego.v1

production := {"namespace_labels": {"environment": "production"}, "target_resource": {"annotations": {}}}

noon := 1767268800000000000

midnight := 1767225600000000000

test_at_noon_production_may_be_changed if {
	count(window.deny) == 0 with input as production with time.now_ns as noon
}

test_at_midnight_it_may_not if {
	count(window.deny) == 1 with input as production with time.now_ns as midnight
}

test_other_namespaces_may_always_be_changed if {
	count(window.deny) == 0 with input as {"namespace_labels": {}} with time.now_ns as midnight
}

test_an_emergency_knows_no_hours if {
	urgent := object.union(production, {"target_resource": {"annotations": {"kubernaut.ai/emergency-override": "true"}}})
	count(window.deny) == 0 with input as urgent with time.now_ns as midnight
}
