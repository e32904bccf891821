/*
** Random policies: programs that Lua's grammar allows, soups of its words, and the sandbox's
** attack files cut up and glued. Each loads or says why not, runs or says why not, and leaves
** the pack usable and no memory.
** next: test_sandbox.c
*/
#define _XOPEN_SOURCE 700
#include "lua_soup.h"
#include "policy_world.h"
#include "text/text.h"

#include <dirent.h>
#include <unistd.h>

typedef struct files {
  np_buf text[1000];
  size_t count;
} files;

static int is_lua(const struct dirent *d) {
  size_t n = strlen(d->d_name);
  return n > 4 && strcmp(d->d_name + n - 4, ".lua") == 0;
}

/* In the order of their names: a seed means the same programs on every machine. */
static void read_files(files *f) {
  struct dirent **list;
  int found = scandir("tests/cases/sandbox", &list, is_lua, alphasort);
  for (int i = 0; i < found; i++) {
    char path[400], bytes[4096];
    size_t n;
    snprintf(path, sizeof path, "tests/cases/sandbox/%s", list[i]->d_name);
    free(list[i]);
    FILE *in = f->count < NP_COUNT(f->text) ? fopen(path, "rb") : NULL;
    if (!in) continue;
    np_buf *b = &f->text[f->count++];
    np_buf_init(b, &np_alloc_libc);
    while ((n = fread(bytes, 1, sizeof bytes, in)) > 0)
      np_buf_add(b, np_str_of(bytes, n));
    fclose(in);
  }
  if (found >= 0) free(list);
}

static size_t pick(unsigned long long *s, size_t n) {
  return (size_t)(check_random(s) % n);
}

static void soup(unsigned long long *s, np_buf *out) {
  static const char *const words[] = {"function",
                                      "end",
                                      "(",
                                      ")",
                                      "{",
                                      "}",
                                      "local",
                                      "x",
                                      "y",
                                      "=",
                                      "1",
                                      "1 << 62",
                                      "'a'",
                                      "..",
                                      "#",
                                      "and",
                                      "or",
                                      "not",
                                      "if",
                                      "then",
                                      "while",
                                      "do",
                                      "for",
                                      "in",
                                      "repeat",
                                      "until",
                                      "return",
                                      "ctx",
                                      ":entries{}",
                                      ".state",
                                      "e",
                                      ":mask()",
                                      ":trim{tokens=5}",
                                      ":drop()",
                                      "pairs",
                                      "(x)",
                                      "pcall",
                                      "setmetatable",
                                      "{}",
                                      ",",
                                      ";",
                                      "goto",
                                      "::a::",
                                      "string.rep('ab', 99)",
                                      ":gsub('.-b', '%0')",
                                      ":find('%b()')",
                                      "table.sort",
                                      "[",
                                      "]",
                                      "...",
                                      "<close>",
                                      "<const>",
                                      "\n",
                                      "0x1p4",
                                      "//",
                                      "%",
                                      "==",
                                      "~=",
                                      "nil",
                                      "true",
                                      "neap.pow(2, 3)",
                                      "ctx:shrink(9)",
                                      "error",
                                      "math.huge"};
  int n = (int)pick(s, 40);
  np_buf_adds(
      out,
      pick(s, 2)
          ? "return { api = 1, assemble = function(ctx, o) local x, y, e = ctx, {}, o "
          : "return { api = 1, rank = function(ctx, e) return 1 end, assemble = "
            "function(ctx) local x, y = 'aab', {} ");
  for (int i = 0; i < n; i++) {
    np_buf_adds(out, words[pick(s, NP_COUNT(words))]);
    np_buf_addc(out, ' ');
  }
  np_buf_adds(out, pick(s, 5) ? " end }" : "");
}

