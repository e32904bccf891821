/*
** The split families against a slow matcher that reads the published patterns, on random
** texts; and cases chosen by hand, for what a reader would like to see.
** next: slow_regex.h
*/
#include "slow_regex.h"

#include "token/split.h"

#define WHITE "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define SHORT "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define UP "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOW "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define LEAD "[^\\r\\n\\p{L}\\p{N}]?"
#define CL100K(n) SHORT "|" LEAD "\\p{L}+|" n "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" WHITE
#define O200K(s, n)                                                                      \
  LEAD UP "*" LOW "+" s "|" LEAD UP "+" LOW "*" s "|" n                                  \
          "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" WHITE
#define GPT2                                                                             \
  "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

static const struct family {
  np_split_kind kind;
  const char *steps[3];
} families[] = {
    {NP_SPLIT_CL100K, {CL100K("\\p{N}{1,3}")}},
    {NP_SPLIT_O200K, {O200K(SHORT "?", "\\p{N}{1,3}")}},
    {NP_SPLIT_QWEN2, {CL100K("\\p{N}")}},
    {NP_SPLIT_QWEN35,
     {SHORT "|" LEAD
            "[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" WHITE}},
    {NP_SPLIT_TEKKEN, {O200K("", "\\p{N}")}},
    {NP_SPLIT_DEEPSEEK3,
     {"\\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",
      "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?"
      "[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|" WHITE}},
    {NP_SPLIT_GPT2, {GPT2}},
    {NP_SPLIT_GPT2_DIGITS, {"\\p{N}", GPT2}},
    {NP_SPLIT_GPT2_NUMBERS, {"\\p{N}+", GPT2}},
};

/* ---- by hand ---- */

static const struct hand {
  np_split_kind kind;
  const char *text, *pieces; /* parted by | */
} hands[] = {
    {NP_SPLIT_QWEN2, "it's 1234 x\n\n y", "it|'s| |1|2|3|4| x|\n\n| y"},
    {NP_SPLIT_QWEN35, "नमस्ते e\xCC\x81t", "नमस्ते| e\xCC\x81t"},
    {NP_SPLIT_QWEN2, "e\xCC\x81t", "e|\xCC\x81t"},
    {NP_SPLIT_TEKKEN, "getURL it's 12", "get|URL| it|'s| |1|2"},
    {NP_SPLIT_TEKKEN, "a //\n/b", "a| //\n/|b"},
    {NP_SPLIT_DEEPSEEK3, "a  12345", "a|  |123|45"},
    {NP_SPLIT_DEEPSEEK3, "x.foo 漢字かなmix", "x|.foo| |漢字かな|mix"},
    {NP_SPLIT_DEEPSEEK3, "ア・イ\n", "ア|・|イ|\n"},
    {NP_SPLIT_DEEPSEEK3, "\1\2\3a\1\2 b", "\1\2|\3a|\1\2| b"},
    {NP_SPLIT_GPT2, "it's IT'S 2024 ok", "it|'s| IT|'|S| 2024| ok"},
    {NP_SPLIT_GPT2, "a\n\nb  c", "a|\n|\n|b| | c"},
    {NP_SPLIT_GPT2_DIGITS, "v  12 3", "v|  |1|2| |3"},
    {NP_SPLIT_GPT2_NUMBERS, "v  12 3", "v|  |12| |3"},
};

static void test_hand(const struct hand *h) {
  const uint8_t *p = (const uint8_t *)h->text, *end = p + strlen(h->text);
  char got[256];
  size_t n = 0;
  while (p < end) {
    size_t k = np_split_next(h->kind, p, end);
    if (n) got[n++] = '|';
    memcpy(got + n, p, k);
    n += k;
    p += k;
  }
  got[n] = '\0';
  bool ok = strcmp(got, h->pieces) == 0;
  if (!ok) fprintf(stderr, "kind %d\n  want %s\n  got  %s\n", h->kind, h->pieces, got);
  CHECK("a family cuts a text as its pattern says", ok);
}

/* ---- at random ---- */

static unsigned long long state;

static unsigned pick(unsigned n) {
  return (unsigned)(check_random(&state) % n);
}

/* Characters at which the patterns part ways; none that newer Unicode versions change. */
static const int32_t odd[] = {
    ' ',    ' ',    ' ',    '\n',   '\r',   '\t',   0x85,   0xA0,   0x3000,  0x2028,
    '\'',   '\'',   's',    'S',    't',    'l',    'L',    'r',    'E',     'v',
    0x17F,  'a',    'B',    0xE9,   0xC9,   0x1C5,  0x2B0,  0x5D0,  0x10400, 0x1D4B3,
    '1',    '2',    '3',    0x663,  0x2167, 0xBD,   0x3007, '.',    '!',     '/',
    '-',    '_',    '~',    '$',    0x20AC, 0x2014, 0x3002, 0x301,  0x903,   0x1F600,
    0x200D, 0,      7,      0x378,  0xE000, 0xFEFF, 0x4E00, 0x9FA5, 0x9FA6,  0x3040,
    0x30A2, 0x30FB, 0x309B, 0x3099, 0x30FF, 0x3100, 0x4DFF, '[',    '^',     '\\'};

static size_t make(int32_t *points, size_t most) {
  size_t n = 1 + pick((unsigned)most);
  int32_t few[2] = {odd[pick(NP_COUNT(odd))], odd[pick(NP_COUNT(odd))]};
  unsigned manner = pick(3);
  for (size_t i = 0; i < n; i++) {
    points[i] = manner == 0 && pick(3) ? few[pick(2)] : odd[pick(NP_COUNT(odd))];
    if (manner == 1 && pick(3) == 0) points[i] = (int32_t)(32 + pick(95));
  }
  return n;
}

static bool same(const struct family *f, slow_text t) {
  uint8_t bytes[4 * 64];
  bool cut[65] = {true}, want[4 * 64 + 1] = {false};
  size_t n = 0, at = 0;
  cut[t.n] = true;
  for (size_t i = 0; i < NP_COUNT(f->steps) && f->steps[i]; i++) {
    slow_split(f->steps[i], t, cut);
  }
  for (size_t i = 0; i < t.n; i++) {
    n += (size_t)utf8proc_encode_char(t.p[i], bytes + n);
    want[n] = cut[i + 1];
  }
  while (at < n) {
    size_t from = at;
    at += np_split_next(f->kind, bytes + at, bytes + n);
    if (at > n || !want[at]) break;
    for (size_t i = from + 1; i < at; i++) {
      if (want[i]) at = n + 1;
    }
  }
  if (at == n) return true;
  fprintf(stderr, "kind %d, text:", f->kind);
  for (size_t i = 0; i < t.n; i++)
    fprintf(stderr, " %X%s", t.p[i], cut[i + 1] ? " |" : "");
  fprintf(stderr, "\n  wrong at byte %zu\n", at);
  return false;
}

static void test_random(const struct family *f) {
  int32_t points[64];
  bool ok = true;
  for (int i = 0; ok && i < 20000; i++) {
    ok = same(f, (slow_text){points, make(points, i % 8 ? 10 : 64)});
  }
  CHECK("a family cuts like the slow matcher", ok);
}

int main(void) {
  state = check_seed(20261);
  for (size_t i = 0; i < NP_COUNT(hands); i++) test_hand(&hands[i]);
  for (size_t i = 0; i < NP_COUNT(families); i++) test_random(&families[i]);
  CHECK("every kind is tried", NP_COUNT(families) == NP_SPLIT_END - 1);
  return check_done();
}
