/*
** Tests of the JSON scanner: tables (one verdict an input), then properties on generated
** text. Inputs are exact heap copies, so that the sanitizers see a read past the end.
** next: ../spec/layers_spec.lua
*/
#include "base/json.h"
#include "base/mem.h"
#include "check.h"

static const neap_alloc *const libc = &np_alloc_libc;

/* ---- verdicts ---- */

typedef struct verdict {
  const char *text;
  size_t n; /* 0: strlen(text) */
  neap_rc rc;
  size_t pos; /* of the error; of a good text: its type */
} verdict;

static const verdict verdicts[] = {
    {"null", 0, NEAP_OK, NP_JSON_NULL},
    {" \t\r\n true \n", 0, NEAP_OK, NP_JSON_BOOL},
    {"false", 0, NEAP_OK, NP_JSON_BOOL},
    {"0", 0, NEAP_OK, NP_JSON_NUMBER},
    {"-0", 0, NEAP_OK, NP_JSON_NUMBER},
    {"-0.0e-0", 0, NEAP_OK, NP_JSON_NUMBER},
    {"1e400", 0, NEAP_OK, NP_JSON_NUMBER},
    {"123456789012345678901234567890.5E+3", 0, NEAP_OK, NP_JSON_NUMBER},
    {"\"\"", 0, NEAP_OK, NP_JSON_STRING},
    {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\uD83D\\uDE00\"", 0, NEAP_OK, NP_JSON_STRING},
    {"\"\\ud800\"", 0, NEAP_OK, NP_JSON_STRING}, /* a lone surrogate is syntax */
    {"\"\x7F\"", 0, NEAP_OK, NP_JSON_STRING},
    {"[]", 0, NEAP_OK, NP_JSON_ARRAY},
    {"[ ]", 0, NEAP_OK, NP_JSON_ARRAY},
    {"{ }", 0, NEAP_OK, NP_JSON_OBJECT},
    {"{\"a\":1,\"a\":2}", 0, NEAP_OK, NP_JSON_OBJECT},
    {"{\"\":[{}, {\"b\" : null}]}", 0, NEAP_OK, NP_JSON_OBJECT},
    {"", 0, NEAP_E_JSON, 0},
    {"   ", 0, NEAP_E_JSON, 3},
    {"\xEF\xBB\xBF{}", 0, NEAP_E_JSON, 0},
    {"nul", 0, NEAP_E_JSON, 0},
    {"nulL", 0, NEAP_E_JSON, 0},
    {"True", 0, NEAP_E_JSON, 0},
    {"nullx", 0, NEAP_E_JSON, 4},
    {"[1] x", 0, NEAP_E_JSON, 4},
    {"{}{}", 0, NEAP_E_JSON, 2},
    {"01", 0, NEAP_E_JSON, 1},
    {"-", 0, NEAP_E_JSON, 1},
    {"+1", 0, NEAP_E_JSON, 0},
    {".5", 0, NEAP_E_JSON, 0},
    {"1.", 0, NEAP_E_JSON, 2},
    {"1.e3", 0, NEAP_E_JSON, 2},
    {"1e", 0, NEAP_E_JSON, 2},
    {"1e+", 0, NEAP_E_JSON, 3},
    {"0x10", 0, NEAP_E_JSON, 1},
    {"NaN", 0, NEAP_E_JSON, 0},
    {"Infinity", 0, NEAP_E_JSON, 0},
    {"'a'", 0, NEAP_E_JSON, 0},
    {"\"", 0, NEAP_E_JSON, 1},
    {"\"abc", 0, NEAP_E_JSON, 4},
    {"\"\\\"", 0, NEAP_E_JSON, 3},
    {"\"\\", 0, NEAP_E_JSON, 1},
    {"\"\\x41\"", 0, NEAP_E_JSON, 1},
    {"\"\\u12\"", 0, NEAP_E_JSON, 1},
    {"\"\\u12G4\"", 0, NEAP_E_JSON, 1},
    {"\"\\u004", 0, NEAP_E_JSON, 1}, /* the text ends in the escape */
    {"\"\\U0041\"", 0, NEAP_E_JSON, 1},
    {"\"a\nb\"", 0, NEAP_E_JSON, 2},
    {"\"\x1F\"", 0, NEAP_E_JSON, 1}, /* the last control character */
    {"\" \"", 0, NEAP_OK, NP_JSON_STRING},
    {"\"a\0b\"", 5, NEAP_E_JSON, 2},
    {"null\0", 5, NEAP_E_JSON, 4},
    {"\x0C[]", 0, NEAP_E_JSON, 0},     /* form feed is no JSON white space */
    {"\xC2\xA0[]", 0, NEAP_E_JSON, 0}, /* nor is a no-break space */
    {"[", 0, NEAP_E_JSON, 1},
    {"[1", 0, NEAP_E_JSON, 2},
    {"[1,", 0, NEAP_E_JSON, 3},
    {"[1,]", 0, NEAP_E_JSON, 3},
    {"[,1]", 0, NEAP_E_JSON, 1},
    {"[1 2]", 0, NEAP_E_JSON, 3},
    {"[1}", 0, NEAP_E_JSON, 2},
    {"]", 0, NEAP_E_JSON, 0},
    {"{", 0, NEAP_E_JSON, 1},
    {"{\"a\"", 0, NEAP_E_JSON, 4},
    {"{\"a\":", 0, NEAP_E_JSON, 5},
    {"{\"a\":}", 0, NEAP_E_JSON, 5},
    {"{\"a\" 1}", 0, NEAP_E_JSON, 5},
    {"{\"a\":1,}", 0, NEAP_E_JSON, 7},
    {"{a:1}", 0, NEAP_E_JSON, 1},
    {"{1:1}", 0, NEAP_E_JSON, 1},
    {"{\"a\":1]", 0, NEAP_E_JSON, 6},
    {"[1] // note", 0, NEAP_E_JSON, 4},
    {"\"\x80\"", 0, NEAP_E_UTF8, 1},             /* a continuation without a lead */
    {"\"\xBF\"", 0, NEAP_E_UTF8, 1},             /* the last of them */
    {"\"\xC0\x80\"", 0, NEAP_E_UTF8, 1},         /* NUL in two bytes */
    {"\"\xC1\xBF\"", 0, NEAP_E_UTF8, 1},         /* overlong, two bytes */
    {"\"\xE0\x9F\xBF\"", 0, NEAP_E_UTF8, 1},     /* overlong, three bytes */
    {"\"\xF0\x8F\xBF\xBF\"", 0, NEAP_E_UTF8, 1}, /* overlong, four bytes */
    {"\"\xED\xA0\x80\"", 0, NEAP_E_UTF8, 1},     /* the first surrogate */
    {"\"\xED\xBF\xBF\"", 0, NEAP_E_UTF8, 1},     /* the last one */
    {"\"\xF4\x90\x80\x80\"", 0, NEAP_E_UTF8, 1}, /* beyond U+10FFFF */
    {"\"\xF5\x80\x80\x80\"", 0, NEAP_E_UTF8, 1},
    {"\"\xFE\"", 0, NEAP_E_UTF8, 1},
    {"\"\xFF\"", 0, NEAP_E_UTF8, 1},
    {"\"a\xC3\"", 0, NEAP_E_UTF8, 2},            /* cut short by the quote */
    {"\"\xE6\xBD\"", 0, NEAP_E_UTF8, 1},         /* one byte missing of three */
    {"\"\xF0\x9F\x98\"", 0, NEAP_E_UTF8, 1},     /* one byte missing of four */
    {"\"\xE6\xBD", 0, NEAP_E_UTF8, 1},           /* the text ends in the character */
    {"\"\xE6\x28\xAE\"", 0, NEAP_E_UTF8, 1},     /* an ASCII byte inside */
    {"\"\xE6\xBD\xC2\"", 0, NEAP_E_UTF8, 1},     /* a lead instead of the third byte */
    {"\"\xF0\x9F\x98\xFF\"", 0, NEAP_E_UTF8, 1}, /* no continuation as the fourth */
    {"{\"k\xFF\":1}", 0, NEAP_E_UTF8, 3},        /* in a member's name */
    {"\"\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF\xF0\x90\x80\x80"
     "\xF4\x8F\xBF\xBF\"",
     0, NEAP_OK, NP_JSON_STRING}, /* the ends of every range */
};

