/*
** The same in the forms of other providers: blocks with signed thoughts, items with reasoning,
** parts with signatures; the providers' own tools; results in the middle of a user message. In
** JSON written here ' stands for ". next: test_pack.c
*/
#ifndef NP_TESTS_HISTORY_FORMS_H
#define NP_TESTS_HISTORY_FORMS_H

#include "history.h"

static inline void history_put(history *h, const char *s) {
  for (; *s; s++) np_buf_addc(&h->b, *s == '\'' ? '"' : *s);
}

static inline const char *history_new_id(history *h, char id[16]) {
  static const char *const odd[] = {"neap_3", "a b", "x.y:z", "call_0", "toolu_1"};
  if (!pick(h, 12)) snprintf(id, 16, "%s", odd[pick(h, NP_COUNT(odd))]);
  else snprintf(id, 16, "toolu_%d", h->calls++);
  if (h->open_count < 64) {
    h->open_kind[h->open_count] = 0;
    strcpy(h->open[h->open_count++], id);
  }
  return id;
}

static inline const char *history_old_id(history *h, char id[16]) {
  snprintf(id, 16, "lost_%d", (int)pick(h, 4));
  if (!h->open_count || !pick(h, 40)) return id;
  size_t i = pick(h, 4) ? 0 : (size_t)pick(h, h->open_count);
  strcpy(id, h->open[i]);
  memmove(h->open[i], h->open[i + 1], (h->open_count - i - 1) * sizeof h->open[0]);
  memmove(h->open_kind + i, h->open_kind + i + 1, h->open_count - i - 1);
  h->open_count--;
  return id;
}

static inline void history_member(history *h, const char *before, int most,
                                  const char *after) {
  history_put(h, before);
  history_string(h, most);
  history_put(h, after);
}

static inline void history_input(history *h) {
  history_member(h, "{'command':", pick(h, 5) ? 8 : 300, ",'n':1.0}");
}

/* ---- Anthropic ---- */

static inline void history_block(history *h, bool assistant) {
  char id[16];
  switch (pick(h, assistant ? 10 : 6)) {
    case 0:
      if (assistant) {
        history_put(h, "{'type':'server_tool_use','id':'s','name':'w','input':{}}");
        return;
      }
      history_put(h, "{'type':'image','source':{'type':'base64',"
                     "'media_type':'image/png','data':'AAAA'}}");
      return;
    case 1:
      if (pick(h, 4)) break;
      history_put(h, "{'type':'text','text':''}");
      return;
    case 2:
      if (pick(h, 4)) break;
      history_put(h, "{'type':'text','text':' \\n'}");
      return;
    case 3:
      if (assistant || pick(h, 3)) break;
      history_put(h, "{'type':'document','source':{'type':'base64',"
                     "'media_type':'application/pdf','data':'AAAA'}}");
      return;
    case 6:
    case 7:
    case 8:
      history_put(h, "{'type':'tool_use','id':'");
      history_put(h, history_new_id(h, id));
      history_put(h, "','name':'bash','input':");
      history_input(h);
      history_put(h, pick(h, 6) ? "}" : ",'cache_control':{'type':'ephemeral'}}");
      return;
    default: break;
  }
  history_member(h, "{'type':'text','text':", history_size(h), "}");
}

static inline void history_blocks_said(history *h) {
  int n = (int)pick(h, 3) + 1;
  history_put(h, "{'role':'assistant','content':");
  if (!pick(h, 5)) {
    history_string(h, 30);
    history_put(h, "}");
    return;
  }
  history_put(h, "[");
  bool thinks = !pick(h, 3);
  if (thinks)
    history_member(h, "{'type':'thinking','thinking':", 30, ",'signature':'c2ln'}");
  if (thinks && !pick(h, 4))
    history_put(h, ",{'type':'redacted_thinking','data':'emV0'}");
  for (int i = 0; i < n; i++) {
    if (i || thinks) history_put(h, ",");
    history_block(h, true);
  }
  history_put(h, "]}");
}

static inline void history_tool_result(history *h) {
  char id[16];
  history_put(h, "{'type':'tool_result','tool_use_id':'");
  history_put(h, history_old_id(h, id));
  history_put(h, "'");
  switch (pick(h, 6)) {
    case 0: break;
    case 1: history_put(h, ",'content':''"); break;
    case 2:
      history_member(h, ",'content':[{'type':'text','text':", 30,
                     "},{'type':'image','source':{'type':'base64','media_type':"
                     "'image/png','data':'AAAA'}}]");
      break;
    default: history_member(h, ",'content':", history_size(h), ",'is_error':false");
  }
  history_put(h, "}");
}

