/*
** Tests of core/base but for JSON: slices, memory, buffers, errors, hashes.
** next: test_json.c
*/
#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "check.h"

static const neap_alloc *const libc = &np_alloc_libc;

/* An allocator that keeps account and can be told to fail from the nth request on. */
typedef struct counter {
  size_t requests, fail_from, bytes, blocks;
  bool wrong_old; /* a realloc was told another size than the block has */
} counter;

static void *count_malloc(void *ctx, size_t n) {
  counter *c = ctx;
  if (c->fail_from && ++c->requests >= c->fail_from) return NULL;
  size_t *p = malloc(n + 2 * sizeof *p);
  if (!p) return NULL;
  p[0] = n;
  c->bytes += n;
  c->blocks++;
  return p + 2;
}

static void count_free(void *ctx, void *p) {
  counter *c = ctx;
  size_t *head = (size_t *)p - 2;
  c->bytes -= head[0];
  c->blocks--;
  free(head);
}

static void *count_realloc(void *ctx, void *p, size_t old, size_t n) {
  counter *c = ctx;
  if (((size_t *)p)[-2] != old) c->wrong_old = true;
  void *q = count_malloc(ctx, n);
  if (!q) return NULL;
  memcpy(q, p, old < n ? old : n);
  count_free(ctx, p);
  return q;
}

static neap_alloc counting(counter *c) {
  *c = (counter){0};
  return (neap_alloc){count_malloc, count_realloc, count_free, c};
}

/* ---- slices ---- */

static void test_str(void) {
  np_str s = NP_LIT("one two one");
  CHECK("a literal's length leaves out the NUL", s.n == 11);
  CHECK("a NULL C string is the empty slice", np_str_cstr(NULL).n == 0);
  CHECK("empty slices are equal whatever they point to",
        np_str_eq((np_str){NULL, 0}, NP_LIT("")));
  CHECK("slices compare by bytes",
        np_str_is(s, "one two one") && !np_str_is(s, "one two"));
  CHECK("a zero byte takes part in comparison",
        !np_str_eq(np_str_of("a\0b", 3), np_str_of("a\0c", 3)));
  CHECK("order is that of unsigned bytes", np_str_cmp(NP_LIT("z"), NP_LIT("\xC3")) < 0);
  CHECK("a prefix comes first", np_str_cmp(NP_LIT("ab"), NP_LIT("abc")) < 0);
  CHECK("equal slices compare as 0", np_str_cmp(s, s) == 0);
  CHECK("a cut is clamped at its end", np_str_is(np_str_cut(s, 8, 99), "one"));
  CHECK("a cut that begins behind its end is empty", np_str_cut(s, 9, 4).n == 0);
  CHECK("find gives the first place", np_str_find(s, NP_LIT("one"), 0) == 0);
  CHECK("find goes on from an offset", np_str_find(s, NP_LIT("one"), 1) == 8);
  CHECK("find at the last place", np_str_find(s, NP_LIT("e"), 8) == 10);
  CHECK("what is not there is SIZE_MAX", np_str_find(s, NP_LIT("three"), 0) == SIZE_MAX);
  CHECK("an offset beyond the end finds nothing",
        np_str_find(s, NP_LIT("o"), 12) == SIZE_MAX);
  CHECK("nor does it find the empty slice", np_str_find(s, NP_LIT(""), 12) == SIZE_MAX);
  CHECK("the empty slice is found where one looks", np_str_find(s, NP_LIT(""), 11) == 11);
  CHECK("a needle longer than the text",
        np_str_find(NP_LIT("ab"), NP_LIT("abc"), 0) == SIZE_MAX);
  size_t out;
  CHECK("a sum that overflows is refused", !np_add_ok(SIZE_MAX, 1, &out));
  CHECK("a sum that just fits", np_add_ok(SIZE_MAX - 1, 1, &out) && out == SIZE_MAX);
  CHECK("a product that overflows is refused", !np_mul_ok(SIZE_MAX / 2 + 1, 2, &out));
  CHECK("a product with 0", np_mul_ok(0, SIZE_MAX, &out) && out == 0);
}

/* ---- memory ---- */

