/*
** Random histories in Gemini's form: signed or not, calls with ids or without, parallel ones,
** responses out of order, late, missing or doubled, thoughts, data, empty texts that bear a
** signature, and now and then a message of the chat form, as after a change of provider.
** next: test_pack.c
*/
#ifndef NP_TESTS_HISTORY_CONTENTS_H
#define NP_TESTS_HISTORY_CONTENTS_H

#include "history.h"

/* One history signs all its first calls or none, and has ids or has none: h->habits. */
enum { CONTENT_SIGNED = 1, CONTENT_IDS = 2, CONTENT_KNOWN = 4 };

static inline void content_sign(history *h) {
  np_buf_adds(&h->b, ",\"thoughtSignature\":\"Cr4B");
  for (int i = (int)pick(h, 20); i > 0; i--) np_buf_adds(&h->b, "w/3=");
  np_buf_addc(&h->b, '"');
}

static inline void content_text(history *h, int size) {
  np_buf_adds(&h->b, "{\"text\":");
  if (pick(h, 20)) history_string(h, size);
  else np_buf_adds(&h->b, "\"\"");
}

static inline const char *content_name(history *h) {
  static const char *const names[] = {"bash", "read", "web.find"};
  return names[pick(h, 3)];
}

static inline void content_call(history *h, bool first) {
  char id[24];
  const char *name = content_name(h);
  bool by_id = (h->habits & CONTENT_IDS) != 0;
  snprintf(id, sizeof id, "%s_%d", name, pick(h, 8) ? h->calls++ : (int)pick(h, 3));
  np_buf_adds(&h->b, "{\"functionCall\":{");
  if (by_id) {
    np_buf_adds(&h->b, "\"id\":\"");
    np_buf_adds(&h->b, id);
    np_buf_adds(&h->b, "\",");
  }
  np_buf_adds(&h->b, "\"name\":\"");
  np_buf_adds(&h->b, name);
  np_buf_addc(&h->b, '"');
  if (pick(h, 8)) {
    np_buf_adds(&h->b, ",\"args\":{\"command\":");
    history_string(h, pick(h, 5) ? 8 : 300);
    np_buf_adds(&h->b, ", \"n\":1.0}");
  }
  np_buf_addc(&h->b, '}');
  if (first && h->habits & CONTENT_SIGNED) content_sign(h);
  np_buf_addc(&h->b, '}');
  if (h->open_count == 64) return;
  h->open_kind[h->open_count] = by_id;
  strcpy(h->open[h->open_count++], by_id ? id : name);
}

static inline void content_model(history *h) {
  int calls = pick(h, 3) ? (int)pick(h, 4) : 0, parts = 0;
  np_buf_adds(&h->b, "{\"role\":\"model\",\"parts\":[");
  if (!pick(h, 4)) {
    content_text(h, 20);
    np_buf_adds(&h->b, ",\"thought\":true}");
    parts++;
  }
  if (!calls || pick(h, 2)) {
    np_buf_adds(&h->b, parts++ ? "," : "");
    content_text(h, history_size(h));
    if (!pick(h, 8)) content_sign(h);
    np_buf_addc(&h->b, '}');
  }
  if (!pick(h, 20)) {
    np_buf_adds(&h->b, parts++ ? "," : "");
    np_buf_adds(&h->b, "{\"executableCode\":{\"language\":\"PYTHON\",\"code\":\"1\"}}");
  }
  for (int i = 0; i < calls; i++) {
    np_buf_adds(&h->b, parts++ ? "," : "");
    content_call(h, !i);
  }
  np_buf_adds(&h->b, pick(h, 10) ? "]}" : " ], \"extra\": 1.0 }");
}

static inline void content_response(history *h, size_t i) {
  size_t rest = h->open_count - i - 1;
  bool by_id = h->open_kind[i];
  char name[24];
  snprintf(name, sizeof name, "%s", h->open[i]);
  np_buf_adds(&h->b, "{\"functionResponse\":{");
  if (by_id) {
    np_buf_adds(&h->b, "\"id\":\"");
    np_buf_adds(&h->b, name);
    np_buf_adds(&h->b, "\",");
    *strrchr(name, '_') = '\0';
  }
  np_buf_adds(&h->b, "\"name\":\"");
  np_buf_adds(&h->b, name);
  np_buf_adds(&h->b, pick(h, 10) ? "\",\"response\":{\"output\":"
                                 : "\",\"response\":{\"code\":2,\"error\":");
  history_string(h, history_size(h));
  np_buf_adds(&h->b, "}");
  if (!pick(h, 8))
    np_buf_adds(&h->b,
                ",\"parts\":[{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":"
                "\"" HISTORY_PNG "\"}},{\"inlineData\":{\"displayName\":\"a.pdf\","
                "\"mimeType\":\"application/pdf\",\"data\":\"" HISTORY_PDF "\"}}]");
  np_buf_adds(&h->b, "}}");
  memmove(h->open[i], h->open[i + 1], rest * sizeof h->open[0]);
  memmove(h->open_kind + i, h->open_kind + i + 1, rest);
  h->open_count--;
}

/* Responses to those that wait, mostly to all and in order; sometimes with a text behind. */
static inline void content_responses(history *h) {
  int parts = 0;
  np_buf_adds(&h->b, "{\"role\":\"user\",\"parts\":[");
  while (h->open_count && (!parts || pick(h, 8))) {
    np_buf_adds(&h->b, parts++ ? "," : "");
    content_response(h, pick(h, 6) ? 0 : (size_t)pick(h, h->open_count));
  }
  if (!pick(h, 40)) {
    np_buf_adds(&h->b, parts++ ? "," : "");
    np_buf_adds(&h->b, "{\"functionResponse\":{\"name\":\"bash\",\"id\":\"lost\","
                       "\"response\":{\"output\":\"x\"}}}");
  }
  if (!pick(h, 8)) {
    np_buf_adds(&h->b, parts++ ? "," : "");
    content_text(h, 10);
    np_buf_addc(&h->b, '}');
  }
  np_buf_adds(&h->b, "]}");
}

static inline void content_user(history *h) {
  np_buf_adds(&h->b, pick(h, 8) ? "{\"role\":\"user\",\"parts\":[" : "{\"parts\":[");
  content_text(h, history_size(h));
  np_buf_addc(&h->b, '}');
  if (!pick(h, 4))
    np_buf_adds(&h->b,
                ",{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"AAAA\"}}");
  if (!pick(h, 10))
    np_buf_adds(&h->b,
                ",{\"inlineData\":{\"mimeType\":\"audio/wav\",\"data\":\"AAAA\"}}");
  np_buf_adds(&h->b, "]}");
}

static inline np_str history_contents(history *h, int index) {
  if (!(h->habits & CONTENT_KNOWN)) h->habits = (int)pick(h, 4) | CONTENT_KNOWN;
  np_buf_clear(&h->b);
  if (history_has_kind(h, index)) {
    history_kind(h);
  } else if (index == 0) {
    np_buf_adds(&h->b, pick(h, 2) ? "{\"role\":\"system\",\"parts\":["
                                  : "{\"role\":\"user\",\"parts\":[");
    content_text(h, 20);
    np_buf_adds(&h->b, "}]}");
  } else if (h->open_count && pick(h, 12)) {
    content_responses(h);
  } else if (!pick(h, 6)) {
    content_user(h);
  } else if (!pick(h, 12)) {
    history_chat(h, index);
  } else {
    content_model(h);
  }
  return np_buf_str(&h->b);
}

#endif
