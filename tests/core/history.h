/*
** Random histories for property tests: everything that recordings hold, and what they should
** not: blocks by kind, parallel calls, results out of order, late or missing, ids used again, empty content,
** half surrogates, lists of parts, images, system messages in the middle; in one provider's
** form or in all of them by turns. next: history_forms.inc, test_pack.c
*/
#ifndef NP_TESTS_HISTORY_H
#define NP_TESTS_HISTORY_H

#include "base/json.h"
#include "check.h"

typedef struct history {
  unsigned long long random;
  np_buf b;           /* the message being made */
  char open[64][24];  /* ids that wait for a result */
  char open_kind[64]; /* of their calls, where a form has several */
  size_t open_count;
  int calls;
  int habits; /* of one history, where a form has several */
  int form;   /* 0 chat, 1 anthropic, 2 responses, 3 gemini, 4 any */
  bool items; /* Responses: the answer goes on with another item */
} history;

static inline unsigned long long pick(history *h, unsigned long long n) {
  return check_random(&h->random) % n;
}

static inline void history_words(history *h, np_buf *t, int most) {
  static const char *const words[] = {"src/ledger.c",
                                      "error E4012",
                                      "total",
                                      "上下文窗口",
                                      "the quick brown fox",
                                      "0x7fffe3a1",
                                      "👩‍👩‍👧‍👦",
                                      "\n",
                                      "  ",
                                      "max_price <= 500",
                                      "\t",
                                      "re\xCC\x81sum\xC3\xA9",
                                      "[step 3]",
                                      "Observation: x",
                                      "neap\xC2\xB7",
                                      "Action: {}",
                                      "{\"a\":1}",
                                      "line\n",
                                      "/usr/lib/x.so.3",
                                      "assert(n > 0);",
                                      "é",
                                      "\"quoted\"",
                                      "\\",
                                      "<think>",
                                      "42",
                                      "ORD-00981"};
  int n = (int)pick(h, (unsigned long long)most) + 1;
  for (int i = 0; i < n; i++) {
    np_buf_adds(t, words[pick(h, NP_COUNT(words))]);
    if (pick(h, 3)) np_buf_addc(t, pick(h, 8) ? ' ' : '\n');
  }
}

static inline void history_string(history *h, int most) {
  np_buf t;
  np_buf_init(&t, &np_alloc_libc);
  history_words(h, &t, most);
  np_json_quote(&h->b, np_buf_str(&t));
  if (!pick(h, 40)) { /* half a surrogate pair */
    h->b.n--;
    np_buf_adds(&h->b, "\\ud83d x\"");
  }
  np_buf_free(&t);
}

static inline int history_size(history *h) {
  return pick(h, 12) ? 30 : pick(h, 6) ? 300 : 3000;
}

/* The header of a PNG of 280 x 140, and of a PDF of one page. */
#define HISTORY_PNG "iVBORw0KGgoAAAANSUhEUgAAARgAAACMCAIAAAB"
#define HISTORY_PDF "JVBERi0xLjQKL1R5cGUgL1BhZ2UK"

/* A result that comes again and again, long enough to be said otherwise. */
#define HISTORY_LIST                                                                     \
  "src/ledger.c src/main.c src/total.c docs/a.md docs/b.md: 42 files, 17 of "
#define HISTORY_AGAIN                                                                    \
  "\"" HISTORY_LIST HISTORY_LIST HISTORY_LIST HISTORY_LIST HISTORY_LIST "them opened\""

/* What tools give besides texts, in the forms in which hosts hand it on. */
static inline void history_found(history *h) {
  static const char *const found[] = {
      "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/"
      "png;base64," HISTORY_PNG "\"}}",
      "{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://x.example/a.png\"}}",
      "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/tiff;base64,AAAA\"}}",
      "{\"type\":\"image\",\"mimeType\":\"image/webp\",\"data\":\"AAAA\"}",
      "{\"type\":\"file\",\"file\":{\"filename\":\"a.pdf\",\"file_data\":"
      "\"data:application/pdf;base64," HISTORY_PDF "\"}}",
      "{\"type\":\"input_text\",\"text\":\"seen\"}",
      "{\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"data\":\"AAAA\"}",
      "{\"type\":\"resource\",\"uri\":\"file:///a\"}"};
  np_buf_adds(&h->b, found[pick(h, NP_COUNT(found))]);
}

static inline void history_findings(history *h) {
  np_buf_addc(&h->b, '[');
  for (int i = 0; !i || pick(h, 2); i++) {
    if (i) np_buf_addc(&h->b, ',');
    if (pick(h, 2)) {
      history_found(h);
      continue;
    }
    np_buf_adds(&h->b, "{\"type\":\"text\",\"text\":");
    history_string(h, 40);
    np_buf_addc(&h->b, '}');
  }
  np_buf_addc(&h->b, ']');
}

static inline void history_content(history *h, bool images) {
  if (pick(h, 6)) {
    history_string(h, history_size(h));
    return;
  }
  int n = (int)pick(h, 3) + 1;
  np_buf_addc(&h->b, '[');
  for (int i = 0; i < n; i++) {
    if (i) np_buf_addc(&h->b, ',');
    if (images && !pick(h, 4)) {
      np_buf_adds(
          &h->b,
          "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,AAAA\","
          "\"detail\":\"low\"}}");
      continue;
    }
    np_buf_adds(&h->b, "{\"type\":\"text\",\"text\":");
    if (pick(h, 10)) history_string(h, 40);
    else np_buf_adds(&h->b, "\"\"");
    np_buf_addc(&h->b, '}');
  }
  np_buf_addc(&h->b, ']');
}