static void test_mem(void) {
  counter c;
  neap_alloc a = counting(&c);
  unsigned char *p = np_calloc(&a, 3, 5);
  CHECK("calloc zeroes", p && p[0] == 0 && p[14] == 0);
  np_free(&a, p);
  np_free(&a, NULL);
  CHECK("calloc refuses a product that overflows", !np_calloc(&a, SIZE_MAX / 2, 4));
  void *items = NULL;
  size_t cap = 0;
  CHECK("grow makes room", np_grow(&a, &items, &cap, 3, 4) && cap >= 3);
  size_t before = cap;
  CHECK("grow does nothing when there is room",
        np_grow(&a, &items, &cap, before, 4) && cap == before);
  CHECK("grow adds at least a half",
        np_grow(&a, &items, &cap, before + 1, 4) && cap >= before + before / 2);
  before = cap;
  void *same = items;
  CHECK("grow refuses what overflows and changes nothing",
        !np_grow(&a, &items, &cap, SIZE_MAX / 2, 4) && items == same && cap == before);
  c.requests = 0;
  c.fail_from = 1;
  CHECK("grow without memory changes nothing",
        !np_grow(&a, &items, &cap, before + 1, 4) && items == same && cap == before);
  np_free(&a, items);
  CHECK("realloc is told the true old size", !c.wrong_old);
  CHECK("every block is given back", c.blocks == 0 && c.bytes == 0);
}

static void test_arena(void) {
  counter c;
  neap_alloc a = counting(&c);
  np_arena ar;
  np_arena_init(&ar, &a);
  char *p = np_arena_alloc(&ar, 3), *q = np_arena_alloc(&ar, 1);
  CHECK("arena blocks are 8-byte aligned",
        ((uintptr_t)p & 7) == 0 && ((uintptr_t)q & 7) == 0);
  CHECK("arena blocks do not overlap", q >= p + 3);
  CHECK("an arena refuses sizes near the limit", !np_arena_alloc(&ar, SIZE_MAX));
  CHECK("and those that a chunk's head would carry over",
        !np_arena_alloc(&ar, SIZE_MAX - 15));
  char *big = np_arena_alloc(&ar, (size_t)1 << 20);
  CHECK("a large block is served", big != NULL);
  if (big) memset(big, 7, (size_t)1 << 20);
  np_str s;
  CHECK("a copy ends in NUL", np_arena_copy(&ar, np_str_of("a\0b", 3), &s) && s.n == 3 &&
                                  s.p[1] == 0 && s.p[3] == 0);
  CHECK("an empty slice can be copied",
        np_arena_copy(&ar, (np_str){NULL, 0}, &s) && s.p[0] == 0);
  CHECK("used counts what was handed out", ar.used >= ((size_t)1 << 20) + 3 + 1 + 4);
  np_arena_clear(&ar);
  CHECK("clear keeps at most one chunk", c.blocks <= 1 && ar.used == 0);
  size_t requests = c.blocks;
  CHECK("a cleared arena serves from what it kept",
        np_arena_alloc(&ar, 64) && c.blocks == requests);
  c.requests = 0;
  c.fail_from = 1;
  CHECK("out of memory is NULL", !np_arena_alloc(&ar, (size_t)4 << 20));
  c.fail_from = 0;
  CHECK("and the arena goes on", np_arena_alloc(&ar, 8) != NULL);
  np_arena_free(&ar);
  CHECK("an arena gives everything back", c.blocks == 0);
  np_arena_free(&ar);
}

/* ---- buffers ---- */

static bool prints(void (*write)(np_buf *, int64_t), int64_t v, const char *want) {
  np_buf b;
  np_buf_init(&b, libc);
  write(&b, v);
  bool ok = np_str_is(np_buf_str(&b), want);
  if (!ok) fprintf(stderr, "  wanted %s, got %.*s\n", want, (int)b.n, b.p);
  np_buf_free(&b);
  return ok;
}

static bool prints_num(double v, int decimals, const char *want) {
  np_buf b;
  np_buf_init(&b, libc);
  np_buf_num(&b, v, decimals);
  bool ok = np_str_is(np_buf_str(&b), want);
  if (!ok) fprintf(stderr, "  wanted %s, got %.*s\n", want, (int)b.n, b.p);
  np_buf_free(&b);
  return ok;
}

