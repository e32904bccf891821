/*
** The JSON checker and walker over raw slices, and the string quoter. The checker accepts
** RFC 8259 and nothing more; the walker relies on it. next: hash.c
*/
#include "base/json.h"

typedef struct scan {
  const unsigned char *start, *p, *end;
  np_err *err;
  int depth;
} scan;

static neap_rc bad(scan *s, const char *text) {
  return np_fail_at(s->err, NEAP_E_JSON, (size_t)(s->p - s->start), text);
}

static void skip_white(scan *s) {
  while (s->p < s->end &&
         (*s->p == ' ' || *s->p == '\t' || *s->p == '\n' || *s->p == '\r')) {
    s->p++;
  }
}

static int hex_value(unsigned char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four hex digits at `p`, or -1. */
static int hex4(const unsigned char *p, const unsigned char *end) {
  if (end - p < 4) return -1;
  int v = 0;
  for (int i = 0; i < 4; i++) {
    int d = hex_value(p[i]);
    if (d < 0) return -1;
    v = v * 16 + d;
  }
  return v;
}

static neap_rc check_escape(scan *s) {
  if (s->end - s->p < 2) return bad(s, "a string is not closed");
  switch (s->p[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't': s->p += 2; return NEAP_OK;
    case 'u':
      if (hex4(s->p + 2, s->end) < 0) return bad(s, "\\u needs four hex digits");
      s->p += 6;
      return NEAP_OK;
    default: return bad(s, "unknown escape in a string");
  }
}

#define EACH(byte) (UINT64_MAX / 255 * (byte)) /* the byte, eight times */

/* Not 0 when one of the eight bytes is below `n`, at most 128. */
static uint64_t any_below(uint64_t eight, unsigned n) {
  return (eight - EACH(n)) & ~eight & EACH(0x80);
}

static uint64_t any_is(uint64_t eight, char c) {
  return any_below(eight ^ EACH((unsigned char)c), 1);
}

static uint64_t eight_at(const void *p) {
  uint64_t v;
  memcpy(&v, p, 8);
  return v;
}

/* Past the bytes that stand for themselves in a string and need no further look: printable
** ASCII without quotes and backslashes. Eight at a time, then the last few one by one. */
static const unsigned char *skip_plain(const unsigned char *p, const unsigned char *end) {
  for (; end - p >= 8; p += 8) {
    uint64_t v = eight_at(p);
    if (any_below(v, 0x20) | any_is(v, '"') | any_is(v, '\\') | (v & EACH(0x80))) break;
  }
  while (p < end && *p >= 0x20 && *p < 0x80 && *p != '"' && *p != '\\') p++;
  return p;
}

static neap_rc check_string(scan *s) {
  s->p++;
  for (;;) {
    s->p = skip_plain(s->p, s->end);
    if (s->p >= s->end) break;
    unsigned char c = *s->p;
    if (c == '"') {
      s->p++;
      return NEAP_OK;
    }
    if (c == '\\') {
      neap_rc rc = check_escape(s);
      if (rc) return rc;
    } else if (c < 0x20) {
      return bad(s, "a control character in a string");
    } else {
      size_t n = np_utf8_len((const char *)s->p, (const char *)s->end);
      if (!n) {
        return np_fail_at(s->err, NEAP_E_UTF8, (size_t)(s->p - s->start),
                          "a byte that is not UTF-8");
      }
      s->p += n;
    }
  }
  return bad(s, "a string is not closed");
}

static size_t skip_digits(scan *s) {
  const unsigned char *from = s->p;
  while (s->p < s->end && *s->p >= '0' && *s->p <= '9') s->p++;
  return (size_t)(s->p - from);
}

static neap_rc check_number(scan *s) {
  if (*s->p == '-') s->p++;
  if (s->p < s->end && *s->p == '0') {
    s->p++;
  } else if (!skip_digits(s)) {
    return bad(s, "a value is expected");
  }
  if (s->p < s->end && *s->p == '.') {
    s->p++;
    if (!skip_digits(s)) return bad(s, "digits must follow the point");
  }
  if (s->p < s->end && (*s->p | 0x20) == 'e') {
    s->p++;
    if (s->p < s->end && (*s->p == '+' || *s->p == '-')) s->p++;
    if (!skip_digits(s)) return bad(s, "digits must follow the exponent");
  }
  return NEAP_OK;
}

static neap_rc check_word(scan *s, const char *word) {
  size_t n = strlen(word);
  if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0) {
    return bad(s, "a value is expected");
  }
  s->p += n;
  return NEAP_OK;
}

static neap_rc check_value(scan *s);

static neap_rc check_member(scan *s) {
  skip_white(s);
  if (s->p >= s->end || *s->p != '"') return bad(s, "a member name is expected");
  neap_rc rc = check_string(s);
  if (rc) return rc;
  skip_white(s);
  if (s->p >= s->end || *s->p != ':') return bad(s, "a colon is expected");
  s->p++;
  return check_value(s);
}

/* An array or object: items parted by commas, up to `close`. Depth is limited, so the
** recursion uses a bounded stack. */
static neap_rc check_items(scan *s, unsigned char close) {
  if (++s->depth > NP_JSON_DEPTH) {
    return np_fail_at(s->err, NEAP_E_LIMIT, (size_t)(s->p - s->start),
                      "JSON nested deeper than 512 levels");
  }
  s->p++;
  skip_white(s);
  if (s->p < s->end && *s->p == close) {
    s->p++;
    s->depth--;
    return NEAP_OK;
  }
  for (;;) {
    neap_rc rc = close == '}' ? check_member(s) : check_value(s);
    if (rc) return rc;
    skip_white(s);
    if (s->p >= s->end) return bad(s, "the JSON ends early");
    if (*s->p == close) break;
    if (*s->p != ',') return bad(s, "a comma or a closing bracket is expected");
    s->p++;
  }
  s->p++;
  s->depth--;
  return NEAP_OK;
}

static neap_rc check_value(scan *s) {
  skip_white(s);
  if (s->p >= s->end) return bad(s, "the JSON ends early");
  switch (*s->p) {
    case '{': return check_items(s, '}');
    case '[': return check_items(s, ']');
    case '"': return check_string(s);
    case 't': return check_word(s, "true");
    case 'f': return check_word(s, "false");
    case 'n': return check_word(s, "null");
    default: return check_number(s);
  }
}

static np_json_type type_of(char c) {
  switch (c) {
    case '{': return NP_JSON_OBJECT;
    case '[': return NP_JSON_ARRAY;
    case '"': return NP_JSON_STRING;
    case 't':
    case 'f': return NP_JSON_BOOL;
    case 'n': return NP_JSON_NULL;
    default: return NP_JSON_NUMBER;
  }
}

np_json np_json_of(np_str checked) {
  return (np_json){type_of(*checked.p), checked};
}

neap_rc np_json_check_prefix(np_str text, np_json *out, size_t *used, np_err *e) {
  const unsigned char *p = (const unsigned char *)text.p;
  scan s = {p, p, p + text.n, e, 0};
  skip_white(&s);
  const unsigned char *from = s.p;
  neap_rc rc = check_value(&s);
  if (rc) return rc;
  *out = (np_json){type_of((char)*from), {(const char *)from, (size_t)(s.p - from)}};
  *used = (size_t)(s.p - s.start);
  return NEAP_OK;
}

neap_rc np_json_check(np_str text, np_json *out, np_err *e) {
  size_t used = 0;
  neap_rc rc = np_json_check_prefix(text, out, &used, e);
  if (rc) return rc;
  for (; used < text.n; used++) {
    char c = text.p[used];
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
      return np_fail_at(e, NEAP_E_JSON, used, "more text after the JSON value");
    }
  }
  return NEAP_OK;
}

