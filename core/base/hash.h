/*
** Hashes: SHA-256 and HMAC for identity and mark keys (from nettle), a fast 64-bit hash for
** tables in memory, and a sum for pieces of files. next: sum.h
*/
#ifndef NP_BASE_HASH_H
#define NP_BASE_HASH_H

#include "base/str.h"

#define NP_SHA256 32

void np_sha256(np_str s, uint8_t out[NP_SHA256]);

/* SHA-256 of bytes that come bit by bit; a copy of the struct goes on by itself. */
typedef struct np_sha {
  uint64_t room[16]; /* nettle's own state, aligned */
} np_sha;
void np_sha_begin(np_sha *sha);
void np_sha_add(np_sha *sha, np_str s);
void np_sha_end(const np_sha *sha, uint8_t out[NP_SHA256]); /* `sha` stays as it is */

void np_hmac_sha256(np_str key, np_str s, uint8_t out[NP_SHA256]);
void np_hex(const uint8_t *p, size_t n, char *out); /* 2n characters, no NUL */

/* Of the bytes alone: the same on every machine and in every run. Never leaves the process. */
uint64_t np_hash64(np_str s);

/* A sum that files hold: the same on every machine and in every version. Four lanes, some
** 10 GB/s; each step can be undone, so that no single change of the bytes goes unseen. It
** guards against damage, not against who means to deceive: that is SHA-256's work. */
uint64_t np_sum64(uint64_t seed, np_str s);

#endif
