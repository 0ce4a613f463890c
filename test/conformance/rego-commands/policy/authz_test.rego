package authz_test

import data.authz

users := {"ann": ["admin"], "bob": ["dev"]}

test_admin if authz.allow with input as {"user": "ann"} with data.roles as users

test_guest_reads if {
	print("guest reads")
	authz.allow with input as {"user": "eve", "method": "GET", "path": ["a"]} with data.roles as users
}

test_guest_writes_nothing if {
	not authz.allow with input as {"user": "eve", "method": "PUT", "path": ["a"]} with data.roles as users
}

test_names if authz.names == {"ann", "bob"} with data.roles as users
