/*
** An allocator for the trusted Lua state: small blocks from slabs. next: blocks.c
*/
#ifndef NP_CLI_BLOCKS_H
#define NP_CLI_BLOCKS_H

#include <stddef.h>

/* 512: tables' parts, closures and short strings; 16: what malloc aligns to */
enum { BLOCK_STEP = 16, BLOCK_MOST = 512, BLOCK_SIZES = BLOCK_MOST / BLOCK_STEP };

/* What is at the beginning of a free block, and of a slab. */
typedef struct block {
  struct block *next;
} block;

/* Zeroed before the first use. Freed after the state is closed. */
typedef struct blocks {
  block *free[BLOCK_SIZES]; /* lists of free blocks, by size */
  block *slabs;             /* all slabs */
  char *at, *end;           /* what is left of the newest */
} blocks;

/* The function for lua_newstate; `ud` is a blocks. */
void *blocks_alloc(void *ud, void *p, size_t old, size_t n);
void blocks_free(blocks *b);

#endif
