# An example: production is changed from 09:00 to 17:00 UTC only, unless the target says that it is an emergency.
package kubernetesexecution.safety.time

import rego.v1

deny contains message if {
	input.namespace_labels.environment == "production"
	not emergency
	[hour, _, _] := time.clock(time.now_ns())
	not hour in numbers.range(9, 16)
	message := sprintf("Production is changed from 09:00 to 17:00 UTC only; it is %d o'clock", [hour])
}

emergency if input.target_resource.annotations["kubernaut.ai/emergency-override"] == "true"
