/*
** Identifiers: what the scanner finds, of what kind each is, and whether a text holds one: tables,
** then a property against the scanner itself. next: test_cite.c
*/
#include "check.h"
#include "cite/cite.h"
#include "text/text.h"

static np_str lit(const char *s) {
  return np_str_cstr(s);
}

/* ---- identifiers ---- */

static void scanner_table(void) {
  /* What the scanner finds: N name, # number, C CJK, Q quotation, w word. */
  static const struct {
    const char *text, *found;
  } rows[] = {
      {"", ""},
      {"see src/main.c, line 120.", "Nsrc/main.c #120"},
      {"open ./src/main.c or ../lib/x.h", "Nsrc/main.c Nlib/x.h"},
      {"ls /usr/lib/", "N/usr/lib"},
      {"//note_this and //plain", "Nnote_this wplain"},
      {"a.b.c e.g. i.e. U.S.", "Na.b.c"},
      {"HTTP error 404 and 42", "NHTTP werror #404"},
      {"parseConfig Parse config", "NparseConfig wParse wconfig"},
      {"--dry-run -v (user_id)", "Ndry-run Nuser_id"},
      {"deadbee1 0x7f 3.14 12", "Ndeadbee1 N0x7f N3.14"},
      {"____ .... ---- @@@@ #123", "#123"},
      {"foo:wordy:other", "wwordy wother"},
      {"x@example.com", "Nx@example.com"},
      {"don't stopping", "wstopping"},
      {"Gr\xC3\xB6\xC3\x9F"
       "enordnung h\xC3\xB6"
       "her",
       "wGr\xC3\xB6\xC3\x9F"
       "enordnung wh\xC3\xB6her"},
      {"\xD0\xBE\xD1\x88\xD0\xB8\xD0\xB1\xD0\xBA\xD0\xB0",
       "w\xD0\xBE\xD1\x88\xD0\xB8\xD0\xB1\xD0\xBA\xD0\xB0"},
      {"\xE5\x8C\x97\xE4\xBA\xAC, \xE4\xB8\xAD", "C\xE5\x8C\x97\xE4\xBA\xAC"},
      {"\xE7\xAC\xAC"
       "123\xE7\xAB\xA0",
       "#123"},
      {"\xE5\x8C\x97\xE4\xBA\xAC\xE3\x80\x82\xE4\xB8\x8A\xE6\xB5\xB7",
       "C\xE5\x8C\x97\xE4\xBA\xAC C\xE4\xB8\x8A\xE6\xB5\xB7"},
      {"\xFF\xFE"
       "a_b_c\x80",
       "Na_b_c"},
      {"{\"id\":\"call_9\",\"n\":1234}", "Ncall_9 #1234"},
      {"say \"no such pump\" now", "Qno such pump"},
      {"'open the valve' (`git stash`)", "Qopen the valve wvalve Qgit stash wstash"},
      {"{\"title\":\"Red 42 Pump\",\"k\":\"plain\"}", "wtitle QRed 42 Pump wplain"},
      {"-m \\\"fix it now\\\" x", "Qfix it now"},
      {"the users' own and the models' too", "wusers wmodels"},
      {"don't go, it's a trap", ""},
      {"\"one\" \"a b c\" \"ab cd\" \"x yz\" \" ab cd\" \"ab cd \"", ""},
      {"\"ab cde\" \"ab cd\"e", "Qab cde"},
      {"\"two\nlines here\"", "wlines"},
      {"\"left open and more", ""},
      {"\"a mixed' end\" here", "Qa mixed' end wmixed"},
      {"(\"see src/a.c there\")", "Qsee src/a.c there Nsrc/a.c wthere"},
      /* long CJK runs: pairs of characters, none with a common one in it */
      {"\xE6\x88\x91\xE7\x9A\x84\xE5\x8C\x97\xE4\xBA\xAC\xE9\xA5\xAD\xE5\xBA\x97"
       "\xE5\x9C\xA8\xE4\xB8\x8A\xE6\xB5\xB7",
       "w\xE5\x8C\x97\xE4\xBA\xAC w\xE4\xBA\xAC\xE9\xA5\xAD w\xE9\xA5\xAD\xE5\xBA\x97 "
       "w\xE4\xB8\x8A\xE6\xB5\xB7"},
  };
  for (size_t i = 0; i < NP_COUNT(rows); i++) {
    np_buf b;
    np_buf_init(&b, &np_alloc_libc);
    np_ident_iter it = np_ident_scan(lit(rows[i].text));
    np_ident id;
    while (np_ident_next(&it, &id)) {
      if (b.n) np_buf_addc(&b, ' ');
      np_buf_addc(&b, id.kind == NP_IDENT_NAME     ? 'N'
                      : id.kind == NP_IDENT_NUMBER ? '#'
                      : id.kind == NP_IDENT_CJK    ? 'C'
                      : id.kind == NP_IDENT_QUOTE  ? 'Q'
                                                   : 'w');
      np_buf_add(&b, id.text);
    }
    bool ok = np_str_is(np_buf_str(&b), rows[i].found);
    if (!ok)
      fprintf(stderr, "input %s\nexpected %s\ngot %.*s\n", rows[i].text, rows[i].found,
              (int)b.n, b.p);
    CHECK("finds identifiers and words", ok);
    np_buf_free(&b);
  }
}

