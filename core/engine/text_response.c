/*
** Reading `text` answers. Lines that are no well-formed action stay content. next: tools.c
*/
#include "engine/text_response.h"

#include "text/text.h"

static np_str trim(np_str s) {
  while (s.n && (s.p[0] == ' ' || s.p[0] == '\n' || s.p[0] == '\r'))
    s = np_str_cut(s, 1, s.n);
  while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\n' || s.p[s.n - 1] == '\r'))
    s.n--;
  return s;
}

static bool take_prefix(np_str *s, const char *prefix) {
  size_t n = strlen(prefix);
  if (s->n < n || memcmp(s->p, prefix, n) != 0) return false;
  *s = np_str_cut(*s, n, s->n);
  return true;
}

/* The thought at the start, taken off *text. */
static np_str take_thought(np_str *text) {
  np_str rest = trim(*text);
  if (!take_prefix(&rest, "<think>")) return NP_LIT("");
  size_t end = np_str_find(rest, NP_LIT("</think>"), 0);
  if (end == SIZE_MAX) return NP_LIT("");
  *text = np_str_cut(rest, end + 8, rest.n);
  return np_str_cut(rest, 0, end);
}

static bool parse_action(np_str line, np_json *name, np_json *args) {
  np_json v;
  if (!take_prefix(&line, "Action:") || np_json_check(line, &v, NULL)) return false;
  return np_json_get(v, "action", name) && name->type == NP_JSON_STRING &&
         np_json_get(v, "args", args);
}

static void add_call(np_buf *calls, np_json name, np_json args, int64_t step, int64_t n) {
  np_buf_addc(calls, n > 1 ? ',' : '[');
  np_buf_adds(calls, "{\"id\":\"c");
  np_buf_int(calls, step);
  np_buf_addc(calls, '-');
  np_buf_int(calls, n);
  np_buf_adds(calls, "\",\"type\":\"function\",\"function\":{\"name\":");
  np_buf_add(calls, name.raw);
  np_buf_adds(calls, ",\"arguments\":");
  np_json_quote(calls, args.raw);
  np_buf_adds(calls, "}}");
}

/* Content lines and calls, apart. */
static int64_t split_lines(np_str text, int64_t step, np_buf *content, np_buf *calls) {
  np_str line;
  int64_t n = 0;
  while (np_line_next(&text, &line)) {
    np_json name, args;
    if (parse_action(line, &name, &args)) {
      add_call(calls, name, args, step, ++n);
      continue;
    }
    np_buf_add(content, line);
    np_buf_addc(content, '\n');
  }
  if (n) np_buf_addc(calls, ']');
  return n;
}

void np_text_response(np_str text, int64_t step, np_buf *out) {
  np_buf content, calls;
  np_buf_init(&content, out->alloc);
  np_buf_init(&calls, out->alloc);
  np_str thought = take_thought(&text);
  int64_t n = split_lines(text, step, &content, &calls);
  np_str said = trim(np_buf_str(&content));
  take_prefix(&said, "Answer: ");
  np_buf_adds(out, "{\"role\":\"assistant\"");
  if (thought.n) {
    np_buf_adds(out, ",\"reasoning\":");
    np_json_quote(out, thought);
  }
  np_buf_adds(out, ",\"content\":");
  if (said.n || !n) np_json_quote(out, said);
  else np_buf_adds(out, "null");
  if (n) {
    np_buf_adds(out, ",\"tool_calls\":");
    np_buf_add(out, np_buf_str(&calls));
  }
  np_buf_addc(out, '}');
  if (content.failed || calls.failed) out->failed = true;
  np_buf_free(&content);
  np_buf_free(&calls);
}
