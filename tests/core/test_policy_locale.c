/*
** A host that has set a locale with a decimal comma and an order of its own: policies compare,
** print and read as in any other host, and the host's locale is in force afterwards. The locale
** is made here by localedef; without it the test is skipped. next: test_policy.c
*/
#define _XOPEN_SOURCE 700
#include "policy_world.h"

#include <locale.h>
#include <unistd.h>

/* z before y before a before b. */
static const char definition[] =
    "comment_char %\nescape_char /\n"
    "LC_CTYPE\ncopy \"POSIX\"\nEND LC_CTYPE\n"
    "LC_COLLATE\norder_start forward\n<U007A>\n<U0079>\n"
    "<U0061>\n<U0062>\nUNDEFINED\norder_end\nEND LC_COLLATE\n"
    "LC_NUMERIC\ndecimal_point \"<U002C>\"\n"
    "thousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n"
    "LC_MONETARY\ncopy \"POSIX\"\nEND LC_MONETARY\n"
    "LC_TIME\ncopy \"POSIX\"\nEND LC_TIME\n"
    "LC_MESSAGES\ncopy \"POSIX\"\nEND LC_MESSAGES\n";

static const char policy[] =
    "return { api = 1, options = { x = { default = 2.5, min = 0.5, max = 9.5 } },\n"
    "rank = function(ctx, e) return 'z' > 'a' and 1.5 or 0.5 end,\n"
    "assemble = function(ctx, o)\n"
    "  local t = { 'z', 'a', 'y', 'b' } table.sort(t)\n"
    "  neap.say('a' < 'z', 'z' < 'a', 'y' <= 'a', table.concat(t), o.x)\n"
    "  table.sort(t, function(a, b) return a < b end) neap.say(table.concat(t))\n"
    "  neap.say(1.5, 1.5 .. '', ('%g %.2f %q %q %5.1e'):format(1.5, 2.25, 0.1, 0.5, "
    "3.5))\n"
    "  neap.say(tonumber('1.5'), tonumber('1,5'), 3 // 0.5, math.type(tonumber '1e1'))\n"
    "  neap.say(('x'):rep(2, 1.5), ('a1.5'):gsub('%d', 0.5))\n"
    "  ctx.state.x = 1.25 ctx.state.a = { z = 1, y = 2, a = 3, b = 0.1 }\n"
    "  ctx:shrink(1500)\n"
    "end, selftest = function() error('no ' .. 1.5) end }";

static np_vocab *vocab;

/* All that a run leaves, as one text. */
static void run(np_buf *out) {
  world w;
  np_policy *p = NULL;
  np_err e = {.code = NEAP_OK};
  char number[40];
  world_open(&w, vocab, 8);
  np_buf_clear(out);
  neap_rc rc = np_policy_load_text(&np_alloc_libc, NP_LIT("p.lua"), NP_LIT(policy),
                                   NP_LIT("{\"x\":3.75}"), NULL, &p, &e);
  if (!rc) world_attach(&w, p);
  if (!rc) rc = np_policy_assemble(p, &e);
  if (!rc) np_policy_options(p, out, &e);
  if (!rc) np_policy_state(p, out, &e);
  if (!rc) np_policy_selftest(p, &e);
  np_buf_adds(out, e.text);
  np_buf_add(out, np_buf_str(&w.said));
  snprintf(number, sizeof number, "%llu", (unsigned long long)world_mark(&w));
  np_buf_adds(out, number);
  np_policy_free(p);
  np_policy_load_text(&np_alloc_libc, NP_LIT("p.lua"), NP_LIT(policy),
                      NP_LIT("{\"x\":9.75}"), NULL, &p, &e);
  np_buf_adds(out, e.text);
  world_close(&w);
}

/* Makes the locale in `dir` and sets it. */
static bool set_odd(const char *dir) {
  char text[500];
  snprintf(text, sizeof text, "%s/odd.src", dir);
  FILE *f = fopen(text, "wb");
  if (!f || fputs(definition, f) < 0 || fclose(f)) return false;
  snprintf(text, sizeof text,
           "localedef --no-archive -c -i %s/odd.src %s/odd >/dev/null 2>&1", dir, dir);
  if (system(text) < 0) return false;
  setenv("LOCPATH", dir, 1);
  return setlocale(LC_ALL, "odd") != NULL;
}

static bool is_odd(void) {
  char text[20];
  snprintf(text, sizeof text, "%.1f", 1.5);
  return strcmp(text, "1,5") == 0 && strcoll("z", "a") < 0;
}

static void remove_odd(const char *dir) {
  char text[500];
  snprintf(text, sizeof text, "rm -rf %s/odd %s/odd.src", dir, dir);
  if (system(text) == 0) rmdir(dir);
}

int main(void) {
  char dir[] = "/tmp/neap-locale-XXXXXX";
  np_buf plain, odd;
  np_buf_init(&plain, &np_alloc_libc);
  np_buf_init(&odd, &np_alloc_libc);
  vocab = world_vocab();
  run(&plain);
  CHECK("a policy runs", strstr(plain.p, "true false false abyz 3.75\nabyz\n1.5 1.5") &&
                             strstr(plain.p, "\"x\":1.25") && strstr(plain.p, "no 1.5"));
  if (mkdtemp(dir) && set_odd(dir) && is_odd()) {
    run(&odd);
    if (!np_str_eq(np_buf_str(&plain), np_buf_str(&odd)))
      fprintf(stderr, "got:      %.*s\nexpected: %.*s\n", (int)odd.n, odd.p, (int)plain.n,
              plain.p);
    CHECK("the same in a host with a locale of its own",
          np_str_eq(np_buf_str(&plain), np_buf_str(&odd)));
    CHECK("whose locale is in force afterwards", is_odd());
  } else {
    check_skip("a host with another locale", "localedef made none");
  }
  setlocale(LC_ALL, "C");
  remove_odd(dir);
  np_buf_free(&plain);
  np_buf_free(&odd);
  np_vocab_free(vocab);
  return check_done();
}