static void classes_table(void) {
  static const struct {
    const char *text, *class_name;
  } rows[] = {{"src/main.c", "path"},
              {"main.c:12", "path"},
              {"conf.yaml", "path"},
              {"/usr/lib", "path"},
              {"https://example.org/a", "url"},
              {"www.example.org", "url"},
              {"4711", "number"},
              {"2024-05-15", "number"},
              {"10:30:07", "number"},
              {"1.2.3", "number"},
              {"30ms", "number"},
              {"2.5GHz", "number"},
              {"deadbeef01", "hash"},
              {"0x7ffe12ab", "hash"},
              {"3f2504e0-4f89-11d3-9a0c-0305e82c3301", "hash"},
              {"E4711", "code"},
              {"ERR_17", "code"},
              {"CVE-2021-44228", "code"},
              {"ENOENT", "code"},
              {"parseConfig", "name"},
              {"user_id", "name"},
              {"dry-run", "name"},
              {"self.model", "name"},
              {"MAX_SIZE", "name"},
              {"x@example.org", "name"}};
  for (size_t i = 0; i < NP_COUNT(rows); i++) {
    np_ident_class c = np_ident_class_of(lit(rows[i].text), NP_IDENT_NAME);
    bool ok = strcmp(np_ident_class_name(c), rows[i].class_name) == 0;
    if (!ok) {
      fprintf(stderr, "input %s\nexpected %s\ngot %s\n", rows[i].text, rows[i].class_name,
              np_ident_class_name(c));
    }
    CHECK("tells what kind of name it is", ok);
  }
  CHECK("CJK phrases are a class of their own",
        np_ident_class_of(lit("\xE5\x8C\x97\xE4\xBA\xAC"), NP_IDENT_CJK) == NP_CLASS_CJK);
  CHECK("so are quotations",
        np_ident_class_of(lit("see src/a.c"), NP_IDENT_QUOTE) == NP_CLASS_QUOTE);
  CHECK("words and nothing are other",
        np_ident_class_of(lit("word"), NP_IDENT_WORD) == NP_CLASS_OTHER &&
            np_ident_class_of(lit(""), NP_IDENT_NAME) == NP_CLASS_OTHER);
}

static size_t count_kind(np_str s, np_ident_kind kind) {
  np_ident_iter it = np_ident_scan(s);
  np_ident id;
  size_t n = 0;
  while (np_ident_next(&it, &id)) n += id.kind == kind;
  return n;
}

static void long_runs(void) {
  static char s[1 << 20];
  memset(s, 'a', sizeof s);
  s[5] = '1';
  CHECK("a run of data is no identifier",
        count_kind(np_str_of(s, sizeof s), NP_IDENT_NAME) == 0);
  CHECK("256 bytes are one", count_kind(np_str_of(s, 256), NP_IDENT_NAME) == 1);
  for (size_t i = 0; i < sizeof s; i++) s[i] = i % 6 == 5 ? ':' : 'a';
  CHECK("words in one endless run are found in linear time",
        count_kind(np_str_of(s, sizeof s), NP_IDENT_WORD) == sizeof s / 6);
  for (size_t i = 0; i + 3 <= sizeof s; i += 3) memcpy(s + i, "\xE4\xB8\xAD", 3);
  CHECK("8 CJK characters are an identifier",
        count_kind(np_str_of(s, 24), NP_IDENT_CJK) == 1);
  CHECK("9 are pairs", count_kind(np_str_of(s, 27), NP_IDENT_WORD) == 8 &&
                           count_kind(np_str_of(s, 27), NP_IDENT_CJK) == 0);
  CHECK("so is an endless run",
        count_kind(np_str_of(s, 999999), NP_IDENT_WORD) == 333332);
}

