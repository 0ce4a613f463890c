# Who may do what: roles are data, requests are input.
package rbac

default allow := false

allow if {
	some role in data.bindings[input.user]
	some permission in data.roles[role]
	permission.resource == input.resource
	permission.action == input.action
}

allow if "admin" in data.bindings[input.user]

reasons contains reason if {
	not allow
	reason := sprintf("%s may not %s %s", [input.user, input.action, input.resource])
}
