/* Where Linux's system-call interface differs between instruction sets. */
#pragma once

/* Arguments of clone(2), whose order differs (clone(2), "C library/kernel differences"). */
#define ARCH_CLONE_CHILD_TID 3
#define ARCH_CLONE_TLS       4