static const char *const atoms[] = {"a",
                                    "b1",
                                    "Zed",
                                    "word",
                                    "other",
                                    ".",
                                    "/",
                                    ":",
                                    "-",
                                    "_",
                                    "#",
                                    "@",
                                    " ",
                                    "\n",
                                    ",",
                                    "(",
                                    "404",
                                    "7",
                                    "src/",
                                    "\xC3\xA9",
                                    "\xC3\xA9t\xC3\xA9",
                                    "\xE4\xB8\xAD",
                                    "\xE5\x8C\x97\xE4\xBA\xAC",
                                    "\xE3\x80\x82",
                                    "\xFF",
                                    "\xE4\xB8",
                                    "\xF0\x9F\x98\x80",
                                    "\xCC\x81",
                                    "x_y",
                                    "fooBar",
                                    "\"",
                                    "'",
                                    "\\\"",
                                    "\"two words\"",
                                    "two words"};

static np_str random_text(unsigned long long *rng, char *out, size_t parts) {
  size_t n = 0;
  for (size_t i = 0; i < parts; i++) {
    const char *s = atoms[check_random(rng) % NP_COUNT(atoms)];
    memcpy(out + n, s, strlen(s));
    n += strlen(s);
  }
  return np_str_of(out, n);
}

static bool scanned(np_str text, np_str ident) {
  np_ident_iter it = np_ident_scan(text);
  np_ident id;
  while (np_ident_next(&it, &id)) {
    if (np_str_eq(id.text, ident)) return true;
  }
  return false;
}

static bool cjk_only(np_str s) {
  size_t n;
  for (const char *p = s.p; p < s.p + s.n; p += n) {
    if (!np_is_cjk(np_utf8_decode(p, s.p + s.n, &n))) return false;
  }
  return true;
}

/* np_ident_in against the scanner, for slices of one text looked for in another. */
static void in_agrees(void) {
  static char a[1024], b[1024];
  unsigned long long rng = check_seed(411);
  size_t wrong = 0, found = 0, missing = 0;
  for (int round = 0; round < 20000; round++) {
    np_str text = random_text(&rng, a, 1 + check_random(&rng) % 30);
    np_str from = random_text(&rng, b, 1 + check_random(&rng) % 6);
    np_ident_iter it = np_ident_scan(round % 2 ? text : from);
    np_ident id;
    while (np_ident_next(&it, &id)) {
      bool in = np_ident_in(text, id.text), slow = scanned(text, id.text);
      if (round % 2 && !in) wrong++;
      if (slow && !in) wrong++;
      bool loose = cjk_only(id.text) || id.kind == NP_IDENT_QUOTE;
      if (in && !slow && !loose) wrong++;
      if (in && np_str_find(text, id.text, 0) == SIZE_MAX) wrong++;
      found += in;
      missing += !in;
    }
    np_str piece = np_str_cut(from, 0, 1 + check_random(&rng) % 8);
    bool loose = cjk_only(piece) || np_str_find(piece, lit(" "), 0) != SIZE_MAX;
    if (!loose && np_ident_in(text, piece) != scanned(text, piece)) wrong++;
  }
  CHECK("both answers were met", found > 1000 && missing > 1000);
  CHECK("np_ident_in finds what the scanner finds", wrong == 0);
  CHECK("an identifier is no part of a longer one",
        !np_ident_in(lit("src/main.cc"), lit("src/main.c")));
  CHECK("nor is a word", !np_ident_in(lit("otherwise"), lit("other")));
  CHECK("CJK is found inside a longer run",
        np_ident_in(lit("\xE6\x88\x91\xE5\x9C\xA8\xE5\x8C\x97\xE4\xBA\xAC"),
                    lit("\xE5\x8C\x97\xE4\xBA\xAC")));
  CHECK("what was quoted may stand without its marks",
        np_ident_in(lit("Open the valve."), lit("the valve")) &&
            np_ident_in(lit("\"the valve\""), lit("the valve")) &&
            !np_ident_in(lit("bathe valves"), lit("the valve")) &&
            !np_ident_in(lit("the valves"), lit("the valve")));
  CHECK("nothing is in nothing",
        !np_ident_in(lit(""), lit("abc1")) && !np_ident_in(lit("abc1"), lit("")));
}

int main(void) {
  scanner_table();
  classes_table();
  long_runs();
  in_agrees();
  return check_done();
}
