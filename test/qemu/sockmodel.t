#!/bin/sh
# Random operations on sockets, and on pipes, eventfd, signalfd and timerfd, each against a model,
# with poll, select and epoll: under the host's Linux, where it is of this architecture, and in
# Vigil.
#   SEEDS="N..."   of the operations
. "${0%/*}/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
"$compiler" -O1 -static -I. -o "$work/sockmodel" test/linux/sockmodel.c
"$compiler" -O1 -static -I. -o "$work/waitmodel" test/linux/waitmodel.c
tar -C "$work" -cf "$work/initrd.tar" sockmodel waitmodel

for seed in ${SEEDS:-1 2}; do
	if [ "$arch" = "$(uname -m)" ]; then
		for model in sockmodel waitmodel; do
			status=0
			"$work/$model" "$seed" >"$console" || status=$?
			status_is 0 "$model is that of Linux; seed $seed"
		done
	fi
	boot smp=2 timeout=120 "initrd=$work/initrd.tar" -- -- /sockmodel "$seed"
	status_is 0 "sockets do what the model says; seed $seed"
	boot smp=4 timeout=120 "initrd=$work/initrd.tar" -- net.instances=3 -- /sockmodel "$seed"
	status_is 0 "... on 4 CPUs with 3 instances of lwIP"
	boot smp=2 timeout=120 "initrd=$work/initrd.tar" -- -- /waitmodel "$seed"
	status_is 0 "so do pipes, eventfd, signalfd, timerfd"
done
done_testing
