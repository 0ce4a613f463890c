package bad

p if {
	x := 
}