static void test_json_verdicts(void) {
  for (size_t i = 0; i < NP_COUNT(verdicts); i++) {
    const verdict *v = &verdicts[i];
    np_str text = {v->text, v->n ? v->n : strlen(v->text)};
    /* An exact copy, so that a read past the end is seen by the sanitizer. */
    char *copy = malloc(text.n + !text.n);
    if (text.n) memcpy(copy, text.p, text.n);
    np_json out = {0};
    np_err e = {0};
    neap_rc rc = np_json_check(np_str_of(copy, text.n), &out, &e);
    bool ok = rc == v->rc && (rc ? e.pos == v->pos && e.code == rc && *e.text
                                 : out.type == (np_json_type)v->pos);
    if (!ok) {
      fprintf(stderr, "  case %zu: %.*s\n  wanted %s %zu, got %s %zu\n", i, (int)text.n,
              text.p, neap_rc_name(v->rc), v->pos, neap_rc_name(rc),
              rc ? e.pos : (size_t)out.type);
    }
    CHECK("the scanner's verdict", ok);
    free(copy);
  }
}

static neap_rc check_nested(size_t depth, char open, char close, np_err *e) {
  np_buf b;
  np_json out;
  np_buf_init(&b, libc);
  for (size_t i = 0; i < depth; i++) np_buf_adds(&b, open == '{' ? "{\"k\":" : "[");
  np_buf_addc(&b, '0');
  for (size_t i = 0; i < depth; i++) np_buf_addc(&b, close);
  neap_rc rc = np_json_check(np_buf_str(&b), &out, e);
  np_buf_free(&b);
  return rc;
}

