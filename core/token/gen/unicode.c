/*
** Build-time generator: prints the class of every code point as a two-stage C table, for
** the splitter. The encodings were published with Unicode 16.0; libutf8proc may hold 15
** to 17, so the code points whose class differs among these are fixed by the table below,
** and the result is checked against its known hash: counts are the same wherever neap is
** built. next: ../split.c
*/
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <utf8proc.h>

#define SHIFT 7 /* 128 code points a block: the smallest sum of index and blocks */
#define SIZE (1u << SHIFT)
#define POINTS 0x110000u
#define EXPECTED 0x0590B6E3B454653Eull

enum {
  OTHER = 1,
  SPACE = 2,
  NEWLINE = 4,
  NUMBER = 8,
  UPPER = 16,
  LOWER = 32,
  LETTER = 64,
  MARK = 128
};

/* Where Unicode 16.0 differs from 15.0 (assigned since) or from 17.0 (not yet
** assigned). */
static const struct fix {
  uint32_t from, to;
  uint8_t cls;
} fixes[] = {
    {0x295, 0x295, LOWER},      {0x88F, 0x88F, OTHER},      {0x897, 0x897, MARK},
    {0xC5C, 0xC5C, OTHER},      {0xCDC, 0xCDC, OTHER},      {0x1ACF, 0x1ADD, OTHER},
    {0x1AE0, 0x1AEB, OTHER},    {0x1C89, 0x1C89, UPPER},    {0x1C8A, 0x1C8A, LOWER},
    {0xA7CB, 0xA7CC, UPPER},    {0xA7CD, 0xA7CD, LOWER},    {0xA7CE, 0xA7CE, OTHER},
    {0xA7CF, 0xA7CF, OTHER},    {0xA7D2, 0xA7D2, OTHER},    {0xA7D4, 0xA7D4, OTHER},
    {0xA7DA, 0xA7DA, UPPER},    {0xA7DB, 0xA7DB, LOWER},    {0xA7DC, 0xA7DC, UPPER},
    {0xA7F1, 0xA7F1, OTHER},    {0x105C0, 0x105F3, LETTER}, {0x10940, 0x10959, OTHER},
    {0x10D40, 0x10D49, NUMBER}, {0x10D4A, 0x10D4F, LETTER}, {0x10D50, 0x10D65, UPPER},
    {0x10D69, 0x10D6D, MARK},   {0x10D6F, 0x10D6F, LETTER}, {0x10D70, 0x10D85, LOWER},
    {0x10EC2, 0x10EC4, LETTER}, {0x10EC5, 0x10EC7, OTHER},  {0x10EFA, 0x10EFB, OTHER},
    {0x10EFC, 0x10EFC, MARK},   {0x11380, 0x11389, LETTER}, {0x1138B, 0x1138B, LETTER},
    {0x1138E, 0x1138E, LETTER}, {0x11390, 0x113B5, LETTER}, {0x113B7, 0x113B7, LETTER},
    {0x113B8, 0x113C0, MARK},   {0x113C2, 0x113C2, MARK},   {0x113C5, 0x113C5, MARK},
    {0x113C7, 0x113CA, MARK},   {0x113CC, 0x113D0, MARK},   {0x113D1, 0x113D1, LETTER},
    {0x113D2, 0x113D2, MARK},   {0x113D3, 0x113D3, LETTER}, {0x113E1, 0x113E2, MARK},
    {0x116D0, 0x116E3, NUMBER}, {0x11B60, 0x11B67, OTHER},  {0x11BC0, 0x11BE0, LETTER},
    {0x11BF0, 0x11BF9, NUMBER}, {0x11DB0, 0x11DDB, OTHER},  {0x11DE0, 0x11DE9, OTHER},
    {0x11F5A, 0x11F5A, MARK},   {0x13460, 0x143FA, LETTER}, {0x16100, 0x1611D, LETTER},
    {0x1611E, 0x1612F, MARK},   {0x16130, 0x16139, NUMBER}, {0x16D40, 0x16D6C, LETTER},
    {0x16D70, 0x16D79, NUMBER}, {0x16EA0, 0x16EB8, OTHER},  {0x16EBB, 0x16ED3, OTHER},
    {0x16FF2, 0x16FF3, OTHER},  {0x16FF4, 0x16FF6, OTHER},  {0x187F8, 0x187FF, OTHER},
    {0x18CFF, 0x18CFF, LETTER}, {0x18D09, 0x18D1E, OTHER},  {0x18D80, 0x18DF2, OTHER},
    {0x1CCF0, 0x1CCF9, NUMBER}, {0x1E5D0, 0x1E5ED, LETTER}, {0x1E5EE, 0x1E5EF, MARK},
    {0x1E5F0, 0x1E5F0, LETTER}, {0x1E5F1, 0x1E5FA, NUMBER}, {0x1E6C0, 0x1E6DE, OTHER},
    {0x1E6E0, 0x1E6E2, OTHER},  {0x1E6E3, 0x1E6E3, OTHER},  {0x1E6E4, 0x1E6E5, OTHER},
    {0x1E6E6, 0x1E6E6, OTHER},  {0x1E6E7, 0x1E6ED, OTHER},  {0x1E6EE, 0x1E6EF, OTHER},
    {0x1E6F0, 0x1E6F4, OTHER},  {0x1E6F5, 0x1E6F5, OTHER},  {0x1E6FE, 0x1E6FF, OTHER},
    {0x2B73A, 0x2B73F, OTHER},  {0x2CEA2, 0x2CEAD, OTHER},  {0x2EBF0, 0x2EE5D, LETTER},
    {0x323B0, 0x33479, OTHER},
};

