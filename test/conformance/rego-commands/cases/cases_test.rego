package cases_test

test_cases[name] if {
	some name, c in {"one": [1, 1], "two": [1, 2]}
	c[0] == c[1]
}

test_concat[note] if {
	some note, tc in {"a": 1}
	tc == 1
}

test_part contains 1 if true

test_sum[tc.note] if {
	some tc in [{"note": "small", "a": 1, "b": 2, "want": 3}, {"note": "wrong", "a": 1, "b": 1, "want": 3}]
	got := tc.a + tc.b
	got == tc.want
}

test_deep[a][b] if {
	some a in ["x", "y"]
	some b in [1, 2]
	b == 1
}

test_none[x] if {
	some x in input.xs
}

test_value[x] := x > 1 if some x in [1, 2]

test_text := "yes"
