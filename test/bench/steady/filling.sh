# A program that slows down: from the middle on each iteration has half as much again to do.
n=$1 i=0
while [ "$i" -lt "$n" ]; do
	k=0 most=100
	[ "$i" -lt $((n / 2)) ] || most=150
	while [ "$k" -lt "$most" ]; do
		k=$((k + 1))
	done
	i=$((i + 1))
	echo "iteration $i"
done