/* A file with bytes changed, or the head of one and the tail of another. */
static void mutate(unsigned long long *s, const files *f, np_buf *out) {
  np_str a = np_buf_str(&f->text[pick(s, f->count)]),
         b = np_buf_str(&f->text[pick(s, f->count)]);
  if (pick(s, 3) == 0) {
    np_buf_add(out, np_str_cut(a, 0, pick(s, a.n + 1)));
    np_buf_add(out, np_str_cut(b, pick(s, b.n + 1), b.n));
    return;
  }
  np_buf_add(out, a);
  for (size_t k = pick(s, 4) + 1; k > 0; k--) {
    static const char bytes[] = "(){}[]=.,:;#'\"\\%~<>-+*/^ \n0159abe_\xff\xc3";
    out->p[pick(s, out->n)] = bytes[pick(s, sizeof bytes - 1)];
  }
}

static int loaded, ran;

static const char *run(np_vocab *vocab, np_str text) {
  static const np_limits limits = {.load_instructions = 100000,
                                   .call_instructions = 100000,
                                   .bytes = 1 << 20,
                                   .block = 1 << 18,
                                   .call_ms = -1};
  world w;
  counter c = {0};
  neap_alloc a = counter_alloc(&c);
  np_policy *p = NULL;
  np_err e = {0};
  const char *wrong = NULL;
  int64_t found[4], ask = 0;
  size_t count;
  world_open(&w, vocab, 4);
  uint64_t before = world_mark(&w);
  neap_rc rc =
      np_policy_load_text(&a, NP_LIT("f.lua"), text, NP_LIT(""), &limits, &p, &e);
  if (!rc) {
    loaded++;
    w.turn.asks = &ask;
    world_attach(&w, p);
    for (int i = 0; i < 2 && !rc; i++) rc = np_policy_assemble(p, &e);
    if (!rc) ran++;
    if (!rc) rc = np_policy_compact(p, &e);
    if (!rc && np_policy_has(p, "recall"))
      rc = np_policy_recall(p, NP_LIT("value_205"), found, NP_COUNT(found), &count, &e);
    if (!rc) rc = np_policy_overflow(p, 7, &e);
    if (rc && w.pack.change_count == 0 && world_mark(&w) != before)
      wrong = "the pack has changed";
    if (np_policy_overflow(p, 5, NULL) == NEAP_E_MISUSE) wrong = "the policy is stuck";
  }
  if (rc && rc != NEAP_E_POLICY) wrong = "another code";
  if (rc && (!*e.text || np_utf8_valid(np_str_cstr(e.text)) != strlen(e.text)))
    wrong = "no clean message";
  np_policy_free(p);
  if (c.live) wrong = "memory is left";
  world_close(&w);
  return wrong;
}

int main(void) {
  static files f;
  np_vocab *vocab = world_vocab();
  np_buf text;
  const char *rounds = getenv("NEAP_ROUNDS");
  unsigned long long seed = check_seed(42);
  np_buf_init(&text, &np_alloc_libc);
  read_files(&f);
  CHECK("there are files to cut up", f.count > 10);
  int n = rounds ? atoi(rounds) : 1500, ok = 0;
  for (int i = 0; i < n; i++) {
    unsigned long long s = seed + (unsigned long long)i;
    np_buf_clear(&text);
    if (i % 4 == 1) soup(&s, &text);
    else if (i % 4 == 3) soup_policy(&s, &text);
    else mutate(&s, &f, &text);
    alarm(60);
    const char *wrong = run(vocab, np_buf_str(&text));
    if (wrong)
      fprintf(stderr, "NEAP_SEED=%llu: %s:\n%.*s\n", seed + (unsigned long long)i, wrong,
              (int)text.n, text.p);
    ok += !wrong;
  }
  CHECK("every random policy ends cleanly", ok == n);
  fprintf(stderr, "%d of %d loaded, %d of them ran to their end\n", loaded, n, ran);
  CHECK("many load, and many run", loaded > n / 5 && ran > n / 10);
  for (size_t i = 0; i < f.count; i++) np_buf_free(&f.text[i]);
  np_buf_free(&text);
  np_vocab_free(vocab);
  return check_done();
}