/* Results and texts in any order, sometimes of several batches. */
static inline void history_blocks_heard(history *h) {
  int n = (int)pick(h, 3) + 1;
  if (!h->open_count && !pick(h, 3)) {
    history_member(h, "{'role':'user','content':", 20, "}");
    return;
  }
  history_put(h, pick(h, 6) ? "{'role':'user','content':[" : "{'content':[");
  bool last = h->b.p[h->b.n - 12] == '{';
  for (int i = 0; i < n || (h->open_count && i < 20 && pick(h, 8)); i++) {
    if (i) history_put(h, ",");
    if (h->open_count && pick(h, 6)) history_tool_result(h);
    else history_block(h, false);
  }
  history_put(h, last ? "] , 'role' : 'user'}" : "]}");
}

static inline void history_anthropic(history *h, int index) {
  if (index == 1) history_member(h, "{'role':'user','content':", 40, "}");
  else if (h->open_count ? pick(h, 12) : !pick(h, 6)) history_blocks_heard(h);
  else if (!pick(h, 40)) history_put(h, "{'role':'assistant','content':[]}");
  else history_blocks_said(h);
}

/* ---- Responses ---- */

/* No two items have the same. */
static inline void history_item_id(history *h) {
  history_put(h, "{'type':'reasoning','id':'rs_");
  np_buf_int(&h->b, h->calls++);
}

static inline void history_item_said(history *h) {
  char id[16];
  h->items = pick(h, 2);
  switch (pick(h, 7)) {
    case 0:
      history_item_id(h);
      history_put(h, "','summary':[],'encrypted_content':'emV0'}");
      h->items = true;
      return;
    case 1:
      history_item_id(h);
      history_member(h, "','summary':[{'type':'summary_text','text':", 20, "}]}");
      h->items = true;
      return;
    case 2:
    case 3:
      history_put(h, "{'type':'function_call','name':'bash','call_id':'");
      history_put(h, history_new_id(h, id));
      history_put(h, "','arguments':");
      np_buf was = h->b;
      np_buf_init(&h->b, &np_alloc_libc);
      history_input(h);
      np_buf args = h->b;
      h->b = was;
      np_json_quote(&h->b, np_buf_str(&args));
      np_buf_free(&args);
      history_put(h, "}");
      return;
    case 4:
      if (!pick(h, 3)) {
        history_put(h, "{'type':'compaction','encrypted_content':'emV0'}");
        return;
      }
      history_put(h, "{'type':'custom_tool_call','name':'patch','call_id':'");
      history_put(h, history_new_id(h, id));
      history_member(h, "','input':", 20, "}");
      return;
    default:
      history_member(h,
                     "{'type':'message','role':'assistant','content':["
                     "{'type':'output_text','text':",
                     history_size(h), ",'annotations':[]}]}");
  }
}

static inline void history_responses(history *h, int index) {
  char id[16];
  if (index == 1 || (!h->items && !pick(h, 9))) {
    history_member(h, "{'role':'user','content':[{'type':'input_text','text':", 40,
                   "}]}");
  } else if (h->items || !h->open_count || !pick(h, 20)) {
    history_item_said(h);
  } else {
    history_put(h, "{'type':'function_call_output','call_id':'");
    history_put(h, history_old_id(h, id));
    history_member(h, "','output':", history_size(h), "}");
  }
}

/* ---- Gemini ---- */

/* The first of a turn is signed, as the provider does it. */
static inline void history_gemini_call(history *h, bool first) {
  char id[16];
  history_put(h, "{'functionCall':{'name':'bash','id':'");
  history_put(h, history_new_id(h, id));
  history_put(h, "','args':");
  history_input(h);
  history_put(h, first ? "},'thoughtSignature':'c2ln'}" : "}}");
}

static inline void history_gemini_said(history *h) {
  int n = (int)pick(h, 3) + 1, calls = 0;
  history_put(h, "{'role':'model','parts':[");
  for (int i = 0; i < n; i++) {
    if (i) history_put(h, ",");
    if (!pick(h, 6)) history_member(h, "{'thought':true,'text':", 20, "}");
    else if (pick(h, 2)) history_gemini_call(h, !calls++);
    else if (!pick(h, 8)) history_put(h, "{'text':'','thoughtSignature':'c2ln'}");
    else history_member(h, "{'text':", history_size(h), "}");
  }
  history_put(h, "]}");
}

static inline void history_gemini_heard(history *h) {
  char id[16];
  history_put(h, "{'role':'user','parts':[");
  for (int i = 0; i == 0 || (h->open_count && pick(h, 8)); i++) {
    if (i) history_put(h, ",");
    if (!h->open_count) {
      history_member(h, "{'text':", 20, "}");
      continue;
    }
    history_put(h, "{'functionResponse':{'name':'bash','id':'");
    history_put(h, history_old_id(h, id));
    history_member(h, "','response':{'output':", history_size(h), "}}}");
  }
  history_put(h, "]}");
}

static inline void history_gemini(history *h, int index) {
  if (index == 1 || h->open_count || !pick(h, 9)) history_gemini_heard(h);
  else history_gemini_said(h);
}

#endif
