#!/bin/sh
# 10,000 connections over loopback, open at once: requests on one, and on each in turn.
. "${0%/*}/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
"$compiler" -D_GNU_SOURCE -O1 -static -o "$work/connections" test/bench/linux/connections.c
tar -C "$work" -cf "$work/initrd.tar" connections

boot smp=4 mem=1G timeout=120 "initrd=$work/initrd.tar" -- -- /connections 10000 500
status_is 0 "10,000 connections"
says "CONNECTIONS n=10000 one=" "each of them transfers"
done_testing
