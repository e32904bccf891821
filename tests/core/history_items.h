/*
** Random histories in the form of OpenAI's Responses: reasoning, messages, calls of several
** kinds, outputs late, missing or of lists, opaque items, and now and then a message of the
** chat form, as after a change of provider. next: test_pack.c
*/
#ifndef NP_TESTS_HISTORY_ITEMS_H
#define NP_TESTS_HISTORY_ITEMS_H

#include "history.h"

static const char *const item_calls[] = {"function_call", "custom_tool_call",
                                         "local_shell_call"};

static inline void item_reasoning(history *h) {
  np_buf_adds(&h->b, "{\"type\":\"reasoning\",\"summary\":[");
  if (!pick(h, 3)) {
    np_buf_adds(&h->b, "{\"type\":\"summary_text\",\"text\":");
    history_string(h, 10);
    np_buf_addc(&h->b, '}');
  }
  np_buf_adds(&h->b, "],\"encrypted_content\":\"gAAA");
  for (int i = (int)pick(h, 60); i > 0; i--) np_buf_adds(&h->b, "Qz4x");
  np_buf_adds(&h->b, pick(h, 3) ? "\"}" : "\", \"status\": null}");
}

static inline void item_part(history *h, const char *type) {
  np_buf_adds(&h->b, "{\"type\":\"");
  np_buf_adds(&h->b, type);
  np_buf_adds(&h->b, "\",\"text\":");
  if (pick(h, 12)) history_string(h, history_size(h));
  else np_buf_adds(&h->b, "\"\"");
  np_buf_addc(&h->b, '}');
}

static inline void item_list(history *h, const char *type, bool images) {
  int n = pick(h, 4) ? 1 : (int)pick(h, 3) + 1;
  np_buf_addc(&h->b, '[');
  for (int i = 0; i < n; i++) {
    if (i) np_buf_addc(&h->b, ',');
    if (images && !pick(h, 5))
      np_buf_adds(&h->b, "{\"type\":\"input_image\",\"detail\":\"low\",\"image_url\":"
                         "\"data:image/png;base64,AAAA\"}");
    else if (images && !pick(h, 12))
      np_buf_adds(&h->b, "{\"type\":\"input_file\",\"file_id\":\"file-1\"}");
    else if (images && !pick(h, 12))
      np_buf_adds(&h->b, "{\"type\":\"input_file\",\"filename\":\"a.pdf\",\"file_data\":"
                         "\"data:application/pdf;base64," HISTORY_PDF "\"}");
    else item_part(h, type);
  }
  np_buf_addc(&h->b, ']');
}

static inline void item_message(history *h, const char *role, const char *type) {
  np_buf_adds(&h->b, pick(h, 2) ? "{\"type\":\"message\",\"role\":\"" : "{\"role\":\"");
  np_buf_adds(&h->b, role);
  np_buf_adds(&h->b, "\",\"content\":");
  if (pick(h, 2)) item_list(h, type, !strcmp(role, "user"));
  else history_string(h, history_size(h));
  np_buf_addc(&h->b, '}');
}

static inline void item_call(history *h) {
  char id[24];
  size_t kind = pick(h, 4) ? 0 : (size_t)pick(h, 3);
  snprintf(id, sizeof id, "call_%d", pick(h, 8) ? h->calls++ : (int)pick(h, 3));
  np_buf_adds(&h->b, "{\"type\":\"");
  np_buf_adds(&h->b, item_calls[kind]);
  np_buf_adds(&h->b, "\",\"call_id\":\"");
  np_buf_adds(&h->b, id);
  if (kind == 2) {
    np_buf_adds(&h->b, "\",\"action\":{\"command\":[\"ls\"]}}");
  } else if (kind == 1) {
    np_buf_adds(&h->b, "\",\"name\":\"patch\",\"input\":");
    history_string(h, pick(h, 5) ? 20 : 300);
    np_buf_addc(&h->b, '}');
  } else {
    np_buf_adds(&h->b, "\",\"name\":\"bash\",\"arguments\":");
    history_arguments(h);
    np_buf_addc(&h->b, '}');
  }
  if (h->open_count < 64) {
    h->open_kind[h->open_count] = (char)kind;
    strcpy(h->open[h->open_count++], id);
  }
}

/* An output of its call's kind mostly; of a chat message's form sometimes. */
static inline void item_output(history *h) {
  char id[24] = "lost_0";
  size_t kind = 0;
  if (h->open_count && pick(h, 40)) {
    size_t i = pick(h, 4) ? 0 : (size_t)pick(h, h->open_count),
           rest = h->open_count - i - 1;
    strcpy(id, h->open[i]);
    kind = (size_t)h->open_kind[i];
    memmove(h->open[i], h->open[i + 1], rest * sizeof h->open[0]);
    memmove(h->open_kind + i, h->open_kind + i + 1, rest);
    h->open_count--;
  }
  if (!pick(h, 8)) {
    np_buf_adds(&h->b, "{\"role\":\"tool\",\"tool_call_id\":\"");
    np_buf_adds(&h->b, id);
    np_buf_adds(&h->b, "\",\"content\":");
  } else {
    np_buf_adds(&h->b, "{\"type\":\"");
    np_buf_adds(&h->b, item_calls[pick(h, 12) ? kind : 0]);
    np_buf_adds(&h->b, "_output\",\"call_id\":\"");
    np_buf_adds(&h->b, id);
    np_buf_adds(&h->b, "\",\"output\":");
    if (!kind && !pick(h, 4)) {
      item_list(h, "input_text", true);
      np_buf_addc(&h->b, '}');
      return;
    }
  }
  if (pick(h, 12)) history_string(h, history_size(h));
  else np_buf_adds(&h->b, "\"\"");
  np_buf_addc(&h->b, '}');
}

static inline void item_opaque(history *h) {
  static const char *const items[] = {
      "{\"type\":\"compaction\",\"encrypted_content\":\"gAAAzz\"}",
      "{\"type\":\"web_search_call\",\"status\":\"completed\"}",
      "{\"type\":\"mcp_approval_response\",\"approval_request_id\":\"a\"}"};
  np_buf_adds(&h->b, items[pick(h, 3)]);
}

/* The next item: a response's come one after the other. */
static inline np_str history_items(history *h, int index) {
  np_buf_clear(&h->b);
  if (history_has_kind(h, index)) {
    history_kind(h);
  } else if (index == 0) {
    item_message(h, pick(h, 2) ? "developer" : "system", "input_text");
  } else if (index == 1 || !pick(h, 9)) {
    if (!pick(h, 4)) history_user(h);
    else item_message(h, "user", "input_text");
  } else if (h->open_count && pick(h, 3)) {
    item_output(h);
  } else {
    switch (pick(h, 12)) {
      case 0:
      case 1:
      case 2: item_reasoning(h); break;
      case 3:
      case 4: item_message(h, "assistant", "output_text"); break;
      case 5: history_assistant(h); break;
      case 6: item_opaque(h); break;
      case 7: item_output(h); break;
      default: item_call(h);
    }
  }
  return np_buf_str(&h->b);
}

#endif