static void test_json_depth(void) {
  np_err e;
  CHECK("the deepest allowed array",
        check_nested(NP_JSON_DEPTH, '[', ']', &e) == NEAP_OK);
  CHECK("the deepest allowed object",
        check_nested(NP_JSON_DEPTH, '{', '}', &e) == NEAP_OK);
  CHECK("one array deeper is a limit, at its bracket",
        check_nested(NP_JSON_DEPTH + 1, '[', ']', &e) == NEAP_E_LIMIT &&
            e.pos == NP_JSON_DEPTH);
  CHECK("one object deeper is a limit",
        check_nested(NP_JSON_DEPTH + 1, '{', '}', &e) == NEAP_E_LIMIT);
  CHECK("a million levels are a limit, not a crash",
        check_nested(1000000, '[', ']', &e) == NEAP_E_LIMIT);
  np_buf b;
  np_json out;
  np_buf_init(&b, libc);
  np_buf_addc(&b, '[');
  for (int i = 0; i < 2 * NP_JSON_DEPTH; i++) np_buf_adds(&b, "[[]],");
  np_buf_adds(&b, "0]");
  CHECK("brackets side by side are not deep",
        np_json_check(np_buf_str(&b), &out, &e) == NEAP_OK);
  np_buf_free(&b);
}

/* ---- walking ---- */

static np_json parse(const char *text) {
  np_json v = {0};
  np_err e;
  if (np_json_check(np_str_cstr(text), &v, &e)) {
    fprintf(stderr, "  not JSON: %s: %s\n", text, e.text);
    CHECK("the test's own JSON is good", false);
  }
  return v;
}

