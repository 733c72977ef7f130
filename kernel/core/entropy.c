/* See entropy.h. */
#include "kernel/core/entropy.h"
#include "kernel/arch/arch.h"
#include "kernel/core/printf.h"

#define JITTER_ROUNDS 4096
#define KEY_BYTES     (CHACHA20_KEY_WORDS * sizeof(uint32_t))

uint64_t entropy_wanted;

static uint32_t secret[CHACHA20_KEY_WORDS]; /* fixed once made */
static uint64_t streams;                    /* atomic: made so far */
static struct entropy_stream own = {.lock = SPINLOCK(LOCK_ENTROPY, "entropy")};

/* Makes two keys of one; `next` may be `key`. */
static void split_key(const uint32_t key[CHACHA20_KEY_WORDS],
                      const uint32_t nonce[CHACHA20_NONCE_WORDS], uint32_t next[CHACHA20_KEY_WORDS],
                      uint8_t other[KEY_BYTES])
{
    uint8_t block[CHACHA20_BLOCK];

    chacha20_block(key, 0, nonce, block);
    memcpy(next, block, KEY_BYTES);
    memcpy(other, block + KEY_BYTES, KEY_BYTES);
}

static const uint32_t no_nonce[CHACHA20_NONCE_WORDS];

/* ---- The secret ------------------------------------------------------------------------------ */

static void put_word(unsigned i, uint64_t v)
{
    secret[i % (CHACHA20_KEY_WORDS / 2) * 2] ^= (uint32_t)v;
    secret[i % (CHACHA20_KEY_WORDS / 2) * 2 + 1] ^= (uint32_t)(v >> 32);
}

static bool secret_from_processor(void)
{
    for (unsigned i = 0; i < CHACHA20_KEY_WORDS / 2; i++) {
        uint64_t v;
        if (!arch_random(&v))
            return false;
        put_word(i, v);
    }
    return true;
}

/* Stirs the clock in, over and over: how long a round takes varies with caches, interrupts and
 * the host of a virtual machine. */
static void secret_from_jitter(void)
{
    uint8_t unused_half[KEY_BYTES];

    for (unsigned i = 0; i < JITTER_ROUNDS; i++) {
        put_word(i, arch_ticks());
        split_key(secret, no_nonce, secret, unused_half);
    }
    kprintf("entropy: source=jitter: this processor has no generator of random numbers; programs' "
            "are made of the clock's jitter, and are no secrets\n");
}

void entropy_start(bool repeat)
{
    if (entropy_wanted || repeat)
        put_word(0, entropy_wanted);
    else if (!secret_from_processor())
        secret_from_jitter();
    entropy_stream_init(&own, 0);
}

/* ---- Streams --------------------------------------------------------------------------------- */

void entropy_stream_init(struct entropy_stream *s, uint32_t pid)
{
    uint64_t number = __atomic_fetch_add(&streams, 1, __ATOMIC_RELAXED);
    const uint32_t nonce[CHACHA20_NONCE_WORDS] = {pid, (uint32_t)number, (uint32_t)(number >> 32)};
    uint8_t unused_half[KEY_BYTES];

    spin_init(&s->lock, LOCK_ENTROPY, "entropy");
    split_key(secret, nonce, s->key, unused_half);
}

void entropy_bytes(struct entropy_stream *s, void *out, size_t n)
{
    uint8_t block[CHACHA20_BLOCK], half[KEY_BYTES], *to = out;
    uint32_t key[CHACHA20_KEY_WORDS];
    struct entropy_stream *of = s ? s : &own;
    bool irq = spin_lock(&of->lock);

    split_key(of->key, no_nonce, of->key, half);
    spin_unlock(&of->lock, irq);
    if (n <= sizeof(half)) {
        memcpy(out, half, n);
        return;
    }
    memcpy(key, half, sizeof(key));
    for (uint32_t number = 0; n; number++) {
        size_t part = MIN(n, sizeof(block));
        chacha20_block(key, number, no_nonce, block);
        memcpy(to, block, part);
        to += part;
        n -= part;
    }
}
