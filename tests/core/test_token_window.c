/*
** The random tests once more with windows of 24 bytes, where guesses at a window's end are
** often wrong: the slow ways of counting and encoding must give the same. With the real
** windows of 4 kB they are hardly ever taken. next: test_token_random.c
*/
#define NP_BPE_WINDOW 24
#include "token/bpe.c"
#include "token/count.c"
#include "token/fit.c"

#include "test_token_random.c"
