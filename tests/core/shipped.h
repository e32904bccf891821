/*
** Every shipped policy by its path, in the order of the names whatever the folder's is.
** next: test_rewrite.c, test_shadow.c
*/
#ifndef SHIPPED_H
#define SHIPPED_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHIPPED_MOST 100

typedef struct shipped {
  size_t count;
  char path[SHIPPED_MOST][80];
} shipped;

static int shipped_order(const void *a, const void *b) {
  return strcmp(a, b);
}

/* Ends the program when there is none: nothing would be tested. */
static inline shipped shipped_policies(void) {
  shipped s = {0};
  DIR *dir = opendir("policies");
  for (struct dirent *d; dir && (d = readdir(dir));) {
    size_t n = strlen(d->d_name);
    if (n < 5 || n > 60 || strcmp(d->d_name + n - 4, ".lua") || s.count == SHIPPED_MOST)
      continue;
    snprintf(s.path[s.count++], sizeof s.path[0], "policies/%.60s", d->d_name);
  }
  if (dir) closedir(dir);
  qsort(s.path, s.count, sizeof s.path[0], shipped_order);
  if (s.count == 0) {
    fprintf(stderr, "there is no policy below policies/\n");
    exit(2);
  }
  return s;
}

#endif
