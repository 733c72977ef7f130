/* The ChaCha20 block function (RFC 8439, 2.3). Pure. */
#pragma once
#include "kernel/lib/base.h"

#define CHACHA20_KEY_WORDS   8
#define CHACHA20_NONCE_WORDS 3
#define CHACHA20_BLOCK       64 /* bytes */

/* Computes the block of this key, number and nonce. */
void chacha20_block(const uint32_t key[CHACHA20_KEY_WORDS], uint32_t number,
                    const uint32_t nonce[CHACHA20_NONCE_WORDS], uint8_t out[CHACHA20_BLOCK]);
