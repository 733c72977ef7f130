/*
 * Fusion of connections whose two ends are on this machine, for the files of streams. lwIP makes
 * the connection. Then what one end sends is copied once, into chunks of the other end, under that
 * one's lock: no packets, no lock of an instance. lwIP, which has seen no data, still ends the
 * connection: FIN, RST and TIME_WAIT are its own. After fusion has ended, data goes by lwIP again
 * (as of Solaris' TCP fusion).
 *
 * [L] of stream.h guards the chunks that were passed to a stream. They are charged to the account
 * of the end that sends them.
 */
#pragma once
#include "kernel/net/lwip/stream.h"

extern uint64_t net_fusion; /* boot argument net.fusion */
/* Fuses a connected stream with one that has just arrived, of which no other thread knows. Leaves
 * both alone if lwIP has data of it. Instance's lock held. */
void net_fuse(struct net_stream *connected, struct net_stream *arrived);
/* Ends that: what is sent from now on goes to lwIP. No socket's lock held. */
void net_unfuse(struct net_stream *t);
uint64_t net_fused_count(void); /* connections that were fused since boot */

/* Makes room for n bytes of t behind what was passed to part->to. Returns 0 or -ENOBUFS. No lock
 * held. */
int net_fused_reserve(const struct net_stream *t, uint32_t n, struct net_stream_part *part);
/* Passes a part of t on. Returns false if part->to is closed, or no more the other end. No lock
 * held. */
bool net_fused_commit(const struct net_stream *t, const struct net_stream_part *part);
/* Gives back the room of a part that was not passed on. No lock held. */
void net_fused_drop(const struct net_stream *t, const struct net_stream_part *part);
/* Takes n read bytes off what was passed. Returns how many were not of it, and chunks to be freed.
 * Owner's lock held. */
uint64_t net_fused_take(struct net_stream *t, uint64_t n, struct net_chunk **unused);
/* Returns the other end, referenced, if it wants to hear that t has read. Owner's lock held. */
struct net_stream *net_fused_waiting(struct net_stream *t);
/* Tells that end, and lets it go. No lock held. */
void net_fused_tell(struct net_stream *other);

/* Makes a chunk for n bytes, charged to the account. Returns NULL without memory. No lock held. */
struct net_chunk *net_chunk_make(struct memory_account *account, uint32_t n);
/* Frees a list of chunks. Any context. */
void net_chunks_free(struct memory_account *account, struct net_chunk *first);
