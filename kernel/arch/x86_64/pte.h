/* The page-table format of x86-64; memory.c allows leaves of 1 GB once the processor says it has them. */
#pragma once
#include "kernel/arch/pt.h"

extern struct pt_format pte_format;