static void test_json_walk(void) {
  np_json v = parse(
              " {\t\"a\"\r: [1 , -2.50e1,\"]}\\\"\" ] ,\"b\":{},\n\"\\u0063\":null } "),
          m, item;
  np_json_iter it = np_json_each(v);
  np_str key;
  CHECK("the first member", np_json_next(&it, &key, &m) && np_str_is(key, "\"a\""));
  CHECK("its value keeps its bytes",
        m.type == NP_JSON_ARRAY && np_str_is(m.raw, "[1 , -2.50e1,\"]}\\\"\" ]"));
  np_json_iter in = np_json_each(m);
  CHECK("the first item", np_json_next(&in, NULL, &item) && np_str_is(item.raw, "1"));
  CHECK("a number is a slice",
        np_json_next(&in, NULL, &item) && np_str_is(item.raw, "-2.50e1"));
  CHECK("brackets in a string close nothing",
        np_json_next(&in, NULL, &item) && np_str_is(item.raw, "\"]}\\\"\""));
  CHECK("an array ends",
        !np_json_next(&in, NULL, &item) && !np_json_next(&in, NULL, &item));
  CHECK("an empty object has no members",
        np_json_next(&it, &key, &m) && m.type == NP_JSON_OBJECT);
  in = np_json_each(m);
  CHECK("and says so", !np_json_next(&in, &key, &item));
  CHECK("a key written with an escape",
        np_json_next(&it, &key, &m) && np_json_is_key(key, "c"));
  CHECK("an object ends", !np_json_next(&it, &key, &m));
  CHECK("get finds a member by its decoded name",
        np_json_get(v, "c", &m) && m.type == NP_JSON_NULL);
  CHECK("get of what is absent", !np_json_get(v, "d", &m) && m.type == NP_JSON_NONE);
  CHECK("a name's prefix is no match", !np_json_get(v, "", &m));
  CHECK("names are told apart by case", !np_json_get(v, "A", &m));
  CHECK("get of no object",
        !np_json_get(parse("[1]"), "a", &m) && m.type == NP_JSON_NONE);
  CHECK("get of nothing", !np_json_get((np_json){0}, "a", &m));
  it = np_json_each(parse("3"));
  CHECK("a number has no items", !np_json_next(&it, &key, &m));
  CHECK("of doubled members the last wins",
        np_json_get(parse("{\"a\":1,\"b\":2,\"\\u0061\":3}"), "a", &m) &&
            np_str_is(m.raw, "3"));
}

static void test_json_prefix(void) {
  np_str text = NP_LIT(" {\"a\":1}[2] \"x\"\n");
  size_t at = 0, used, n = 0;
  np_json v;
  np_err e;
  const char *want[] = {"{\"a\":1}", "[2]", "\"x\""};
  while (np_json_check_prefix(np_str_cut(text, at, text.n), &v, &used, &e) == NEAP_OK &&
         n < 3) {
    CHECK("several records on one line, one by one", np_str_is(v.raw, want[n]));
    at += used;
    n++;
  }
  CHECK("all of them were read", n == 3 && at == text.n - 1);
  CHECK("and the rest is no value", e.code == NEAP_E_JSON);
}

/* ---- strings ---- */

static const struct {
  const char *raw, *want;
  size_t n, lone;
} decoded[] = {
    {"\"\"", "", 0, 0},
    {"\"abc\"", "abc", 3, 0},
    {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8, 0},
    {"\"a\\u0000b\"", "a\0b", 3, 0},
    {"\"\\u0041\\u00e9\\u6F6E\"", "A\xC3\xA9\xE6\xBD\xAE", 6, 0},
    {"\"\\uD83D\\uDE00\"", "\xF0\x9F\x98\x80", 4, 0},
    {"\"\\uD800\\uDC00\"", "\xF0\x90\x80\x80", 4, 0},
    {"\"\\uDBFF\\uDFFF\"", "\xF4\x8F\xBF\xBF", 4, 0},
    {"\"\\uD83D\"", "\xEF\xBF\xBD", 3, 1},
    {"\"\\uDE00\\uD83D\"", "\xEF\xBF\xBD\xEF\xBF\xBD", 6, 2},
    {"\"\\uD83Dx\\uDE00\"", "\xEF\xBF\xBDx\xEF\xBF\xBD", 7, 2},
    {"\"\\uD83D\\uD83D\\uDE00\"", "\xEF\xBF\xBD\xF0\x9F\x98\x80", 7, 1},
    {"\"\\uD83D\\n\"", "\xEF\xBF\xBD\n", 4, 1},
    {"\"\\\\uD83D\"", "\\uD83D", 6, 0}, /* an escaped backslash, then letters */
    {"\"\\\\\\uD83D\"", "\\\xEF\xBF\xBD", 4, 1},
};

