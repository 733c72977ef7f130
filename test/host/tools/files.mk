test_replay_SRC := $(REPLAYING) $(TRACE_READING) tools/replay/replay.c
