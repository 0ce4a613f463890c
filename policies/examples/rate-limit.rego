# An example: not too many actions at once, and not too many on one target within the window.
package kubernetesexecution.safety.rate

import rego.v1

max_concurrent := 10

deny contains message if {
	input.concurrent_actions >= max_concurrent
	message := sprintf("%d actions run already", [input.concurrent_actions])
}

deny contains message if {
	input.rate_limit_state.count >= input.rate_limit_state.max_count
	message := sprintf("The target was changed %d times within %d seconds", [
		input.rate_limit_state.count,
		input.rate_limit_state.window_seconds,
	])
}
