package kubernetesexecution.safety.rate_test

import data.kubernetesexecution.safety.rate
import rego.v1

request(concurrent, count) := {
	"concurrent_actions": concurrent,
	"rate_limit_state": {"count": count, "max_count": 5, "window_seconds": 3600},
}

test_below_both_limits if {
	count(rate.deny) == 0 with input as request(9, 4)
}

test_too_many_at_once if {
	count(rate.deny) == 1 with input as request(10, 0)
}

test_too_many_on_one_target if {
	count(rate.deny) == 1 with input as request(0, 5)
}
