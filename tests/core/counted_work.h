/*
** What parts of the library that are built to be counted have done: steps of theirs, and bytes
** that library functions went through for them. Included by one file of a test. next: counted.h
*/
#ifndef NP_TESTS_COUNTED_WORK_H
#define NP_TESTS_COUNTED_WORK_H

#include <stddef.h>
#include <stdint.h>

static uint64_t work;

void np_counted(size_t bytes);
void np_counted(size_t bytes) {
  work += bytes;
}

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) {
  work++;
}

#endif
