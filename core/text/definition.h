/*
** What in source code defines something. next: definition.c
*/
#ifndef NP_TEXT_DEFINITION_H
#define NP_TEXT_DEFINITION_H

#include "base/str.h"

/* 0: the line defines something at the margin (a function, a type, a constant); 1: something
** inside of another (a method); -1: neither. */
int np_definition_rank(np_str line);

#endif