static void test_buf_numbers(void) {
  CHECK("zero", prints(np_buf_int, 0, "0") && prints(np_buf_count, 0, "0"));
  CHECK("the smallest integer", prints(np_buf_int, INT64_MIN, "-9223372036854775808"));
  CHECK("the largest integer", prints(np_buf_int, INT64_MAX, "9223372036854775807"));
  CHECK("three digits have no comma", prints(np_buf_count, 999, "999"));
  CHECK("four digits have one", prints(np_buf_count, 1000, "1,000"));
  CHECK("a negative count", prints(np_buf_count, -100000, "-100,000"));
  CHECK("the smallest count",
        prints(np_buf_count, INT64_MIN, "-9,223,372,036,854,775,808"));
  CHECK("decimals", prints_num(3.14159, 2, "3.14") && prints_num(2, 3, "2.000"));
  CHECK("zeros after the point",
        prints_num(1.05, 3, "1.050") && prints_num(0.007, 3, "0.007"));
  CHECK("rounding carries into the whole part",
        prints_num(9.996, 2, "10.00") && prints_num(0.5, 0, "1"));
  CHECK("halves go away from zero",
        prints_num(-2.5, 0, "-3") && prints_num(0.125, 2, "0.13"));
  CHECK("no negative zero", prints_num(-0.001, 2, "0.00") && prints_num(-0.0, 0, "0"));
  CHECK("what is no number is null",
        prints_num(1.0 / 0.0, 2, "null") && prints_num(0.0 / 0.0, 2, "null"));
  CHECK("decimals outside the table are clamped",
        prints_num(1.5, -3, "2") && prints_num(1.5, 99, "1.500000"));
}

static void test_buf(void) {
  counter c;
  neap_alloc a = counting(&c);
  np_buf b;
  np_buf_init(&b, &a);
  CHECK("an empty buffer is an empty slice that points somewhere",
        np_buf_str(&b).n == 0 && np_buf_str(&b).p);
  np_buf_add(&b, (np_str){NULL, 0});
  np_buf_adds(&b, "ab");
  np_buf_addc(&b, '\0');
  np_buf_add(&b, NP_LIT("cd"));
  CHECK("writes append, zero bytes too",
        np_str_eq(np_buf_str(&b), np_str_of("ab\0cd", 5)));
  CHECK("reserve gives room without writing", np_buf_reserve(&b, 1000) && b.n == 5);
  c.fail_from = 1;
  c.requests = 0;
  for (int i = 0; i < 5000; i++) np_buf_addc(&b, 'x');
  CHECK("a failed write is remembered", b.failed);
  size_t n = b.n;
  c.fail_from = 0;
  np_buf_adds(&b, "later");
  CHECK("and later writes do nothing", b.failed && b.n == n);
  np_buf_clear(&b);
  np_buf_adds(&b, "again");
  CHECK("a cleared buffer can be used again",
        !b.failed && np_str_is(np_buf_str(&b), "again"));
  CHECK("reserve refuses what overflows", !np_buf_reserve(&b, SIZE_MAX) && b.failed);
  np_buf_free(&b);
  np_buf_free(&b);
  CHECK("a buffer gives its block back", c.blocks == 0 && !c.wrong_old);
}

/* ---- errors ---- */

static void test_err(void) {
  np_err e;
  CHECK("fail returns its code",
        np_fail(&e, NEAP_E_ARG, "bad %s", "thing") == NEAP_E_ARG);
  CHECK("and keeps code and text",
        e.code == NEAP_E_ARG && strcmp(e.text, "bad thing") == 0);
  CHECK("nobody need listen", np_fail(NULL, NEAP_E_IO, "x") == NEAP_E_IO &&
                                  np_fail_at(NULL, NEAP_E_IO, 3, "x") == NEAP_E_IO);
  np_fail_at(&e, NEAP_E_JSON, 17, "100% wrong");
  CHECK("a place is kept, a text is no format",
        e.pos == 17 && strcmp(e.text, "100% wrong") == 0);
  CHECK("out of memory has a text", np_fail_mem(&e) == NEAP_E_MEMORY && *e.text);
  np_fail(&e, NEAP_E_ARG, "a\nb\tc");
  CHECK("a text is one line", !strchr(e.text, '\n') && !strchr(e.text, '\t'));
  np_fail(&e, NEAP_E_ARG, "no file %s", "a\xFF\xE6\xBD(\x7F\xE6\xBD\xAE");
  CHECK("a text is valid UTF-8 whatever came in",
        strcmp(e.text, "no file a?\?\?( \xE6\xBD\xAE") == 0);
  char wide[600];
  for (size_t shift = 0; shift < 3; shift++) {
    memset(wide, 'a', sizeof wide);
    for (size_t i = shift; i + 3 < sizeof wide; i += 3)
      memcpy(wide + i, "\xE6\xBD\xAE", 3);
    wide[sizeof wide - 1] = '\0';
    np_fail(&e, NEAP_E_ARG, "%s", wide);
    size_t n = strlen(e.text), i = n;
    while (i && ((unsigned char)e.text[i - 1] & 0xC0) == 0x80) i--;
    CHECK("a cut text ends with a whole character", n < sizeof e.text && n - i == 2);
  }
  for (int rc = 0; rc < NEAP_RC_COUNT; rc++) {
    CHECK("every code has a name and a text", *neap_rc_name(rc) && *neap_rc_text(rc));
  }
  CHECK("an unknown code has a name too", *neap_rc_name((neap_rc)9999) != '\0');
  CHECK("names are stable", strcmp(neap_rc_name(NEAP_E_BUDGET), "budget") == 0);
}

