package conflict

p := 1 if input.x

p := 2 if input.x

f(x) := 1 if x

f(x) := 2 if x

o[k] := v if {
	some v in [1, 2]
	k := "a"
}

q := f(true)
