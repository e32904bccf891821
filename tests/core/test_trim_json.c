/*
** Trims of JSON: they parse, keep order and bytes, and say what is left out. By hand, and on
** random values, where every trim is matched against its source. next: test_pack.c
*/
#include "text/text.h"
#include "trim_session.h"

static bool parses(np_str t) {
  np_json v;
  return np_json_check(t, &v, NULL) == NEAP_OK;
}

static bool lines_parse(np_str t) {
  np_str line;
  bool ok = true;
  while (ok && np_line_next(&t, &line)) ok = line.n == 0 || parses(line);
  return ok;
}

/* ---- by hand ---- */

static void add_records(np_buf *b, int n, const char *between) {
  for (int i = 1; i <= n; i++) {
    if (i > 1) np_buf_adds(b, between);
    np_buf_adds(b, "{\"id\": ");
    np_buf_int(b, i);
    np_buf_adds(b, ", \"name\":\"n");
    np_buf_int(b, i * 7919);
    np_buf_adds(b, "\", \"big\":12345678901234567890.0}");
  }
}

static void arrays(void) {
  session s;
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  np_buf_adds(&b, "[\n  ");
  add_records(&b, 200, ",\n  ");
  np_buf_adds(&b, "\n]");
  open_session(&s, np_buf_str(&b));
  np_str t = trim(&s, (np_trim_ask){.tokens = 300});
  CHECK("an array's trim parses", parses(t));
  CHECK("it uses its tokens",
        np_vocab_count(vocab, t) <= 300 && np_vocab_count(vocab, t) > 240);
  CHECK(
      "the first record as it came",
      has(t, "[\n  {\"id\": 1, \"name\":\"n7919\", \"big\":12345678901234567890.0},\n"));
  CHECK("the last one too",
        has(t, "{\"id\": 200, \"name\":\"n1583800\"") && has(t, "}\n]"));
  CHECK("an item says how many are left out, and the mark how to get them",
        has(t, ",\n  \"1") && has(t, " items left out: [neap\xC2\xB7K7Q2 3: ") &&
            has(t, "; neap_read(3, '"));
  t = trim(&s, (np_trim_ask){.tokens = 300, .keep = NP_KEEP_HEAD});
  CHECK("head keeps the head",
        parses(t) && has(t, "\"id\": 1,") && !has(t, "\"id\": 200,"));
  t = trim(&s, (np_trim_ask){.tokens = 300, .keep = NP_KEEP_TAIL});
  CHECK("tail the tail", parses(t) && !has(t, "\"id\": 1,") && has(t, "\"id\": 200,"));
  t = trim(&s,
           (np_trim_ask){.tokens = 200, .keep = NP_KEEP_ABOUT, .about = lit("791900")});
  CHECK("a query finds its record by a number in it", parses(t) && has(t, "\"n791900\""));
  t = trim(&s, (np_trim_ask){.tokens = NP_TRIM_ANY, .lines = 9});
  CHECK("by lines", parses(t) && np_lines_count(t) <= 9 && np_lines_count(t) > 6);
  close_session(&s);
  np_buf_free(&b);
}

static void inside(void) {
  session s;
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  np_buf_adds(&b, "{\"ok\":true,\"zeta\":1e5,\"log\":\"");
  for (int i = 0; i < 300; i++) {
    np_buf_adds(&b, i == 150 ? "error: disk /dev/sda is full\\n" : "all is well, part ");
    np_buf_int(&b, i);
    np_buf_adds(&b, i % 2 ? " \\u4e2d\\n" : " of it\\n");
  }
  np_buf_adds(&b, "\",\"rows\":[");
  add_records(&b, 100, ",");
  np_buf_adds(&b, "],\"alpha\":null}");
  open_session(&s, np_buf_str(&b));
  np_str t = trim(&s, (np_trim_ask){.tokens = 400, .keep = NP_KEEP_ERRORS});
  CHECK("an object's trim parses", parses(t));
  CHECK("its short members stay in their order",
        has(t, "{\"ok\":true,\"zeta\":1e5,\"log\":\"") && has(t, ",\"alpha\":null"));
  CHECK("a long string is cut as a text is", has(t, "error: disk /dev/sda is full\\n"));
  CHECK("a long list as a list",
        has(t, " items left out\"") && has(t, "\"rows\":[{\"id\": 1,"));
  CHECK("the mark is a member", has(t, ",\"\xE2\x80\xA6\":\"[neap\xC2\xB7K7Q2 3: "));
  close_session(&s);
  np_buf_clear(&b);
  add_records(&b, 150, "\n");
  np_buf_adds(&b, "\n");
  open_session(&s, np_buf_str(&b));
  t = trim(&s, (np_trim_ask){.tokens = 300});
  CHECK("lines of JSON stay lines of JSON", lines_parse(t) && !parses(t));
  CHECK("one of them says how many are left out", has(t, " lines left out: [neap"));
  CHECK("and which", has(t, "neap_read(3, '"));
  close_session(&s);
  np_buf_clear(&b);
  for (int i = 0; i < 600; i++) np_buf_addc(&b, '[');
  for (int i = 0; i < 600; i++) np_buf_addc(&b, ']');
  open_session(&s, np_buf_str(&b));
  t = trim(&s, (np_trim_ask){.tokens = 60});
  CHECK("what is too deep to be read is cut as a text", !s.whole && t.n > 0);
  close_session(&s);
  np_buf_free(&b);
}

