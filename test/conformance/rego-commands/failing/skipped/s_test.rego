package skipped

todo_test_later if false

test_now if true
