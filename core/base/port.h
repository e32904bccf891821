/*
** What the C standard does not offer. Everything that is not plain C11 stands behind this
** header. next: port.c
*/
#ifndef NP_BASE_PORT_H
#define NP_BASE_PORT_H

#include "base/str.h"

/* The folder of the file that holds this code (program or shared library), NUL-terminated,
** without a final slash. False when the system cannot tell. */
bool np_port_self_dir(char *out, size_t cap);
/* Lets libraries that are loaded later see the names of the one that holds `address`: a host
** that has loaded us for itself alone keeps those of our libraries from them. */
void np_port_show_names(const void *address);
/* A regular file is there and can be opened for reading. */
bool np_port_readable(const char *path_cstr);
/* Something is there, of whatever kind. */
bool np_port_exists(const char *path_cstr);

/* Maps the file at `path` for reading, all of it, shared with others who do; *out is what
** it holds. False when it is missing, empty or no file. What is mapped must not be changed
** in place, only replaced: reading what a file has lost ends the process (SIGBUS). */
bool np_port_map(const char *path_cstr, np_str *out);
void np_port_unmap(np_str mapped);

/* What the running machine can do beyond what every machine of its kind can. */
typedef enum np_cpu { NP_CPU_AVX2 = 1, NP_CPU_AVX512 = 2, NP_CPU_NEON = 4 } np_cpu;
/* A sum of np_cpu; AVX512 stands for its parts F, BW, VL, VBMI and VBMI2, each with BMI 1
** and 2. Cheap: the processor was asked before main. */
unsigned np_port_cpu(void);

/* Number of zero bits below the lowest (above the highest) one; x is not 0. */
#if defined(__GNUC__)
#define NP_INLINE static inline __attribute__((always_inline))
NP_INLINE unsigned np_low_zeros(uint64_t x) {
  return (unsigned)__builtin_ctzll(x);
}
NP_INLINE unsigned np_high_zeros(uint64_t x) {
  return (unsigned)__builtin_clzll(x);
}
NP_INLINE unsigned np_ones(uint64_t x) {
  return (unsigned)__builtin_popcountll(x);
}
/* What lies at p will be read soon; p need not be readable. */
#define np_prefetch(p) __builtin_prefetch(p)
#else
#define np_prefetch(p) ((void)(p))
#define NP_INLINE static inline
NP_INLINE unsigned np_low_zeros(uint64_t x) {
  unsigned n = 0;
  for (; !(x & 1); x >>= 1) n++;
  return n;
}
NP_INLINE unsigned np_high_zeros(uint64_t x) {
  unsigned n = 0;
  for (; !(x >> 63); x <<= 1) n++;
  return n;
}
NP_INLINE unsigned np_ones(uint64_t x) {
  unsigned n = 0;
  for (; x; x &= x - 1) n++;
  return n;
}
#endif

#endif
