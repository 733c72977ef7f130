# gdb -x gdbinit build/x86_64/vigil.elf, against  tools/qemu.sh kernel=build/x86_64/vigil.elf ... -- -s -S
set confirm off
set pagination off
set architecture i386:x86-64
target remote :1234

define cpus
  thread apply all -q frame
end
document cpus
What every CPU is doing; thread N is CPU N - 1.
end

define where-all
  thread apply all backtrace 12
end
document where-all
A backtrace of every CPU.
end

# A panic stops here, before the other CPUs are told.
break panic
break panic_frame