/* ---- at random ---- */

static void add_string(unsigned long long *rng, np_buf *b) {
  static const char *const parts[] = {
      "word ",      "\\n",          "\\u4e2d",   "\\ud83d\\ude00",
      "\\\"",       "\xE4\xB8\xAD", "e\xCC\x81", "path/to/x.c:12 ",
      "Error: no ", "\\\\",         "\\ud83d",   "12345 "};
  size_t n = check_random(rng) % 4 ? check_random(rng) % 6 : check_random(rng) % 100;
  np_buf_addc(b, '"');
  for (size_t i = 0; i < n; i++)
    np_buf_adds(b, parts[check_random(rng) % NP_COUNT(parts)]);
  np_buf_addc(b, '"');
}

static void add_white(unsigned long long *rng, np_buf *b) {
  static const char *const white[] = {"", "", "", " ", "\n  ", "\t", "\r\n"};
  np_buf_adds(b, white[check_random(rng) % NP_COUNT(white)]);
}

static void add_value(unsigned long long *rng, np_buf *b, int depth) {
  static const char *const scalars[] = {
      "null", "true", "-0.0", "1e400", "18446744073709551617", "{}", "[]", "[ ]"};
  size_t kind = check_random(rng) % 5;
  if (kind == 0 || (depth > 6 && kind > 1)) {
    np_buf_adds(b, scalars[check_random(rng) % NP_COUNT(scalars)]);
    return;
  }
  if (kind == 1) {
    add_string(rng, b);
    return;
  }
  bool object = kind == 2;
  size_t n = check_random(rng) % 3 ? check_random(rng) % 5 : check_random(rng) % 40;
  if (depth > 1) n %= 5;
  np_buf_addc(b, object ? '{' : '[');
  for (size_t i = 0; i < n; i++) {
    if (i) np_buf_addc(b, ',');
    add_white(rng, b);
    if (object) {
      np_buf_adds(b, check_random(rng) % 3 ? "\"key" : "\"");
      np_buf_int(b, (int64_t)(check_random(rng) % 50));
      np_buf_adds(b, "\":");
      add_white(rng, b);
    }
    add_value(rng, b, depth + 1);
    add_white(rng, b);
  }
  np_buf_addc(b, object ? '}' : ']');
}

/* How many items a marker stands for; -1 when it is none. */
static long left_out(np_str key, np_json v, const char *what) {
  if (v.type != NP_JSON_STRING) return -1;
  if (key.n && !has(np_str_cut(key, 0, 4), "\"\xE2\x80\xA6")) return -1;
  if (has(np_str_cut(v.raw, 0, 6), "\"[neap")) return 0;
  if (!has(v.raw, what)) return -1;
  long n = 0;
  for (size_t i = 1; v.raw.p[i] == ',' || (v.raw.p[i] >= '0' && v.raw.p[i] <= '9'); i++)
    if (v.raw.p[i] != ',') n = n * 10 + v.raw.p[i] - '0';
  return n;
}

/* Every item is one of the source, in its order, itself cut or not; markers count the rest. */
static bool matches(np_json source, np_json shown) {
  if (np_str_eq(source.raw, shown.raw)) return true;
  if (np_str_eq(shown.raw, lit("\"\xE2\x80\xA6\""))) return source.raw.n > 24;
  if (source.type != shown.type || source.type < NP_JSON_STRING) return false;
  if (source.type == NP_JSON_STRING) return true;
  np_json_iter a = np_json_each(source), b = np_json_each(shown);
  np_str ka = {"", 0}, kb = {"", 0};
  np_json va, vb;
  const char *what =
      source.type == NP_JSON_OBJECT ? " members left out" : " items left out";
  while (np_json_next(&b, &kb, &vb)) {
    long skip = left_out(kb, vb, what);
    for (long i = 0; i < skip; i++)
      if (!np_json_next(&a, &ka, &va)) return false;
    if (skip >= 0) continue;
    if (!np_json_next(&a, &ka, &va) || !np_str_eq(ka, kb) || !matches(va, vb))
      return false;
  }
  return !np_json_next(&a, &ka, &va);
}