/* ---- walking checked values ---- */

static const char *white_end(const char *p, const char *end) {
  while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')) p++;
  return p;
}

/* To the next quote that no odd number of backslashes stands before. Those are counted once
** for the quote behind them, so the walk is linear. */
const char *np_json_string_end(const char *p, const char *end) {
  const char *from = p + 1;
  for (p = from; p < end && (p = memchr(p, '"', (size_t)(end - p))) != NULL; p++) {
    const char *slash = p;
    while (slash > from && slash[-1] == '\\') slash--;
    if ((p - slash) % 2 == 0) return p + 1;
  }
  return end;
}

const char *np_json_value_end(const char *p, const char *end) {
  if (*p == '"') return np_json_string_end(p, end);
  if (*p != '{' && *p != '[') {
    while (p < end && *p != ',' && *p != '}' && *p != ']' && *p > ' ') p++;
    return p;
  }
  size_t depth = 0;
  while (p < end) {
    if (*p == '"') {
      p = np_json_string_end(p, end);
      continue;
    }
    if (*p == '{' || *p == '[') depth++;
    if (*p == '}' || *p == ']') depth--;
    p++;
    if (!depth) break;
  }
  return p;
}

np_json_iter np_json_each(np_json v) {
  if (v.type != NP_JSON_ARRAY && v.type != NP_JSON_OBJECT) return (np_json_iter){0};
  return (np_json_iter){v.raw.p + 1, v.raw.p + v.raw.n - 1, v.type == NP_JSON_OBJECT};
}