static void test_json_text(void) {
  for (size_t i = 0; i < NP_COUNT(decoded); i++) {
    np_json v = parse(decoded[i].raw);
    np_buf b;
    np_buf_init(&b, libc);
    size_t lone = np_json_text(v, &b);
    bool ok = lone == decoded[i].lone && b.n == decoded[i].n &&
              (b.n == 0 || memcmp(b.p, decoded[i].want, b.n) == 0);
    if (!ok)
      fprintf(stderr, "  %s: %zu lone, %.*s\n", decoded[i].raw, lone, (int)b.n, b.p);
    CHECK("a string decodes to its text", ok);
    CHECK("lone halves are seen without decoding", np_json_has_lone(v) == (lone > 0));
    np_buf_free(&b);
  }
  CHECK("lone halves are seen inside values",
        np_json_has_lone(parse("[{\"a\":\"\\udc00\"}]")));
  CHECK("but not in text that only looks like one",
        !np_json_has_lone(parse("{\"\\\\ud800\":[\"\\\\udc00\"]}")));
  np_str esc = NP_LIT("\"caf\\u00e9\"");
  CHECK("keys compare after unescaping", np_json_is_key(esc, "caf\xC3\xA9"));
  CHECK("what is no quoted key is no name", !np_json_is_key((np_str){NULL, 0}, "a"));
  CHECK("a shorter name is another", !np_json_is_key(esc, "caf"));
  CHECK("a longer name is another", !np_json_is_key(esc, "caf\xC3\xA9s"));
}

/* Repaired bytes are those of the input but for lone halves, and have none of them. */
static void test_json_repair(void) {
  static const struct {
    const char *raw, *want;
  } cases[] = {
      {"{\"a\" : [1.0, \"\\u00e9\\/\"]}", "{\"a\" : [1.0, \"\\u00e9\\/\"]}"},
      {"\"\\ud83d\"", "\"\\ufffd\""},
      {"[\"x\\uDE00\\uD83Dy\", \"\\uD83D\\uDE00\"]",
       "[\"x\\ufffd\\ufffdy\", \"\\uD83D\\uDE00\"]"},
      {"\"\\\\ud83d\\ud83d\"", "\"\\\\ud83d\\ufffd\""},
      {"{\"\\udc00\":\"\\\"\"}", "{\"\\ufffd\":\"\\\"\"}"},
  };
  for (size_t i = 0; i < NP_COUNT(cases); i++) {
    np_buf b;
    np_buf_init(&b, libc);
    np_json_copy_repaired(parse(cases[i].raw).raw, &b);
    bool ok = np_str_is(np_buf_str(&b), cases[i].want);
    if (!ok) fprintf(stderr, "  %s became %.*s\n", cases[i].raw, (int)b.n, b.p);
    CHECK("a lone half is replaced, all else stays", ok);
    np_buf_free(&b);
  }
}

static bool quotes_to(np_str s, const char *want) {
  np_buf b;
  np_buf_init(&b, libc);
  np_json_quote(&b, s);
  bool ok = np_str_is(np_buf_str(&b), want);
  if (!ok) fprintf(stderr, "  wanted %s, got %.*s\n", want, (int)b.n, b.p);
  np_buf_free(&b);
  return ok;
}

