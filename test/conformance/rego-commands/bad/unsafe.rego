package bad

q if x > y

r := count(1)

s := data.bad.s