bool np_json_next(np_json_iter *it, np_str *key, np_json *value) {
  if (!it->p) return false;
  const char *p = white_end(it->p, it->end);
  if (p < it->end && *p == ',') p = white_end(p + 1, it->end);
  if (p >= it->end) return false;
  if (it->object) {
    const char *k = p;
    p = np_json_string_end(p, it->end);
    if (key) *key = (np_str){k, (size_t)(p - k)};
    p = white_end(p, it->end);
    p = white_end(p + 1, it->end); /* past the colon */
  }
  const char *stop = np_json_value_end(p, it->end);
  *value = (np_json){type_of(*p), {p, (size_t)(stop - p)}};
  it->p = stop;
  return true;
}

bool np_json_get(np_json obj, const char *key, np_json *out) {
  np_str k;
  np_json v;
  bool found = false;
  *out = (np_json){0};
  if (obj.type != NP_JSON_OBJECT) return false;
  np_json_iter it = np_json_each(obj);
  while (np_json_next(&it, &k, &v)) {
    if (np_json_is_key(k, key)) {
      *out = v;
      found = true;
    }
  }
  return found;
}

void np_members_of(np_json object, np_members *out) {
  np_str key;
  np_json value;
  out->object = object;
  out->count = 0;
  if (object.type != NP_JSON_OBJECT) return;
  np_json_iter it = np_json_each(object);
  while (np_json_next(&it, &key, &value)) {
    if (out->count++ >= NP_COUNT(out->keys)) return;
    out->keys[out->count - 1] = key;
    out->values[out->count - 1] = value;
  }
}

bool np_members_get(const np_members *m, const char *key, np_json *out) {
  if (m->count > NP_COUNT(m->keys)) return np_json_get(m->object, key, out);
  *out = (np_json){0};
  for (size_t i = m->count; i-- > 0;) {
    if (!np_json_is_key(m->keys[i], key)) continue;
    *out = m->values[i];
    return true;
  }
  return false;
}

/* ---- decoding strings ---- */

static size_t put_utf8(unsigned long c, char *out) {
  if (c < 0x80) {
    out[0] = (char)c;
    return 1;
  }
  if (c < 0x800) {
    out[0] = (char)(0xC0 | c >> 6);
    out[1] = (char)(0x80 | (c & 0x3F));
    return 2;
  }
  if (c < 0x10000) {
    out[0] = (char)(0xE0 | c >> 12);
    out[1] = (char)(0x80 | (c >> 6 & 0x3F));
    out[2] = (char)(0x80 | (c & 0x3F));
    return 3;
  }
  out[0] = (char)(0xF0 | c >> 18);
  out[1] = (char)(0x80 | (c >> 12 & 0x3F));
  out[2] = (char)(0x80 | (c >> 6 & 0x3F));
  out[3] = (char)(0x80 | (c & 0x3F));
  return 4;
}

/* Decodes the escape at `p` (a backslash) into out[4]; says how many bytes it took and
** made, and whether it was half of a surrogate pair without the other half. */
static const char *decode_escape(const char *p, const char *end, char *out, size_t *made,
                                 bool *lone) {
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  const unsigned char *u = (const unsigned char *)p, *stop = (const unsigned char *)end;
  *lone = false;
  if (p[1] != 'u') {
    const char *at = strchr(from, p[1]);
    out[0] = at ? to[at - from] : p[1];
    *made = 1;
    return p + 2;
  }
  long c = hex4(u + 2, stop);
  p += 6;
  if (c >= 0xD800 && c < 0xDC00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
    long low = hex4((const unsigned char *)p + 2, stop);
    if (low >= 0xDC00 && low < 0xE000) {
      c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
      p += 6;
    }
  }
  *lone = c >= 0xD800 && c < 0xE000;
  *made = put_utf8(*lone ? 0xFFFD : (unsigned long)c, out);
  return p;
}

