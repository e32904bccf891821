/*
** Trims of tables: the head stays, rows stay whole, and a line says how many are left out.
** next: test_pack.c
*/
#include "text/table.h"
#include "text/text.h"
#include "trim_session.h"

/* ---- what is a table ---- */

static const struct {
  const char *what, *text;
  char mark;
  size_t rows;
} found[] = {
    {"a Markdown table", "x\n| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |\ny\n",
     '|', 3},
    {"without outer bars", "a | b\n--|--\n1 | 2\n3 | 4\n5 | 6", '|', 3},
    {"two rows are none", "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n", 0, 0},
    {"bars without a rule are none", "| a |\n| b |\n| c |\n| d |\n| e |\n", 0, 0},
    {"tabs", "a\tb\n1\t2\n3\t4\n5\t6\n", '\t', 3},
    {"rows of another length are none", "a\tb\n1\t2\n3\n5\t6\n", 0, 0},
    {"commas", "a,b,c\n1,2,3\n4,5,6\n7,8,9\n", ',', 3},
    {"commas in quotes", "a,b,c\n1,\"2,\n\"\"x\",3\n4,5,6\n7,8,9\n", ',', 3},
    {"open quotes are none", "a,b,c\n1,2,\"3\n4,5,6\n7,8,9\n", 0, 0},
    {"one comma a line is prose", "yes, it is\nno, it is\nso, it is\nwell, it is\n", 0,
     0},
    {"an empty text", "", 0, 0},
    {"lines", "a\nb\nc\nd\n", 0, 0},
};

static void finding(void) {
  for (size_t i = 0; i < NP_COUNT(found); i++) {
    np_table t;
    bool is = np_table_find(lit(found[i].text), &t);
    CHECK(found[i].what, is == (found[i].mark != 0) && t.mark == found[i].mark &&
                             t.rows == found[i].rows);
  }
}

/* ---- random tables ---- */

static void add_cell(unsigned long long *rng, np_buf *b, char mark) {
  static const char *const words[] = {"pump",         "12",        "",    "Error: no",
                                      "\xE4\xB8\xAD", "e\xCC\x81", "x_1", "ok 77"};
  np_buf_adds(b, words[check_random(rng) % NP_COUNT(words)]);
  if (mark == ',' && check_random(rng) % 4 == 0) np_buf_adds(b, " q");
}

static size_t add_table(unsigned long long *rng, np_buf *b, char mark, np_buf *head) {
  size_t columns = 3 + check_random(rng) % 4, rows = 20 + check_random(rng) % 200;
  for (size_t r = 0; r < rows + 1; r++) {
    for (size_t c = 0; c < columns; c++) {
      if (c || mark == '|') np_buf_addc(b, mark);
      if (c == 0) np_buf_int(b, (int64_t)r);
      add_cell(rng, b, mark);
    }
    np_buf_adds(b, mark == '|' ? "|\n" : "\n");
    if (r) continue;
    for (size_t c = 0; mark == '|' && c < columns; c++) np_buf_adds(b, "|---");
    if (mark == '|') np_buf_adds(b, "|\n");
    np_buf_add(head, np_buf_str(b));
  }
  return rows;
}

/* Every line is a row of the source, in its order, or says how many are missing. */
static const char *broken(np_str source, np_str shown, np_str head, size_t rows) {
  np_str line, row;
  size_t heads = np_lines_count(head), seen = 0;
  bool any = false;
  np_str top = np_str_cut(source, 0, head.n), rest = np_str_cut(source, head.n, source.n);
  while (np_line_next(&shown, &line)) {
    if (has(line, "[neap\xC2\xB7")) continue;
    if (heads) {
      np_line_next(&top, &row);
      if (!np_str_eq(row, line)) return "a head that is not the table's";
      heads--;
      continue;
    }
    const char *p = line.p[0] == '|' ? "| \xE2\x80\xA6 " : "\xE2\x80\xA6 ";
    size_t skip = 0;
    if (line.n > strlen(p) && memcmp(line.p, p, strlen(p)) == 0) {
      skip = (size_t)strtoul(line.p + strlen(p), NULL, 10);
      if (!has(line, skip == 1 ? " row left out" : " rows left out")) return "an odd gap";
      any = true;
    }
    for (size_t i = 0; i < (skip ? skip : 1); i++, seen++)
      if (!np_line_next(&rest, &row)) return "more rows than there are";
    if (!skip && !np_str_eq(row, line)) return "a row that is not the table's";
  }
  if (heads) return "no head";
  return seen != rows ? "rows that are not accounted for"
         : any        ? NULL
                      : "nothing left out";
}

static void promises(unsigned long long *rng) {
  static const char marks[] = {'|', '\t', ','};
  size_t wrong = 0, cut = 0;
  for (int round = 0; round < 150; round++) {
    session s;
    np_buf b, head;
    np_buf_init(&b, &np_alloc_libc);
    np_buf_init(&head, &np_alloc_libc);
    size_t rows = add_table(rng, &b, marks[round % 3], &head);
    open_session(&s, np_buf_str(&b));
    np_str text = np_log_entry(&s.g.log, 3)->text;
    size_t all = np_vocab_count(vocab, text);
    for (int k = 0; k < 5; k++) {
      np_trim_ask ask = {.tokens = 150 + check_random(rng) % all,
                         .lines = check_random(rng) % 3 ? 0 : 5 + check_random(rng) % 30,
                         .keep = (np_keep)(check_random(rng) % (NP_KEEP_ABOUT + 1)),
                         .about = lit("pump 12")};
      np_str t = trim(&s, ask);
      if (s.whole) continue;
      const char *why = broken(text, t, np_buf_str(&head), rows);
      if (np_vocab_count(vocab, t) > ask.tokens) why = "too many tokens";
      cut++;
      wrong += why != NULL;
      if (why)
        fprintf(stderr, "round %d: %zu of %zu tokens, %zu lines, keep %s: %s\n%.*s\n",
                round, ask.tokens, all, ask.lines, np_keep_name(ask.keep), why, (int)t.n,
                t.p);
    }
    close_session(&s);
    np_buf_free(&b);
    np_buf_free(&head);
  }
  CHECK("every trim is of its table", wrong == 0 && cut > 300);
}

int main(void) {
  unsigned long long rng = check_seed(20261130);
  vocab = golden_vocab("o200k_base");
  if (!vocab) return check_done();
  finding();
  promises(&rng);
  np_vocab_free(vocab);
  return check_done();
}
