/*
** Requests that real clients sent, taken apart and appended message by message: what comes out
** holds their system, tools and messages byte for byte. And a whole loop in each provider's
** form: responses in, calls, results, the next request. In JSON written here ' stands for ".
** next: test_pack.c
*/
#include "session.h"

static neap *n;

/* ---- recorded requests ---- */

static bool read_file(const char *path, np_buf *out) {
  FILE *f = fopen(path, "rb");
  char chunk[65536];
  size_t k;
  np_buf_clear(out);
  if (!f) return false;
  while ((k = fread(chunk, 1, sizeof chunk, f)) > 0) np_buf_add(out, np_str_of(chunk, k));
  fclose(f);
  return true;
}

/* The members of a body that are the host's. */
static void add_rest(np_json body, np_buf *out) {
  static const char *const ours[] = {"messages", "system", "tools", "input"};
  np_json value;
  np_str key;
  char sep = '{';
  np_json_iter it = np_json_each(body);
  np_buf_clear(out);
  while (np_json_next(&it, &key, &value)) {
    bool skip = false;
    for (size_t i = 0; i < NP_COUNT(ours); i++)
      skip = skip || np_json_is_key(key, ours[i]);
    if (skip) continue;
    np_buf_addc(out, sep);
    np_buf_add(out, key);
    np_buf_addc(out, ':');
    np_buf_add(out, value.raw);
    sep = ',';
  }
  np_buf_adds(out, sep == '{' ? "{}" : "}");
}

static bool same_member(np_json a, np_json b, const char *key) {
  np_json x, y;
  np_json_get(a, key, &x);
  np_json_get(b, key, &y);
  return x.type == y.type && np_str_eq(x.raw, y.raw);
}

static void give_back(neap_session *s, np_json body, const char *list_key, np_buf *b) {
  np_json v, item;
  bool ok = true;
  add_rest(body, b);
  ok = ok && !neap_set_request(s, np_buf_str(b));
  if (np_json_get(body, "tools", &v)) ok = ok && !neap_set_tools(s, v.raw);
  if (np_json_get(body, "system", &v)) {
    np_buf_clear(b);
    np_buf_adds(b, "{\"role\":\"system\",\"content\":");
    np_buf_add(b, v.raw);
    np_buf_addc(b, '}');
    ok = ok && !neap_append(s, np_buf_str(b));
  }
  np_json_get(body, list_key, &v);
  np_json_iter it = np_json_each(v);
  while (np_json_next(&it, NULL, &item)) ok = ok && !neap_append(s, item.raw);
  if (!ok) fprintf(stderr, "%s\n", neap_error(n));
  CHECK("a client's request is taken", ok);
}

/* Message by message; one that ends with the assistant gets a user's word behind it. */
static bool same_messages(np_json a, np_json b) {
  np_json x, y, had = {0}, got, role;
  np_json_get(a, "messages", &x);
  np_json_get(b, "messages", &y);
  np_json_iter from = np_json_each(x), to = np_json_each(y);
  while (np_json_next(&from, NULL, &had)) {
    if (!np_json_next(&to, NULL, &got) || !np_str_eq(had.raw, got.raw)) return false;
  }
  np_json_get(had, "role", &role);
  bool more = np_json_next(&to, NULL, &got);
  return more == np_str_is(role.raw, "\"assistant\"");
}

static void test_request(const char *path, np_json body, np_buf *b) {
  neap_str out;
  np_json got;
  neap_session *s = NULL;
  /* no marks but the client's: a prompt without any would get the engine's */
  neap_options o = {.size = sizeof o,
                    .window = 1000000,
                    .format = "anthropic",
                    .cache = NEAP_CACHE_NONE};
  CHECK("a session opens", neap_session_open(n, path, &o, &s) == NEAP_OK);
  give_back(s, body, "messages", b);
  neap_rc rc = neap_prompt(s, &out);
  if (rc) fprintf(stderr, "%s: %s\n", path, neap_error(n));
  bool ok = !rc && !np_json_check(out, &got, NULL);
  CHECK("it makes a prompt", ok);
  bool same = ok && same_member(body, got, "tools") && same_member(body, got, "system") &&
              same_messages(body, got) && same_member(body, got, "model");
  if (!same && ok)
    fprintf(stderr, "%s: %.*s\n", path, out.n > 2000 ? 2000 : (int)out.n, out.p);
  CHECK("its bytes come out as they went in", same);
  neap_session_close(s);
}

