/*
** What a provider would bill, on prompts small enough to be reckoned by hand: minimum, steps,
** breakpoints, how far back is looked, how long a prefix lives. And the table that the rules
** come from. next: test_engine.c
*/
#include "check.h"
#include "engine/bill.h"

#define SEGMENTS 8

/* A prompt of `count` segments of 1,000 tokens and `blocks` blocks each. */
typedef struct prompt {
  np_segment segments[SEGMENTS];
  np_frame frame;
  np_rendered rendered;
  np_breaks breaks;
  np_billed billed;
} prompt;

static void make(prompt *p, size_t count, size_t common, int64_t blocks) {
  *p = (prompt){.frame = {.count = count}};
  for (size_t i = 0; i < count; i++) {
    p->segments[i].tokens = 1000 * (int64_t)(i + 1);
    p->segments[i].blocks = blocks * (int64_t)(i + 1);
  }
  p->frame.segments = p->segments;
  p->rendered = (np_rendered){.common = common, .cached = 1000 * (int64_t)common};
  p->billed = (np_billed){.frame = &p->frame,
                          .rendered = &p->rendered,
                          .breaks = &p->breaks,
                          .tokens = 1000 * (int64_t)count,
                          .minimum = 1024};
}

static void mark(prompt *p, size_t segment) {
  p->breaks.at[p->breaks.count++] = segment;
}

static const np_cache *of(const char *name) {
  return np_cache_find(np_str_cstr(name));
}

/* ---- prefixes that are found without marks ---- */

static void check_openai(int64_t tokens, int64_t cached, bool cold, int64_t read,
                         int64_t written) {
  prompt p;
  np_bill b;
  np_bill_init(&b, &np_alloc_libc);
  make(&p, 1, 0, 1);
  p.rendered.cached = cached;
  p.billed.tokens = tokens;
  p.billed.cold = cold;
  CHECK("billed", np_bill_prompt(&b, of("gpt-5.6"), &p.billed));
  if (b.read != read || b.written != written)
    fprintf(stderr, "%lld of %lld: read %lld, written %lld\n", (long long)cached,
            (long long)tokens, (long long)b.read, (long long)b.written);
  CHECK("read", b.read == read);
  CHECK("written", b.written == written);
  np_bill_free(&b);
}

static void test_steps(void) {
  check_openai(1023, 900, false, 0, 0);        /* too short to be kept */
  check_openai(1024, 0, false, 0, 1024);       /* the shortest that is */
  check_openai(5000, 1023, false, 0, 5000);    /* shared, but less than the shortest */
  check_openai(5000, 1024, false, 1024, 3976); /* 8 steps of 128 */
  check_openai(5000, 1151, false, 1024, 3976); /* the ninth is not full */
  check_openai(5000, 1152, false, 1152, 3848);
  check_openai(5000, 4000, true, 0, 5000); /* forgotten */
}

/* ---- prefixes that are kept at marks ---- */

/* Bills one prompt; `read` and `written` in thousands of tokens. */
static void expect(np_bill *b, prompt *p, int64_t read, int64_t written,
                   const char *what) {
  CHECK("billed", np_bill_prompt(b, of("claude-sonnet-4-5"), &p->billed));
  if (b->read != read * 1000 || b->written != written * 1000)
    fprintf(stderr, "%s: read %lld, written %lld\n", what, (long long)b->read,
            (long long)b->written);
  CHECK(what, b->read == read * 1000 && b->written == written * 1000);
}

static void test_marks(void) {
  prompt p;
  np_bill b;
  np_bill_init(&b, &np_alloc_libc);
  make(&p, 3, 0, 1);
  expect(&b, &p, 0, 0, "without a mark nothing is kept");
  make(&p, 3, 3, 1);
  mark(&p, 1);
  expect(&b, &p, 0, 2, "up to the mark is written, what follows is neither");
  make(&p, 4, 3, 1);
  mark(&p, 1), mark(&p, 3);
  expect(&b, &p, 2, 2, "read to the old mark, written to the new one");
  make(&p, 5, 3, 1);
  mark(&p, 4);
  expect(&b, &p, 2, 3, "what changed from the fourth on is found at the second");
  make(&p, 5, 1, 1);
  mark(&p, 4);
  expect(&b, &p, 0, 5, "a change before every mark: nothing is found");
  np_bill_free(&b);
}

