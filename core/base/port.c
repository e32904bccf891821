/*
** Linux and the BSDs: dladdr for where we are, mmap for files. next: ../text/utf8.c
*/
#define _GNU_SOURCE /* dladdr */
#include "base/port.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool np_port_self_dir(char *out, size_t cap) {
  static const char anchor; /* an address inside this file's object */
  Dl_info info;
  char path[PATH_MAX];
  if (!dladdr(&anchor, &info) || !info.dli_fname) return false;
  /* of a program that was found on the PATH only its name is known */
  const char *self = strchr(info.dli_fname, '/') ? info.dli_fname : "/proc/self/exe";
  if (!realpath(self, path)) return false;
  char *slash = strrchr(path, '/');
  if (!slash) return false;
  size_t n = (size_t)(slash - path);
  if (n + 1 > cap) return false;
  memcpy(out, path, n);
  out[n] = '\0';
  return true;
}

void np_port_show_names(const void *address) {
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_fname) return;
  void *self = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
  if (self) dlclose(self); /* the names stay as long as the library does */
}

/* Opens a regular file, *st about it; -1 for anything else. A pipe would wait for its other
** end, a device may do anything when it is opened: neither is waited for or read. */
static int open_regular(const char *path_cstr, struct stat *st) {
  if (stat(path_cstr, st) != 0 || !S_ISREG(st->st_mode)) return -1;
  int fd = open(path_cstr, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return -1;
  if (fstat(fd, st) == 0 && S_ISREG(st->st_mode)) return fd;
  close(fd);
  return -1;
}

bool np_port_readable(const char *path_cstr) {
  struct stat st;
  int fd = open_regular(path_cstr, &st);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

bool np_port_exists(const char *path_cstr) {
  struct stat st;
  return stat(path_cstr, &st) == 0;
}

/* GCC's and clang's runtime asks the processor, and the system whether it keeps the wide
** registers, in a constructor. */
unsigned np_port_cpu(void) {
  unsigned can = 0;
#if defined(__GNUC__) && defined(__x86_64__)
  bool bits = __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  if (bits && __builtin_cpu_supports("avx2")) can |= NP_CPU_AVX2;
  if (bits && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
      __builtin_cpu_supports("avx512vbmi2")) {
    can |= NP_CPU_AVX512;
  }
#elif defined(__aarch64__) && defined(__ARM_NEON)
  can |= NP_CPU_NEON;
#endif
  return can;
}

#ifndef MAP_POPULATE
#define MAP_POPULATE 0
#endif

/* Everything is read at once to check it, so the pages are asked for in one go. */
bool np_port_map(const char *path_cstr, np_str *out) {
  struct stat st;
  int fd = open_regular(path_cstr, &st);
  if (fd < 0) return false;
  void *p = MAP_FAILED;
  if (st.st_size > 0 && (uintmax_t)st.st_size <= SIZE_MAX) {
    p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
  }
  close(fd);
  if (p == MAP_FAILED) return false;
  *out = np_str_of(p, (size_t)st.st_size);
  return true;
}

void np_port_unmap(np_str mapped) {
  munmap((void *)(uintptr_t)mapped.p, mapped.n);
}
