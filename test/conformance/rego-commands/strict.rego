package strict

import data.unused

p if {
	x := 1
	input.y == 2
}

f(a, b) := a