static uint8_t classes[POINTS];
static uint8_t blocks[256][SIZE];
static uint8_t index_of[POINTS / SIZE];

static uint8_t class_of(uint32_t cp) {
  if (cp == '\n' || cp == '\r') return NEWLINE;
  if ((cp >= 9 && cp <= 13) || cp == 0x85) return SPACE;
  switch (utf8proc_category((utf8proc_int32_t)cp)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT: return UPPER;
    case UTF8PROC_CATEGORY_LL: return LOWER;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO: return LETTER;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME: return MARK;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO: return NUMBER;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return SPACE;
    default: return OTHER;
  }
}

static uint64_t classify(void) {
  for (uint32_t cp = 0; cp < POINTS; cp++) classes[cp] = class_of(cp);
  for (size_t i = 0; i < sizeof fixes / sizeof fixes[0]; i++) {
    memset(classes + fixes[i].from, fixes[i].cls, fixes[i].to - fixes[i].from + 1);
  }
  uint64_t h = 0xCBF29CE484222325u; /* FNV-1a */
  for (uint32_t cp = 0; cp < POINTS; cp++) h = (h ^ classes[cp]) * 0x100000001B3u;
  return h;
}

/* Number of different blocks, or 0 when there are too many for a byte. */
static unsigned fold(void) {
  unsigned used = 0;
  for (unsigned i = 0; i < POINTS / SIZE; i++) {
    unsigned b = 0;
    while (b < used && memcmp(blocks[b], classes + i * SIZE, SIZE) != 0) b++;
    if (b == used) {
      if (used == 256) return 0;
      memcpy(blocks[used++], classes + i * SIZE, SIZE);
    }
    index_of[i] = (uint8_t)b;
  }
  return used;
}

static void print_bytes(const uint8_t *p, size_t n) {
  for (size_t i = 0; i < n; i++) printf("%u,%s", p[i], i % 32 == 31 ? "\n" : "");
}

/* The tables are declared for all and defined where NP_CLASS_TABLES is defined. */
static void print_tables(unsigned used) {
  static const char *const names[] = {"OTHER", "SPACE", "NEWLINE", "NUMBER",
                                      "UPPER", "LOWER", "LETTER",  "MARK"};
  printf("/* Classes of Unicode 16.0, made by core/token/gen/unicode.c. */\n");
  printf("#include <stdint.h>\n#define NP_CLASS_SHIFT %d\n", SHIFT);
  for (unsigned i = 0; i < 8; i++) printf("#define NP_CLASS_%s %uu\n", names[i], 1u << i);
  printf("extern const uint8_t np_class_ascii[256];\n");
  printf("extern const uint8_t np_class_index[%u];\n", POINTS / SIZE);
  printf("extern const uint8_t np_class_block[%u][%u];\n", used, SIZE);
  printf("#ifdef NP_CLASS_TABLES\n");
  printf("const uint8_t np_class_ascii[256] = {\n"); /* 0 from 0x80 on */
  print_bytes(classes, 128);
  printf("0};\nconst uint8_t np_class_index[%u] = {\n", POINTS / SIZE);
  print_bytes(index_of, POINTS / SIZE);
  printf("};\nconst uint8_t np_class_block[%u][%u] = {\n", used, SIZE);
  for (unsigned b = 0; b < used; b++) {
    printf("{");
    print_bytes(blocks[b], SIZE);
    printf("},\n");
  }
  printf("};\n#endif\n");
}

int main(void) {
  uint64_t hash = classify();
  if (hash != EXPECTED) {
    fprintf(stderr,
            "gen/unicode: libutf8proc has Unicode %s and gives other classes than 16.0 "
            "(hash %016llx); add the differences to the table of fixes\n",
            utf8proc_unicode_version(), (unsigned long long)hash);
    return 1;
  }
  unsigned used = fold();
  if (!used) {
    fprintf(stderr,
            "gen/unicode: more than 256 different blocks; raise the index to 16 bits\n");
    return 1;
  }
  print_tables(used);
  return 0;
}