/* Arguments as a string that holds an object. */
static inline void history_arguments(history *h) {
  np_buf args, was = h->b;
  np_buf_init(&h->b, &np_alloc_libc);
  np_buf_adds(&h->b, "{\"command\":");
  history_string(h, pick(h, 5) ? 8 : 300);
  np_buf_adds(&h->b, ",\"n\":1.0}");
  args = h->b;
  h->b = was;
  np_json_quote(&h->b, np_buf_str(&args));
  np_buf_free(&args);
}

static inline void history_call(history *h) {
  char id[24];
  snprintf(id, sizeof id, "call_%d", pick(h, 8) ? h->calls++ : (int)pick(h, 3));
  np_buf_adds(&h->b, "{\"id\":\"");
  np_buf_adds(&h->b, id);
  np_buf_adds(&h->b,
              "\",\"type\":\"function\",\"function\":{\"name\":\"bash\",\"arguments\":");
  history_arguments(h);
  np_buf_adds(&h->b, "}}");
  if (h->open_count == 64) return;
  h->open_kind[h->open_count] = 0;
  strcpy(h->open[h->open_count++], id);
}

static inline void history_assistant(history *h) {
  int calls = pick(h, 4) ? (int)pick(h, 3) + (pick(h, 20) ? 0 : 8) : 0;
  np_buf_adds(&h->b, "{\"role\":\"assistant\"");
  if (!pick(h, 4)) {
    np_buf_adds(&h->b, ",\"reasoning\":");
    history_string(h, 30);
  }
  np_buf_adds(&h->b, ",\"content\":");
  if (calls && pick(h, 2)) np_buf_adds(&h->b, pick(h, 2) ? "null" : "\"\"");
  else if (!pick(h, 30)) np_buf_adds(&h->b, "\"\"");
  else history_content(h, false);
  for (int i = 0; i < calls; i++) {
    np_buf_adds(&h->b, i ? "," : ",\"tool_calls\":[");
    history_call(h);
  }
  np_buf_adds(&h->b, calls ? "]}" : "}");
}

static inline void history_result(history *h) {
  char id[24];
  if (h->open_count && pick(h, 40)) {
    size_t i = pick(h, 4) ? 0 : (size_t)pick(h, h->open_count); /* mostly in order */
    strcpy(id, h->open[i]);
    memmove(h->open[i], h->open[i + 1], (h->open_count - i - 1) * sizeof h->open[0]);
    memmove(h->open_kind + i, h->open_kind + i + 1, h->open_count - i - 1);
    h->open_count--;
  } else {
    snprintf(id, sizeof id, "lost_%d", (int)pick(h, 4));
  }
  np_buf_adds(&h->b, "{\"role\":\"tool\",\"tool_call_id\":\"");
  np_buf_adds(&h->b, id);
  np_buf_adds(&h->b,
              pick(h, 6) ? "\",\"content\":" : "\",\"is_error\":true,\"content\":");
  if (!pick(h, 6)) np_buf_adds(&h->b, HISTORY_AGAIN);
  else if (!pick(h, 10)) history_findings(h);
  else if (pick(h, 20)) history_content(h, false);
  else np_buf_adds(&h->b, "\"\"");
  np_buf_addc(&h->b, '}');
}

static inline void history_user(history *h) {
  np_buf_adds(&h->b, pick(h, 10) ? "{\"role\":\"user\",\"content\":"
                                 : "{\"role\":\"user\",\"name\":\"ann\",\"content\":");
  if (pick(h, 30)) history_content(h, true);
  else np_buf_adds(&h->b, "\"\"");
  np_buf_addc(&h->b, '}');
}

/* What the host gives by kind: a state that replaces the last, a memory, evidence, a notice. */
static inline void history_kind(history *h) {
  static const char *const kinds[] = {"state", "state", "memory", "evidence", "notice"};
  np_buf_clear(&h->b);
  np_buf_adds(&h->b, "{\"kind\":\"");
  np_buf_adds(&h->b, kinds[pick(h, NP_COUNT(kinds))]);
  np_buf_adds(&h->b, pick(h, 9) ? "\",\"content\":" : "\",\"ts\":1,\"content\":");
  history_string(h, pick(h, 5) ? 20 : 200);
  np_buf_addc(&h->b, '}');
}

/* Whether the next message is a block: never the first two. */
static inline bool history_has_kind(history *h, int index) {
  return index > 1 && !pick(h, 12);
}

static inline void history_chat(history *h, int index) {
  if (index == 0 || !pick(h, 60)) {
    np_buf_adds(&h->b, "{\"role\":\"system\",\"content\":");
    history_string(h, 30);
    np_buf_addc(&h->b, '}');
  } else if (index == 1 || !pick(h, 9)) {
    history_user(h);
  } else if (h->open_count && pick(h, 20)) {
    history_result(h);
  } else if (!pick(h, 60)) {
    history_result(h); /* an orphan */
  } else {
    history_assistant(h);
  }
}

#include "history_forms.inc"

/* The next message, valid until the next call. The first is a system message, the second
** the task. */
static inline np_str history_next(history *h, int index) {
  np_buf_clear(&h->b);
  int form = h->form == 4 ? (int)pick(h, 4) : h->form;
  if (index == 0) form = 0;
  if (history_has_kind(h, index)) {
    history_kind(h);
    return np_buf_str(&h->b);
  }
  if (h->items && h->form != 4) form = 2;
  if (form == 1) history_anthropic(h, index);
  else if (form == 2) history_responses(h, index);
  else if (form == 3) history_gemini(h, index);
  else history_chat(h, index);
  return np_buf_str(&h->b);
}

#endif
