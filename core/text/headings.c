/*
** Markdown as CommonMark has it, as far as headings need: `# x`, underlined by = or -, and fences
** of ``` or ~~~. HTML: h1 to h6. next: section.c
*/
#include "text/headings.h"
#include "text/text.h"

static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* `word` (in small letters) stands at `at`. */
static bool stands(np_str s, size_t at, const char *word) {
  size_t n = strlen(word);
  if (at > s.n || s.n - at < n) return false;
  for (size_t i = 0; i < n; i++) {
    if (lower(s.p[at + i]) != word[i]) return false;
  }
  return true;
}

static np_str stripped(np_str s) {
  while (s.n && (unsigned char)s.p[0] <= ' ') s = np_str_cut(s, 1, s.n);
  while (s.n && (unsigned char)s.p[s.n - 1] <= ' ') s.n--;
  return s;
}

bool np_is_html(np_str text) {
  np_str s = stripped(np_str_cut(text, 0, 4096));
  if (stands(s, 0, "<!doctype html") || stands(s, 0, "<html")) return true;
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] == '<' &&
        (stands(s, i, "<html") || stands(s, i, "<body") || stands(s, i, "<head>")))
      return true;
  }
  return stands(s, 0, "<h1") || stands(s, 0, "<h2") || stands(s, 0, "<div") ||
         stands(s, 0, "<p>");
}

/* ---- Markdown ---- */

/* Spaces before a line; 4 and more are code. */
static size_t indent(np_str line) {
  size_t n = 0;
  while (n < line.n && line.p[n] == ' ') n++;
  return n < line.n && line.p[n] == '\t' ? 4 : n;
}

static size_t run(np_str s, size_t at, char c) {
  size_t n = 0;
  while (at + n < s.n && s.p[at + n] == c) n++;
  return n;
}

typedef struct fence {
  char mark; /* 0: none is open */
  size_t n;
} fence;

/* Opens or closes a fence; true when the line is one or stands in one. */
static bool in_fence(fence *f, np_str line) {
  size_t at = indent(line);
  char c = at < line.n ? line.p[at] : '\0';
  size_t n = c == '`' || c == '~' ? run(line, at, c) : 0;
  np_str rest = stripped(np_str_cut(line, at + n, line.n));
  if (f->mark) {
    if (at < 4 && c == f->mark && n >= f->n && rest.n == 0) f->mark = 0;
    return true;
  }
  if (at > 3 || n < 3 || (c == '`' && memchr(rest.p, '`', rest.n))) return false;
  *f = (fence){c, n};
  return true;
}

/* `## Title ##` */
static bool is_atx(np_str line, np_heading *h) {
  size_t at = indent(line), n = at < 4 ? run(line, at, '#') : 0;
  if (n == 0 || n > 6) return false;
  if (at + n < line.n && line.p[at + n] != ' ' && line.p[at + n] != '\t') return false;
  np_str title = stripped(np_str_cut(line, at + n, line.n));
  size_t end = title.n;
  while (end && title.p[end - 1] == '#') end--;
  if (end == 0 || (end < title.n && title.p[end - 1] == ' '))
    title = stripped(np_str_cut(title, 0, end));
  h->level = (unsigned)n;
  h->title = title;
  return true;
}

/* The level that a line of = or - gives the text above it; else 0. */
static unsigned underline(np_str line) {
  np_str s = stripped(line);
  if (indent(line) > 3 || s.n == 0 || (s.p[0] != '=' && s.p[0] != '-')) return 0;
  if (run(s, 0, s.p[0]) != s.n) return 0;
  return s.p[0] == '=' ? 1 : s.n > 1 ? 2 : 0;
}

/* A line that an underline makes a heading: no list, quote, table or heading of its own. */
static bool is_plain(np_str line) {
  np_str s = stripped(line);
  return s.n && indent(line) < 4 && !strchr("-*+>|#=`~", s.p[0]) && s.p[0] != '\0' &&
         !underline(line);
}

static void markdown(np_str text, np_heading_fn fn, void *ctx) {
  fence f = {0};
  size_t above = SIZE_MAX; /* where a plain line before this one begins */
  size_t paragraph = 0;    /* plain lines in a row */
  for (size_t at = 0, end; at < text.n; at = end) {
    end = np_line_end(text, at);
    np_heading h = {.from = at, .to = end};
    size_t last = end - (text.p[end - 1] == '\n');
    if (last > at && text.p[last - 1] == '\r') last--;
    np_str line = np_str_cut(text, at, last);
    if (in_fence(&f, line)) {
      above = SIZE_MAX;
      continue;
    }
    bool found = is_atx(line, &h);
    if (!found && above != SIZE_MAX && paragraph == 1 &&
        (h.level = underline(line)) > 0) {
      h.from = above;
      h.title = stripped(np_str_cut(text, above, at));
      found = true;
    }
    if (found && !fn(ctx, &h)) return;
    above = !found && is_plain(line) ? at : SIZE_MAX;
    paragraph = above == SIZE_MAX ? 0 : paragraph + 1;
  }
}

/* ---- HTML ---- */

/* Behind `what`, or the end of the text. */
static size_t behind(np_str s, size_t at, const char *what) {
  for (size_t n = strlen(what); at < s.n; at++) {
    const char *p = memchr(s.p + at, what[0], s.n - at);
    if (!p) break;
    at = (size_t)(p - s.p);
    if (stands(s, at, what)) return at + n;
  }
  return s.n;
}

/* What an element of that name holds is no text. */
static const char *skipped(np_str s, size_t at) {
  if (stands(s, at, "<!--")) return "-->";
  if (stands(s, at, "<script")) return "</script";
  if (stands(s, at, "<style")) return "</style";
  return stands(s, at, "<template") ? "</template" : NULL;
}

static bool opens_heading(np_str s, size_t at) {
  return at + 3 < s.n && lower(s.p[at + 1]) == 'h' && s.p[at + 2] >= '1' &&
         s.p[at + 2] <= '6' && (s.p[at + 3] == '>' || (unsigned char)s.p[at + 3] <= ' ');
}

static void html(np_str text, np_heading_fn fn, void *ctx) {
  for (size_t at = 0; at < text.n;) {
    const char *p = memchr(text.p + at, '<', text.n - at);
    if (!p) return;
    at = (size_t)(p - text.p);
    const char *skip = skipped(text, at);
    if (skip) {
      at = behind(text, at + 4, skip);
      continue;
    }
    if (!opens_heading(text, at)) {
      at++;
      continue;
    }
    size_t inner = behind(text, at, ">"), close = inner;
    while (close < text.n && !stands(text, close, "</h")) close++;
    /* what a reader takes for one character may reach over a tag's border */
    np_heading h = {.from = np_grapheme_floor(text, at),
                    .to = np_grapheme_ceil(text, behind(text, close, ">")),
                    .level = (unsigned)(text.p[at + 2] - '0'),
                    .title = stripped(np_str_cut(text, inner, close))};
    if (!fn(ctx, &h)) return;
    at = h.to;
  }
}

void np_headings_each(np_str text, np_heading_fn fn, void *ctx) {
  if (np_is_html(text)) html(text, fn, ctx);
  else markdown(text, fn, ctx);
}
