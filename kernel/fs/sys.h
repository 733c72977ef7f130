/* /sys. */
#pragma once
#include "kernel/fs/pseudo.h"

extern struct pseudo sys_fs;
