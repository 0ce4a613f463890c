package f_test

import rego.v1

f(x) := y if y = [1, 2][_]

test_passes if true

test_fails if {
	x := 1
	print("x is", x)
	x == 2
}

test_errors if f(1) == 1

todo_test_later if false

test_false := false

test_second if {
	y := input.missing
	y == 1
}
