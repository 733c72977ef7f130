/* The kinds of devices there are, by class, in the order they are looked for. Each ends with
 * NULL. */
#pragma once

struct block_driver;

extern const struct block_driver *const block_drivers[];
