/*
** Build-time generator: prints which code points may change when a text is brought to
** Unicode's form C, or change what stands before them, as a two-stage table of bits: marks
** that are put in order, seconds of compositions, and what form C replaces. All others begin
** a part of the text that can be normalized by itself. The form is that of Unicode 9.0, the
** one that tokenizers in use were trained with: what was assigned later is left as it is.
** The result is checked against its known hash. next: ../nfc.c
*/
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#define SHIFT 7
#define SIZE (1u << SHIFT)
#define POINTS 0x110000u
#define EXPECTED 0x9227AEA4741B0872ull

/* Assigned after Unicode 9.0, and known to libutf8proc up to Unicode 17. */
static const struct range {
  uint32_t from, to;
} later[] = {
    {0x7FD, 0x7FD},     {0x897, 0x89F},     {0x8CA, 0x8D3},     {0x9FE, 0x9FE},
    {0xC3C, 0xC3C},     {0xD3B, 0xD3C},     {0xEBA, 0xEBA},     {0x1715, 0x1715},
    {0x1ABF, 0x1ADD},   {0x1AE0, 0x1AEB},   {0x1DF6, 0x1DFA},   {0xA82C, 0xA82C},
    {0x10D24, 0x10D27}, {0x10D69, 0x10D6D}, {0x10EAB, 0x10EAC}, {0x10EFA, 0x10EFB},
    {0x10EFD, 0x10EFF}, {0x10F46, 0x10F50}, {0x10F82, 0x10F85}, {0x11070, 0x11070},
    {0x1133B, 0x1133B}, {0x113B8, 0x113B8}, {0x113BB, 0x113BB}, {0x113C2, 0x113C2},
    {0x113C9, 0x113C9}, {0x113CE, 0x113D0}, {0x1145E, 0x1145E}, {0x11839, 0x1183A},
    {0x11930, 0x11930}, {0x1193D, 0x1193E}, {0x11943, 0x11943}, {0x119E0, 0x119E0},
    {0x11A34, 0x11A34}, {0x11A47, 0x11A47}, {0x11A99, 0x11A99}, {0x11D42, 0x11D42},
    {0x11D44, 0x11D45}, {0x11D97, 0x11D97}, {0x11F41, 0x11F42}, {0x1611E, 0x16120},
    {0x16129, 0x16129}, {0x1612F, 0x1612F}, {0x16D67, 0x16D67}, {0x16FF0, 0x16FF1},
    {0x1E08F, 0x1E08F}, {0x1E130, 0x1E136}, {0x1E2AE, 0x1E2AE}, {0x1E2EC, 0x1E2EF},
    {0x1E4EC, 0x1E4EF}, {0x1E5EE, 0x1E5EF}, {0x1E6E3, 0x1E6E3}, {0x1E6E6, 0x1E6E6},
    {0x1E6EE, 0x1E6EF}, {0x1E6F5, 0x1E6F5},
};

static uint8_t moves[POINTS];
static uint8_t blocks[256][SIZE / 8];
static uint8_t index_of[POINTS / SIZE];

/* Form C of one code point is itself. */
static int is_kept(utf8proc_int32_t cp) {
  utf8proc_int32_t out[32];
  utf8proc_option_t how = UTF8PROC_STABLE | UTF8PROC_COMPOSE;
  utf8proc_ssize_t n =
      utf8proc_decompose_char(cp, out, 32, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE, NULL);
  n = utf8proc_normalize_utf32(out, n, how);
  return n == 1 && out[0] == cp;
}

static void mark(utf8proc_int32_t cp) {
  utf8proc_int32_t parts[32];
  if (utf8proc_get_property(cp)->combining_class || !is_kept(cp)) moves[cp] = 1;
  if (cp >= 0xAC00 && cp <= 0xD7A3) return; /* Hangul: its parts are marked below */
  utf8proc_ssize_t n =
      utf8proc_decompose_char(cp, parts, 32, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE, NULL);
  for (utf8proc_ssize_t i = 1; i < n; i++) moves[parts[i]] = 1;
}

static uint64_t classify(void) {
  for (uint32_t cp = 0; cp < POINTS; cp++) {
    if (cp < 0xD800 || cp > 0xDFFF) mark((utf8proc_int32_t)cp);
  }
  memset(moves + 0x1161, 1, 21);
  memset(moves + 0x11A8, 1, 27);
  for (size_t i = 0; i < sizeof later / sizeof later[0]; i++) {
    memset(moves + later[i].from, 0, later[i].to - later[i].from + 1);
  }
  uint64_t h = 0xCBF29CE484222325u; /* FNV-1a */
  for (uint32_t cp = 0; cp < POINTS; cp++) h = (h ^ moves[cp]) * 0x100000001B3u;
  return h;
}

/* Number of different blocks. */
static unsigned fold(void) {
  unsigned used = 0;
  for (unsigned i = 0; i < POINTS / SIZE; i++) {
    uint8_t bits[SIZE / 8] = {0};
    for (unsigned k = 0; k < SIZE; k++) {
      bits[k / 8] |= (uint8_t)(moves[i * SIZE + k] << (k % 8));
    }
    unsigned b = 0;
    while (b < used && memcmp(blocks[b], bits, sizeof bits) != 0) b++;
    if (b == 256) {
      fprintf(stderr, "gen/nfc_table: more than 256 different blocks\n");
      exit(1);
    }
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
            "gen/nfc_table: libutf8proc has Unicode %s and normalizes otherwise than 9.0 "
            "(hash "
            "%016llx); add what is new to the table\n",
            utf8proc_unicode_version(), (unsigned long long)hash);
    return 1;
  }
  unsigned used = fold();
  printf("/* What form C of Unicode 9.0 moves, made by core/text/gen/nfc_table.c. */\n");
  printf("#define NP_NFC_SHIFT %d\n", SHIFT);
  printf("static const uint8_t np_nfc_index[%u] = {\n", POINTS / SIZE);
  print_bytes(index_of, POINTS / SIZE);
  printf("};\nstatic const uint8_t np_nfc_block[%u][%u] = {\n", used, SIZE / 8);
  for (unsigned b = 0; b < used; b++) {
    printf("{");
    print_bytes(blocks[b], SIZE / 8);
    printf("},\n");
  }
  printf("};\n");
  return 0;
}
