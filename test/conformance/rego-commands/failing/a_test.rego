package a_test

test_z if 1 == 1

test_a if 1 == 2