/* 20 positions are looked at, the mark's own among them: 19 blocks before it. */
static void test_look_back(void) {
  static const struct {
    int64_t apart;
    int64_t read;
  } rows[] = {{1, 2}, {19, 2}, {20, 0}, {21, 0}, {500, 0}};
  for (size_t i = 0; i < NP_COUNT(rows); i++) {
    prompt p;
    np_bill b;
    np_bill_init(&b, &np_alloc_libc);
    make(&p, 2, 0, 1);
    mark(&p, 1);
    expect(&b, &p, 0, 2, "first");
    make(&p, 3, 2, 1);
    p.segments[2].blocks = p.segments[1].blocks + rows[i].apart;
    mark(&p, 2);
    expect(&b, &p, rows[i].read, 3 - rows[i].read, "so many blocks behind the last mark");
    make(&p, 3, 3, 1);
    mark(&p, 1), mark(&p, 2);
    expect(&b, &p, 3, 0, "a mark where one was is found however far");
    np_bill_free(&b);
  }
}

static void at(prompt *p, int64_t seconds, size_t segment) {
  make(p, 4, 4, 1);
  mark(p, segment);
  p->billed.now = seconds * 1000;
  p->billed.ttl = 300000;
}

/* Each prefix lives 300 seconds from its last use. */
static void test_life(void) {
  prompt p;
  np_bill b;
  np_bill_init(&b, &np_alloc_libc);
  at(&p, 1000, 1);
  expect(&b, &p, 0, 2, "first");
  at(&p, 1300, 1);
  expect(&b, &p, 2, 0, "300 seconds later it is still there");
  at(&p, 1600, 1);
  expect(&b, &p, 2, 0, "and being found made it live on");
  at(&p, 1601, 3);
  expect(&b, &p, 2, 2, "found from a mark behind it");
  at(&p, 1901, 3);
  expect(&b, &p, 4, 0, "the longer one");
  at(&p, 1902, 1);
  expect(&b, &p, 0, 2, "the shorter one was not used since 1601");
  np_bill_free(&b);
}

/* However many turns: what is kept has a limit, and what memory lacks is said. */
static void test_many(void) {
  prompt p;
  np_bill b;
  np_segment *many = calloc(3000, sizeof *many);
  np_bill_init(&b, &np_alloc_libc);
  for (size_t i = 0; i < 3000; i++) {
    many[i].tokens = 2000 + (int64_t)i;
    many[i].blocks = (int64_t)i;
  }
  for (size_t i = 0; i < 3000; i++) {
    make(&p, 1, i, 1);
    p.frame = (np_frame){.segments = many, .count = i + 1};
    mark(&p, i);
    CHECK("billed", np_bill_prompt(&b, of("claude"), &p.billed));
    CHECK("the last one is found", !i || b.read == many[i - 1].tokens);
  }
  CHECK("some are kept", b.count <= 512 && b.count > 100);
  free(many);
  np_bill_free(&b);
}

/* ---- the table ---- */

static void test_table(void) {
  CHECK("a date's name", of("us.anthropic.claude-opus-4-5-20251101")->minimum == 4096);
  CHECK("of its own", of("claude-opus-5")->minimum == 512);
  CHECK("the longest row", of("gpt-4o-mini-2024-07-18")->read == 500000);
  CHECK("no fee before 5.6", of("gpt-5")->write == NP_MILLION);
  CHECK("none fits", !of("tide-9") && !of(""));
  CHECK("text has no provider", np_cache_default(NP_LIT("text"))->minimum == 0);
  CHECK("openai's newest", np_cache_default(NP_LIT("openai"))->write == 1250000);
  CHECK("anthropic's", np_cache_default(NP_LIT("anthropic"))->marks == 4);
  for (size_t i = 0; np_cache_at(i); i++) {
    const np_cache *c = np_cache_at(i);
    CHECK("a read is no dearer than a token", c->read > 0 && c->read <= NP_MILLION);
    CHECK("a write no cheaper", c->write >= NP_MILLION);
    CHECK("steps", c->step > 0);
    CHECK("each is found by its own name", np_cache_find(np_str_cstr(c->name)) == c);
    CHECK("a longer life costs more", !c->ttl_long || c->write_long > c->write);
  }
}

int main(void) {
  test_steps();
  test_marks();
  test_look_back();
  test_life();
  test_many();
  test_table();
  return check_done();
}