size_t np_json_text(np_json str, np_buf *out) {
  size_t lone_count = 0;
  if (str.type != NP_JSON_STRING) return 0;
  const char *p = str.raw.p + 1, *end = str.raw.p + str.raw.n - 1;
  np_buf_reserve(out, (size_t)(end - p));
  while (p < end) {
    const char *slash = memchr(p, '\\', (size_t)(end - p));
    const char *stop = slash ? slash : end;
    np_buf_add(out, (np_str){p, (size_t)(stop - p)});
    if (!slash) break;
    char bytes[4];
    size_t made;
    bool lone;
    p = decode_escape(slash, end, bytes, &made, &lone);
    np_buf_add(out, (np_str){bytes, made});
    lone_count += lone;
  }
  return lone_count;
}

bool np_json_has_lone(np_json v) {
  const char *p = v.raw.p, *end = v.raw.p + v.raw.n;
  while (p < end) {
    p = memchr(p, '\\', (size_t)(end - p));
    if (!p || end - p < 2) return false;
    char bytes[4];
    size_t made;
    bool lone;
    p = decode_escape(p, end, bytes, &made, &lone);
    if (lone) return true;
  }
  return false;
}

void np_json_copy_repaired(np_str raw, np_buf *out) {
  const char *p = raw.p, *end = raw.p + raw.n;
  while (p < end) {
    const char *slash = memchr(p, '\\', (size_t)(end - p));
    if (!slash || end - slash < 2) break;
    char bytes[4];
    size_t made;
    bool lone;
    const char *next = decode_escape(slash, end, bytes, &made, &lone);
    np_buf_add(out, (np_str){p, (size_t)(slash - p)});
    if (lone) np_buf_adds(out, "\\ufffd");
    else np_buf_add(out, (np_str){slash, (size_t)(next - slash)});
    p = next;
  }
  np_buf_add(out, (np_str){p, (size_t)(end - p)});
}

bool np_json_is_key(np_str raw_key, const char *key) {
  size_t n = strlen(key);
  if (raw_key.n < 2) return false;
  if (raw_key.n == n + 2 && memcmp(raw_key.p + 1, key, n) == 0) return true;
  if (!memchr(raw_key.p, '\\', raw_key.n)) return false;
  const char *p = raw_key.p + 1, *end = raw_key.p + raw_key.n - 1;
  for (size_t i = 0;;) {
    if (p >= end) return i == n;
    char bytes[4];
    size_t made = 1;
    bool lone;
    if (*p == '\\') {
      p = decode_escape(p, end, bytes, &made, &lone);
    } else {
      bytes[0] = *p++;
    }
    if (n - i < made || memcmp(key + i, bytes, made) != 0) return false;
    i += made;
  }
}

/* ---- quoting ---- */

static void quote_control(np_buf *b, unsigned char c) {
  static const char hex[] = "0123456789abcdef";
  static const char from[] = "\b\f\n\r\t", to[] = "bfnrt";
  const char *at = c ? strchr(from, c) : NULL;
  np_buf_addc(b, '\\');
  if (at) {
    np_buf_addc(b, to[at - from]);
    return;
  }
  np_buf_adds(b, "u00");
  np_buf_addc(b, hex[c >> 4]);
  np_buf_addc(b, hex[c & 15]);
}

void np_json_quote(np_buf *b, np_str s) {
  const unsigned char *p = (const unsigned char *)s.p, *end = p + s.n, *from = p;
  np_buf_addc(b, '"');
  while ((p = skip_plain(p, end)) < end) {
    size_t n = *p >= 0x80 ? np_utf8_len((const char *)p, (const char *)end) : 0;
    if (n) {
      p += n;
      continue;
    }
    np_buf_add(b, (np_str){(const char *)from, (size_t)(p - from)});
    if (*p >= 0x80) {
      np_buf_adds(b, "\xEF\xBF\xBD");
    } else if (*p < 0x20) {
      quote_control(b, *p);
    } else {
      np_buf_addc(b, '\\');
      np_buf_addc(b, (char)*p);
    }
    from = ++p;
  }
  np_buf_add(b, (np_str){(const char *)from, (size_t)(p - from)});
  np_buf_addc(b, '"');
}