/* A request with messages that is none of the chat form is one of Anthropic's, whatever its
** path. */
static void check_file(const char *path, np_buf *file, np_buf *b, int *count) {
  np_json root, address, body, list;
  bool ok = read_file(path, file) && !np_json_check(np_buf_str(file), &root, NULL);
  CHECK("a recorded request is read", ok);
  if (!ok || !np_json_get(root, "body", &body)) return;
  np_json_get(root, "path", &address);
  bool chat = np_str_find(address.raw, NP_LIT("/chat/completions"), 0) != SIZE_MAX;
  np_json_get(body, "messages", &list);
  if (chat || list.type != NP_JSON_ARRAY) return;
  test_request(path, body, b);
  ++*count;
}

static void check_folder(const char *dir, np_buf *file, np_buf *b, int *count) {
  char path[1200];
  struct dirent *d;
  DIR *list = opendir(dir);
  while (list && (d = readdir(list))) {
    if (d->d_name[0] == '.' || !strstr(d->d_name, ".json")) continue;
    snprintf(path, sizeof path, "%s/%s", dir, d->d_name);
    check_file(path, file, b, count);
  }
  if (list) closedir(list);
}

/* Those of OpenAI's forms are test_formats.c's: both look into every folder. */
static void test_wire(void) {
  const char *shared = check_shared();
  char dir[900];
  struct dirent *d;
  np_buf file, b;
  int count = 0;
  if (!shared) {
    check_skip("requests of real clients", "the shared data is not here");
    return;
  }
  np_buf_init(&file, &np_alloc_libc);
  np_buf_init(&b, &np_alloc_libc);
  snprintf(dir, sizeof dir, "%s/wire", shared);
  DIR *list = opendir(dir);
  while (list && (d = readdir(list))) {
    if (d->d_name[0] == '.') continue;
    snprintf(dir, sizeof dir, "%s/wire/%.200s", shared, d->d_name);
    check_folder(dir, &file, &b, &count);
  }
  if (list) closedir(list);
  fprintf(stderr, "%d requests passed through\n", count);
  CHECK("there are some of Anthropic's", count >= 16);
  np_buf_free(&file);
  np_buf_free(&b);
}

/* ---- the loop ---- */

typedef struct answer_case {
  const char *format, *response, *message, *result;
} answer_case;

/* A response with two calls, and what of it stands in the next prompt. */
static const answer_case answers[] = {
    {"openai",
     "{'id':'x','choices':[{'message':{'role':'assistant','content':null,'tool_calls':["
     "{'id':'c1','type':'function','function':{'name':'a','arguments':'{}'}},"
     "{'id':'c2','type':'function','function':{'name':'b','arguments':'{}'}}]}}]}",
     "{'role':'assistant','content':null,'tool_calls':[",
     "{'role':'tool','tool_call_id':'c2','content':'two'}"},
    {"anthropic",
     "{'id':'msg_1','type':'message','role':'assistant','model':'m','content':["
     "{'type':'thinking','thinking':'hm','signature':'c2ln'},"
     "{'type':'tool_use','id':'c1','name':'a','input':{}},"
     "{'type':'tool_use','id':'c2','name':'b','input':{'n':1.0}}],"
     "'stop_reason':'tool_use','usage':{'input_tokens':9,'output_tokens':9}}",
     "{'role':'assistant','content':[{'type':'thinking','thinking':'hm','signature':"
     "'c2ln'},{'type':'tool_use','id':'c1','name':'a','input':{}},{'type':'tool_use',"
     "'id':'c2','name':'b','input':{'n':1.0}}]},{'role':'user','content':[",
     "{'type':'tool_result','tool_use_id':'c2','content':'two'},"
     "{'type':'tool_result','tool_use_id':'c1','content':'one'}]}"},
    {"anthropic",
     "{'id':'r','object':'response','error':null,'output':["
     "{'type':'function_call','call_id':'c1','name':'a','arguments':'{}'},"
     "{'type':'function_call','call_id':'c2','name':'b','arguments':'{}'}]}",
     "{'type':'tool_use','id':'c1','name':'a','input':{}},"
     "{'type':'tool_use','id':'c2','name':'b','input':{}}",
     "{'type':'tool_result','tool_use_id':'c2','content':'two'}"},
    {"openai",
     "{'id':'r','object':'response','output':["
     "{'type':'reasoning','id':'rs','summary':[]},"
     "{'type':'function_call','call_id':'c1','name':'a','arguments':'{}'},"
     "{'type':'custom_tool_call','call_id':'c2','name':'b','input':'x'}]}",
     "{'role':'assistant','tool_calls':[{'id':'c1','type':'function','function':{'name':"
     "'a','arguments':'{}'}},{'id':'c2','type':'function','function':{'name':'b',"
     "'arguments':'{\\'input\\':\\'x\\'}'}}]}",
     "{'role':'tool','tool_call_id':'c2','content':'two'}"},
    {"anthropic",
     "{'candidates':[{'content':{'role':'model','parts':[{'functionCall':{'name':'a',"
     "'args':{}}},{'functionCall':{'name':'b','args':{}}}]}}]}",
     "{'type':'tool_use','id':'neap_2','name':'a','input':{}}",
     "{'type':'tool_result','tool_use_id':'neap_3','content':'two'}"},
    {"openai",
     "{'candidates':[{'content':{'parts':[{'functionCall':{'name':'a'}},"
     "{'functionCall':{'name':'b','id':'c2'}}]}}]}",
     "{'id':'neap_2','type':'function','function':{'name':'a','arguments':'{}'}}",
     "{'role':'tool','tool_call_id':'c2','content':'two'}"},
};

