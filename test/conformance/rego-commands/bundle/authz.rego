package authz

import data.roles

default allow := false

# Admins may do anything.
allow if {
	some role in roles[input.user]
	role == "admin"
}

allow if {
	input.method == "GET"
	not denied
}

denied if input.path == ["secret"]

names contains name if some name, _ in roles

by_role[role] contains name if {
	some name
	some role in roles[name]
}
