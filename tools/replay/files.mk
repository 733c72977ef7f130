# Page traces of several formats, the machine's view of them, and what replays them (vigil-replay).
TRACE_READING := $(call files,trace.c trace_binary.c trace_text.c)
SIMULATE_SRC := $(call files,simulate.c) test/machine/path.c
REPLAY_SRC := $(call files,belady.c main.c replay.c) $(SIMULATE_SRC) $(TRACE_READING)
