# What every program is linked with.
COMMON_SRC := $(call files,arena.c args.c histogram.c plan.c team.c)
# What programs on large arrays have in common (spmd.h).
SPMD_SRC := $(call files,real.c spmd.c)
# What a server and its users have in common (served.h), and its tables.
SERVED_SRC := $(call files,connection.c served.c)
BTREE_SRC := $(call files,btree.c)
