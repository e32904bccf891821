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
/* A regular file is there and can be opened for reading. */
bool np_port_readable(const char *path_cstr);

#endif