static bool holds(neap_str body, const char *part) {
  bool found = np_str_find(body, json(part), 0) != SIZE_MAX;
  if (!found) fprintf(stderr, "no %s\nin %.*s\n", part, (int)body.n, body.p);
  return found;
}

static void test_answer(const answer_case *a, int i) {
  char name[20];
  neap_str body;
  neap_call first, second, more;
  snprintf(name, sizeof name, "answer-%d", i);
  neap_session *s = session_open(n, name, NULL, 9000, a->format);
  CHECK("a task is taken", append(s, "{'role':'user','content':'go'}") == NEAP_OK);
  CHECK("a prompt is made", neap_prompt(s, &body) == NEAP_OK);
  neap_rc rc = neap_append_response(s, json(a->response));
  if (rc) fprintf(stderr, "%s\n", neap_error(n));
  CHECK("a response of any provider is taken", rc == NEAP_OK);
  bool two = neap_next_call(s, &first) && neap_next_call(s, &second);
  CHECK("it has two calls and no more", two && !neap_next_call(s, &more));
  CHECK("they are told apart", two && first.entry < second.entry &&
                                   first.name.p[0] == 'a' && second.name.p[0] == 'b');
  CHECK("results are taken in any order",
        two && !neap_append_result(s, &second, NP_LIT("two")) &&
            !neap_append_result(s, &first, NP_LIT("one")));
  rc = neap_prompt(s, &body);
  if (rc) fprintf(stderr, "%s\n", neap_error(n));
  CHECK("the next prompt holds what was said", !rc && holds(body, a->message));
  CHECK("and the results", !rc && holds(body, a->result));
  neap_session_close(s);
}

static void test_refused(void) {
  static const char *const wrong[] = {
      "{'output':[]}",
      "{'candidates':[]}",
      "{'candidates':[{'finishReason':'SAFETY'}]}",
      "{'type':'error','error':{'type':'overloaded_error'}}",
      ("{'output':[{'type':'function_call','call_id':'c','name':'a','arguments':'{}'},"
       "{'type':'function_call','name':'a'}]}"),
      "{'hello':1}",
  };
  neap_session *s = session_open(n, "refused", NULL, 9000, "anthropic");
  append(s, "{'role':'user','content':'go'}");
  neap_str before, after;
  CHECK("a prompt is made", neap_prompt(s, &before) == NEAP_OK);
  size_t size = before.n;
  for (size_t i = 0; i < NP_COUNT(wrong); i++)
    CHECK("what is no answer is refused", neap_append_response(s, json(wrong[i])));
  CHECK("and leaves no trace", !neap_prompt(s, &after) && after.n == size);
  neap_session_close(s);
}

