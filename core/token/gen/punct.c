/*
** Build-time generator: prints which code points are punctuation or symbols (the general
** categories P and S of Unicode 16.0) as a two-stage table of bits, for the split families
** that tell them from controls and unassigned code points. As in unicode.c, what differs
** between the versions 15 to 17 that libutf8proc may hold is fixed below, and the result is
** checked against its known hash. next: ../split_family.c
*/
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <utf8proc.h>

#define SHIFT 7
#define SIZE (1u << SHIFT)
#define POINTS 0x110000u
#define EXPECTED 0xD0F5219A496A7FDCull

static const struct fix {
  uint32_t from, to;
  uint8_t value;
} fixes[] = {
    {0x1B4E, 0x1B4F, 1},   {0x1B7F, 0x1B7F, 1},   {0x20C1, 0x20C1, 0},
    {0x2427, 0x2429, 1},   {0x2B96, 0x2B96, 0},   {0x2FFC, 0x2FFF, 1},
    {0x31E4, 0x31E5, 1},   {0x31EF, 0x31EF, 1},   {0xFBC3, 0xFBD2, 0},
    {0xFD90, 0xFD91, 0},   {0xFDC8, 0xFDCE, 0},   {0x10D6E, 0x10D6E, 1},
    {0x10D8E, 0x10D8F, 1}, {0x10ED0, 0x10ED8, 0}, {0x113D4, 0x113D5, 1},
    {0x113D7, 0x113D8, 1}, {0x11BE1, 0x11BE1, 1}, {0x16D6D, 0x16D6F, 1},
    {0x1CC00, 0x1CCEF, 1}, {0x1CCFA, 0x1CCFC, 0}, {0x1CD00, 0x1CEB3, 1},
    {0x1CEBA, 0x1CED0, 0}, {0x1CEE0, 0x1CEF0, 0}, {0x1E5FF, 0x1E5FF, 1},
    {0x1F6D8, 0x1F6D8, 0}, {0x1F777, 0x1F77A, 0}, {0x1F8B2, 0x1F8BB, 1},
    {0x1F8C0, 0x1F8C1, 1}, {0x1F8D0, 0x1F8D8, 0}, {0x1FA54, 0x1FA57, 0},
    {0x1FA89, 0x1FA89, 1}, {0x1FA8A, 0x1FA8A, 0}, {0x1FA8E, 0x1FA8E, 0},
    {0x1FA8F, 0x1FA8F, 1}, {0x1FABE, 0x1FABE, 1}, {0x1FAC6, 0x1FAC6, 1},
    {0x1FAC8, 0x1FAC8, 0}, {0x1FACD, 0x1FACD, 0}, {0x1FADC, 0x1FADC, 1},
    {0x1FADF, 0x1FADF, 1}, {0x1FAE9, 0x1FAE9, 1}, {0x1FAEA, 0x1FAEA, 0},
    {0x1FAEF, 0x1FAEF, 0}, {0x1FBCB, 0x1FBEF, 1}, {0x1FBFA, 0x1FBFA, 0},
};

static uint8_t is_punct[POINTS];
static uint8_t blocks[256][SIZE / 8];
static uint8_t index_of[POINTS / SIZE];

static uint64_t classify(void) {
  for (uint32_t cp = 0; cp < POINTS; cp++) {
    utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
    is_punct[cp] = c >= UTF8PROC_CATEGORY_PC && c <= UTF8PROC_CATEGORY_SO;
  }
  for (size_t i = 0; i < sizeof fixes / sizeof fixes[0]; i++) {
    memset(is_punct + fixes[i].from, fixes[i].value, fixes[i].to - fixes[i].from + 1);
  }
  uint64_t h = 0xCBF29CE484222325u; /* FNV-1a */
  for (uint32_t cp = 0; cp < POINTS; cp++) h = (h ^ is_punct[cp]) * 0x100000001B3u;
  return h;
}

/* Number of different blocks, or 0 when there are too many for a byte. */
static unsigned fold(void) {
  unsigned used = 0;
  for (unsigned i = 0; i < POINTS / SIZE; i++) {
    uint8_t bits[SIZE / 8] = {0};
    for (unsigned k = 0; k < SIZE; k++) {
      bits[k / 8] |= (uint8_t)(is_punct[i * SIZE + k] << (k % 8));
    }
    unsigned b = 0;
    while (b < used && memcmp(blocks[b], bits, sizeof bits) != 0) b++;
    if (b == 256) return 0;
    if (b == used) memcpy(blocks[used++], bits, sizeof bits);
    index_of[i] = (uint8_t)b;
  }
  return used;
}

static void print_bytes(const uint8_t *p, size_t n) {
  for (size_t i = 0; i < n; i++) printf("%u,%s", p[i], i % 32 == 31 ? "\n" : "");
}

int main(void) {
  uint64_t hash = classify();
  if (hash != EXPECTED) {
    fprintf(stderr,
            "gen/punct: libutf8proc has Unicode %s and gives other categories than 16.0 "
            "(hash %016llx); add the differences to the table of fixes\n",
            utf8proc_unicode_version(), (unsigned long long)hash);
    return 1;
  }
  unsigned used = fold();
  if (!used) {
    fprintf(stderr, "gen/punct: more than 256 different blocks\n");
    return 1;
  }
  printf("/* Categories P and S of Unicode 16.0, made by core/token/gen/punct.c. */\n");
  printf("#define NP_PUNCT_SHIFT %d\n", SHIFT);
  printf("static const uint8_t np_punct_index[%u] = {\n", POINTS / SIZE);
  print_bytes(index_of, POINTS / SIZE);
  printf("};\nstatic const uint8_t np_punct_block[%u][%u] = {\n", used, SIZE / 8);
  for (unsigned b = 0; b < used; b++) {
    printf("{");
    print_bytes(blocks[b], SIZE / 8);
    printf("},\n");
  }
  printf("};\n");
  return 0;
}