static void test_json_quote(void) {
  CHECK("nothing", quotes_to((np_str){NULL, 0}, "\"\""));
  CHECK("plain text and UTF-8 go out as they are",
        quotes_to(NP_LIT("a/\xE6\xBD\xAE\x7F"), "\"a/\xE6\xBD\xAE\x7F\""));
  CHECK("the short escapes",
        quotes_to(NP_LIT("\"\\\b\f\n\r\t"), "\"\\\"\\\\\\b\\f\\n\\r\\t\""));
  CHECK("other control characters",
        quotes_to(np_str_of("\0\x1F", 2), "\"\\u0000\\u001f\""));
  CHECK("bytes that are no UTF-8 are replaced one by one",
        quotes_to(NP_LIT("a\xFF\xC3(\xE6\xBD"),
                  "\"a\xEF\xBF\xBD\xEF\xBF\xBD(\xEF\xBF\xBD\xEF\xBF\xBD\""));
  CHECK("a surrogate in bytes is replaced",
        quotes_to(NP_LIT("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""));
}

/* ---- properties ---- */

/* A piece of text: mostly characters that need care, sometimes any byte. */
static size_t piece(unsigned long long *state, bool valid, char *out) {
  static const char *const pieces[] = {"\"",
                                       "\\",
                                       "/",
                                       "\n",
                                       "\t",
                                       "\x01",
                                       "\x1F",
                                       "\x7F",
                                       "a",
                                       "u00",
                                       "{",
                                       "}",
                                       "[",
                                       "]",
                                       ",",
                                       ":",
                                       " ",
                                       "\xC2\x80",
                                       "\xE6\xBD\xAE",
                                       "\xEF\xBF\xBD",
                                       "\xF0\x9F\x98\x80"};
  unsigned long long r = check_random(state);
  if (!valid && r % 4 == 0) {
    out[0] = (char)(r >> 32);
    return 1;
  }
  if (r % 29 == 0) {
    out[0] = '\0';
    return 1;
  }
  const char *s = pieces[(r >> 8) % NP_COUNT(pieces)];
  memcpy(out, s, strlen(s));
  return strlen(s);
}

/* What quote writes, check accepts and text reads back; and nothing is read past the end. */
static void test_json_round_trip(void) {
  unsigned long long state = check_seed(20240607);
  bool all = true;
  for (int round = 0; round < 4000; round++) {
    bool valid = round % 2 == 0;
    char text[400];
    size_t n = 0, pieces = check_random(&state) % 80;
    for (size_t i = 0; i < pieces; i++) n += piece(&state, valid, text + n);
    np_buf quoted, again, twice;
    np_buf_init(&quoted, libc);
    np_buf_init(&again, libc);
    np_buf_init(&twice, libc);
    np_json_quote(&quoted, np_str_of(text, n));
    np_json v = {0};
    np_err e = {0};
    neap_rc rc = np_json_check(np_buf_str(&quoted), &v, &e);
    bool ok = rc == NEAP_OK && v.type == NP_JSON_STRING && np_json_text(v, &again) == 0;
    np_json_quote(&twice, np_buf_str(&again));
    ok = ok && np_str_eq(np_buf_str(&quoted), np_buf_str(&twice));
    if (valid) ok = ok && np_str_eq(np_buf_str(&again), np_str_of(text, n));
    if (!ok)
      fprintf(stderr, "  round %d: %.*s: %s\n", round, (int)quoted.n, quoted.p, e.text);
    all = all && ok;
    np_buf_free(&quoted);
    np_buf_free(&again);
    np_buf_free(&twice);
  }
  CHECK("quoting and reading back gives the same text", all);
}

/* Walks a checked value to its leaves; the bytes between brackets must be covered exactly. */
static size_t walk(np_json v) {
  if (v.type != NP_JSON_ARRAY && v.type != NP_JSON_OBJECT) return v.raw.n;
  size_t seen = 2;
  np_json_iter it = np_json_each(v);
  np_str key = {0};
  np_json item;
  for (size_t i = 0; np_json_next(&it, &key, &item); i++) {
    seen += walk(item) + (i > 0) + (it.object ? key.n + 1 : 0);
  }
  return seen;
}

static void grow_json(unsigned long long *state, int depth, np_buf *b) {
  unsigned long long r = check_random(state);
  static const char *const leaves[] = {"null",       "true", "-1.5e3", "\"\"",
                                       "\"}]\\\"\"", "[]",   "{}",     "0"};
  if (depth == 0 || r % 3 == 0) {
    np_buf_adds(b, leaves[(r >> 8) % NP_COUNT(leaves)]);
    return;
  }
  bool object = r & 64;
  np_buf_addc(b, object ? '{' : '[');
  for (size_t i = 0, n = (r >> 16) % 5; i < n; i++) {
    if (i) np_buf_addc(b, ',');
    if (object) np_buf_adds(b, r & 128 ? "\"a\":" : "\"\\\\\":");
    grow_json(state, depth - 1, b);
  }
  np_buf_addc(b, object ? '}' : ']');
}

/* True when the first `n` bytes, in a block of just that size, are good JSON that can be
** walked, or are refused with a place inside them. */
static bool sound(const char *p, size_t n) {
  char *copy = malloc(n + !n);
  if (n) memcpy(copy, p, n);
  np_json v = {0};
  np_err e = {0};
  neap_rc rc = np_json_check(np_str_of(copy, n), &v, &e);
  bool ok = rc ? e.pos <= n && *e.text : walk(v) <= n;
  free(copy);
  return ok;
}

/* Generated values are accepted and walked to the last byte; each is also broken in one byte,
** and cut short. */
static void test_json_generated(void) {
  unsigned long long state = check_seed(99);
  bool accepted = true, walked = true, broken = true, cut = true;
  for (int round = 0; round < 4000; round++) {
    np_buf b;
    np_buf_init(&b, libc);
    grow_json(&state, 6, &b);
    np_json v = {0};
    np_err e = {0};
    neap_rc rc = np_json_check(np_buf_str(&b), &v, &e);
    accepted = accepted && rc == NEAP_OK && np_str_eq(v.raw, np_buf_str(&b));
    walked = walked && rc == NEAP_OK && walk(v) == b.n;
    cut = cut && sound(b.p, check_random(&state) % b.n);
    b.p[check_random(&state) % b.n] = (char)check_random(&state);
    broken = broken && sound(b.p, b.n);
    np_buf_free(&b);
  }
  CHECK("generated values are accepted", accepted);
  CHECK("walking meets every byte of them", walked);
  CHECK("a value broken in one byte is good or refused with a place", broken);
  CHECK("so is a value cut short", cut);
}

/* Eight bytes are looked at in one go: any byte at any place of a string of any length must
** be judged, and the string's end found, as if they were looked at one by one. */
static void test_json_bytes(void) {
  bool judged = true, ended = true;
  char text[48];
  for (size_t n = 1; n <= 40; n++) {
    for (size_t at = 0; at < n; at++) {
      for (int c = 0; c < 256; c++) {
        memset(text, 'x', sizeof text);
        text[0] = text[n + 1] = '"';
        text[1 + at] = (char)c;
        np_json v = {0};
        np_err e = {0};
        neap_rc rc = np_json_check(np_str_of(text, n + 2), &v, &e), want = NEAP_OK;
        size_t pos = at + 1;
        if (c < 0x20 || c == '"' || c == '\\') want = NEAP_E_JSON;
        if (c >= 0x80) want = NEAP_E_UTF8;
        if (c == '"') pos = at + 2; /* more text behind it */
        if (c == '\\' && at + 1 == n) {
          text[n + 2] = '"'; /* the last quote is escaped: now it is closed */
          judged = judged && rc == NEAP_E_JSON;
          ended = ended && np_json_string_end(text, text + n + 3) == text + n + 3;
          continue;
        }
        judged = judged && rc == want && (rc == NEAP_OK || e.pos == pos);
        const char *end = c == '"' ? text + at + 2 : text + n + 2;
        ended = ended && np_json_string_end(text, text + n + 2) == end;
      }
    }
  }
  CHECK("every byte of a string is judged, wherever it stands", judged);
  CHECK("the end of a string is its quote, wherever it stands", ended);
}

int main(void) {
  test_json_bytes();
  test_json_verdicts();
  test_json_depth();
  test_json_walk();
  test_json_prefix();
  test_json_text();
  test_json_repair();
  test_json_quote();
  test_json_round_trip();
  test_json_generated();
  return check_done();
}
