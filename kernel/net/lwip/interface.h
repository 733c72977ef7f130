/*
 * The interface to the world: a network card under lwIP, with an address of its own. Boot arguments
 * `net.*`.
 */
#pragma once
#include "kernel/core/cmdline.h"

extern const struct arg net_args[];
/* Opens the card that the arguments name, if there is one, and gives it an address. Waits for one
 * by DHCP, for a few seconds. Prints what there is, or what is wrong. Boot, once, after the cards
 * were found. Thread context. */
void net_interface_start(void);
/* Prints how many frames were refused, and why, if any were. Thread context. */
void net_interface_report(void);