/* ---- hashes: vectors of FIPS 180-4 and RFC 4231 ---- */

static bool hex_is(const uint8_t *p, const char *want) {
  char got[2 * NP_SHA256];
  np_hex(p, NP_SHA256, got);
  return memcmp(got, want, sizeof got) == 0 && strlen(want) == sizeof got;
}

static void test_hash(void) {
  uint8_t out[NP_SHA256];
  np_sha256(NP_LIT(""), out);
  CHECK("SHA-256 of nothing",
        hex_is(out, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
  np_sha256(NP_LIT("abc"), out);
  CHECK("SHA-256 of abc",
        hex_is(out, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
  np_sha256(NP_LIT("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), out);
  CHECK("SHA-256 over two blocks",
        hex_is(out, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"));
  np_hmac_sha256(NP_LIT("Jefe"), NP_LIT("what do ya want for nothing?"), out);
  CHECK("HMAC-SHA-256, RFC 4231 case 2",
        hex_is(out, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"));
  char key[131];
  memset(key, 0xAA, sizeof key);
  np_hmac_sha256(np_str_of(key, sizeof key),
                 NP_LIT("Test Using Larger Than Block-Size Key - Hash Key First"), out);
  CHECK("HMAC-SHA-256 with a long key, RFC 4231 case 6",
        hex_is(out, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"));
  char text[64] = {0};
  uint64_t seen[64];
  size_t same = 0;
  for (size_t n = 0; n < NP_COUNT(seen); n++) {
    seen[n] = np_hash64(np_str_of(text, n));
    for (size_t i = 0; i < n; i++) same += seen[i] == seen[n];
  }
  CHECK("zeros of different length hash differently", same == 0);
  CHECK("a hash does not depend on where the bytes lie",
        np_hash64(np_str_cut(NP_LIT("xabcdefghijk"), 1, 12)) ==
            np_hash64(NP_LIT("abcdefghijk")));
  CHECK("the last byte counts",
        np_hash64(NP_LIT("abcdefghi")) != np_hash64(NP_LIT("abcdefghj")));
}

/* The values were computed apart from the code: files hold sums of this kind. */
static void test_sum(void) {
  char text[100];
  for (size_t i = 0; i < sizeof text; i++) text[i] = (char)i;
  CHECK("the sum of nothing", np_sum64(0, NP_LIT("")) == 0x31a7914d9871f280ull);
  CHECK("of a word", np_sum64(7, NP_LIT("neap")) == 0x3a65767676f68f7full);
  np_str all = np_str_of(text, sizeof text);
  uint64_t want = np_sum64(1, all);
  CHECK("of 100 bytes", want == 0x9fc45fdc4d5c59baull);
  size_t same = np_sum64(2, all) == want;
  for (size_t bit = 0; bit < 8 * sizeof text; bit++) {
    text[bit / 8] ^= (char)(1 << bit % 8);
    same += np_sum64(1, all) == want;
    text[bit / 8] ^= (char)(1 << bit % 8);
  }
  for (size_t n = 0; n < sizeof text; n++)
    same += np_sum64(1, np_str_of(text, n)) == want;
  CHECK("each bit, the length and the seed count", same == 0);
}

int main(void) {
  test_str();
  test_mem();
  test_arena();
  test_buf_numbers();
  test_buf();
  test_err();
  test_hash();
  test_sum();
  return check_done();
}