static bool lines_match(np_str source, np_str shown) {
  np_str a, b;
  while (np_line_next(&shown, &b)) {
    np_json va, vb;
    if (np_json_check(b, &vb, NULL)) return false;
    long skip = left_out((np_str){"", 0}, vb, " lines left out");
    for (long i = 0; i < skip; i++)
      if (!np_line_next(&source, &a)) return false;
    if (skip >= 0) continue;
    if (!np_line_next(&source, &a) || np_json_check(a, &va, NULL) || !matches(va, vb))
      return false;
  }
  return !np_line_next(&source, &a);
}

static const char *broken(session *s, np_trim_ask ask, bool by_line) {
  np_str text = np_log_entry(&s->g.log, 3)->text, t = trim(s, ask);
  np_json a, b;
  if (s->whole) return NULL;
  if (np_vocab_count(vocab, t) > ask.tokens) return "too many tokens";
  if (np_utf8_valid(t) != t.n) return "not UTF-8";
  if (!has(t, "[neap\xC2\xB7K7Q2 3: ")) return "no mark";
  if (ask.tokens < 100) return NULL; /* the mark alone may be all that fits */
  if (by_line) return lines_match(text, t) ? NULL : "lines that are not the source's";
  if (np_json_check(t, &b, NULL)) return "it does not parse";
  if (np_json_check(text, &a, NULL) || !matches(a, b)) return "not the source's";
  return NULL;
}

static size_t used; /* hundredths of what was asked for, of all trims */

static void one_round(unsigned long long *rng, int round, size_t *cut, size_t *wrong) {
  session s;
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  bool by_line = round % 4 == 3;
  for (int i = by_line ? 40 : 1; i > 0; i--) {
    size_t from = b.n;
    np_buf_adds(&b, "[");
    add_value(rng, &b, 0);
    np_buf_adds(&b, "]");
    for (size_t k = from; by_line && k < b.n; k++)
      if (b.p[k] == '\n' || b.p[k] == '\r') b.p[k] = ' ';
    if (by_line) np_buf_addc(&b, '\n');
  }
  open_session(&s, np_buf_str(&b));
  size_t all = np_vocab_count(vocab, np_log_entry(&s.g.log, 3)->text);
  for (int k = 0; k < 4 && all > 50; k++) {
    np_trim_ask ask = {.tokens = 40 + check_random(rng) % all,
                       .keep = (np_keep)(check_random(rng) % (NP_KEEP_ABOUT + 1)),
                       .about = lit("error 12345 x.c")};
    const char *why = broken(&s, ask, by_line);
    *cut += !s.whole;
    if (!s.whole) used += np_vocab_count(vocab, np_buf_str(&s.out)) * 100 / ask.tokens;
    if (!why) continue;
    ++*wrong;
    fprintf(stderr, "round %d: %zu of %zu tokens, keep %s: %s\n%.*s\n", round, ask.tokens,
            all, np_keep_name(ask.keep), why, (int)(s.out.n < 3000 ? s.out.n : 3000),
            s.out.p);
  }
  close_session(&s);
  np_buf_free(&b);
}

static void promises(unsigned long long *rng) {
  size_t wrong = 0, cut = 0;
  for (int round = 0; round < 400 && wrong < 3; round++)
    one_round(rng, round, &cut, &wrong);
  fprintf(stderr, "%zu trims, limits used to %zu %%\n", cut, cut ? used / cut : 0);
  CHECK("limits are used, not undercut", cut && used / cut > 80);
  CHECK("every trim is of its source", wrong == 0);
  CHECK("trims were looked at", cut > 300);
}

/* No assertion on time, but quadratic work would not end. */
static void large(void) {
  static const char *const parts[] = {"1,", "{\"a\":\"b c d\"},", "[[[[[[1]]]]]],",
                                      "\"a longer string, \\n of some lines\","};
  for (size_t k = 0; k < NP_COUNT(parts); k++) {
    session s;
    np_buf b;
    np_buf_init(&b, &np_alloc_libc);
    np_buf_addc(&b, '[');
    while (b.n < (size_t)2 << 20) np_buf_adds(&b, parts[k]);
    b.p[b.n - 1] = ']';
    open_session(&s, np_buf_str(&b));
    for (int i = NP_KEEP_ENDS; i <= NP_KEEP_ABOUT; i += 2) {
      np_str t = trim(&s, (np_trim_ask){.tokens = 250, .keep = (np_keep)i});
      CHECK("2 MB are cut to the limit", parses(t) && np_vocab_count(vocab, t) <= 250);
    }
    close_session(&s);
    np_buf_free(&b);
  }
}

int main(void) {
  unsigned long long rng = check_seed(20261130);
  vocab = golden_vocab("o200k_base");
  if (!vocab) return check_done();
  arrays();
  inside();
  promises(&rng);
  large();
  np_vocab_free(vocab);
  return check_done();
}
