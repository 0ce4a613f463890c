package coverage

import rego.v1

f(x) := x + 1

p.q := 1

s contains 1

s contains x if some x in [2, 3]

g(x) if x > 1

else := 2 if {
	x < 0
}

h := [y | some z in [1, 2]; y := z + 1]

k if {
	every z in [1, 2] {
		z > 0
	}
	not g(0)
}

default d := 1

d := 2 if input.nope

t := f(1)