/* T12: a picture in a result counts by its size, not by its bytes; put away, the pair stays. */
static void test_picture(void) {
  np_buf big;
  neap_str body, account;
  np_json root, v;
  np_buf_init(&big, &np_alloc_libc);
  np_buf_add(&big,
             json("{'role':'user','content':[{'type':'tool_result','tool_use_id':'t',"
                  "'content':[{'type':'image','source':{'type':'base64',"
                  "'media_type':'image/png','data':'"));
  /* the header of a PNG of 280 x 140: 10 x 5 patches */
  np_buf_adds(&big, "iVBORw0KGgoAAAANSUhEUgAAARgAAACM");
  for (int i = 0; i < 1500000; i++) np_buf_addc(&big, 'A');
  np_buf_adds(&big, "\"}}]}]}");
  const char *policy =
      policy_file("mask.lua", "return { api = 1, assemble = function(ctx)\n"
                              "  if ctx.step < 3 then return end\n"
                              "  for e in ctx:entries { kind = 'result' } do\n"
                              "    if e.step < ctx.step - 1 then e:mask() end\n"
                              "  end\nend }\n");
  neap_session *s = session_open(n, "picture", policy, 9000, "anthropic");
  append(s, "{'role':'user','content':'look'}");
  append(s, "{'role':'assistant','content':[{'type':'tool_use','id':'t','name':'shot',"
            "'input':{}}]}");
  CHECK("a large picture is taken", neap_append(s, np_buf_str(&big)) == NEAP_OK);
  bool ok = !neap_prompt(s, &body) && body.n > 1500000 && !neap_account(s, &account) &&
            !np_json_check(account, &root, NULL) && np_json_get(root, "tokens", &v);
  CHECK("it costs what its size does", ok && strtol(v.raw.p, NULL, 10) < 150);
  append(s, "{'role':'assistant','content':[{'type':'tool_use','id':'u','name':'shot',"
            "'input':{}}]}");
  append(s, "{'role':'user','content':[{'type':'tool_result','tool_use_id':'u'}]}");
  append(s, "{'role':'assistant','content':'seen'}");
  append(s, "{'role':'user','content':'go on'}");
  ok = !neap_prompt(s, &body);
  if (!ok) fprintf(stderr, "%s\n", neap_error(n));
  CHECK("old enough it is a mark", ok && body.n < 2000);
  CHECK("in its result", ok && holds(body, "'tool_use_id':'t','content':'[neap"));
  neap_session_close(s);
  np_buf_free(&big);
}

/* Thoughts of another provider go, and the account says how many. */
static void test_left_out(void) {
  neap_str body, account;
  neap_session *s = session_open(n, "left-out", NULL, 9000, "anthropic");
  append(s, "{'role':'user','content':'go'}");
  append(s, "{'type':'reasoning','id':'r','summary':[],'encrypted_content':'zz'}");
  append(s, "{'type':'message','role':'assistant','content':[{'type':'output_text',"
            "'text':'ok'}]}");
  append(s, "{'role':'assistant','reasoning':'hm','content':'fine'}");
  append(s, "{'role':'user','content':'on'}");
  CHECK("it makes a prompt", neap_prompt(s, &body) == NEAP_OK);
  CHECK("what cannot be shown is counted",
        !neap_account(s, &account) && holds(account, "'left_out':2"));
  neap_session_close(s);
}

/* A session that is opened again knows its messages' forms, and what was one response. */
static void test_again(void) {
  neap_str body = NP_LIT("");
  neap_call c;
  neap_session *s = session_open(n, "again", NULL, 9000, "anthropic");
  append(s, "{'role':'user','content':'go'}");
  CHECK("it makes a prompt", neap_prompt(s, &body) == NEAP_OK);
  CHECK("it takes a response of items",
        neap_append_response(s, json(answers[3].response)) == NEAP_OK);
  CHECK("and another behind it",
        neap_append_response(s, json(answers[2].response)) == NEAP_OK);
  neap_session_close(s);
  s = session_open(n, "again", NULL, 9000, "anthropic");
  CHECK("the calls of the last one still wait",
        neap_next_call(s, &c) && c.entry == 5 && neap_next_call(s, &c) && c.entry == 6 &&
            !neap_next_call(s, &c));
  CHECK("it makes a prompt again", neap_prompt(s, &body) == NEAP_OK);
  CHECK("responses are apart",
        holds(body, "'name':'b','input':{'input':'x'}}]},{'role':'user','content':["));
  neap_session_close(s);
}

int main(void) {
  dir_make();
  n = engine_open(NULL);
  test_wire();
  for (size_t i = 0; i < NP_COUNT(answers); i++) test_answer(&answers[i], (int)i);
  test_refused();
  test_picture();
  test_left_out();
  test_again();
  neap_close(n);
  np_buf_free(&made);
  dir_remove();
  return check_done();
}
