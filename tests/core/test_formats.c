/*
** Whole bodies in every provider's form, byte for byte (tests/cases/bodies); what
** real clients sent passes through; answers of every provider are taken apart, and a session
** goes on from its store. In JSON written here ' stands for ". next: test_pack.c
*/
#include "session.h"

#include "golden.h"
#include "render/check.h"

static neap *n;

/* ---- whole bodies ---- */

static np_str member(np_json line, const char *key) {
  np_json v;
  return np_json_get(line, key, &v) ? v.raw : NP_LIT("");
}

static void add_all(golden *g, np_json list) {
  np_json message;
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &message)) golden_add(g, message.raw);
  CHECK("new entries are taken in", np_pack_begin(&g->pack, NULL) == NEAP_OK);
}

/* {"what":…, "tools":[…], "request":{…}, "history":[…], "changes":"m3", "want":{…}}: what is
** left out is none. The same again, turn by turn: what is appended only appends. */
static void check_body(const np_vocab *v, const char *format, np_json line) {
  golden g;
  np_json history, changes, want;
  np_buf text;
  np_err e = {0};
  np_buf_init(&text, &np_alloc_libc);
  golden_open(&g, v, format, 1000000);
  np_view_set_head(&g.pack.view, member(line, "tools"), member(line, "request"), false);
  np_json_get(line, "history", &history);
  add_all(&g, history);
  if (np_json_get(line, "changes", &changes)) np_json_text(changes, &text);
  np_buf_addc(&text, '\0');
  golden_change(&g, text.p);
  np_json_get(line, "what", &changes);
  np_buf_clear(&text);
  np_buf_add(&text, changes.raw);
  np_buf_addc(&text, '\0');
  np_json_get(line, "want", &want);
  np_str body = golden_body(&g);
  golden_same(text.p, body, want.raw);
  neap_rc rc = np_check(&np_alloc_libc, np_str_cstr(format), body, true, &e);
  if (rc) fprintf(stderr, "%s: %s\n", text.p, e.text);
  CHECK("it keeps its provider's rules", rc == NEAP_OK);
  golden_close(&g);
  np_buf_free(&text);
}

static bool read_file(const char *path, np_buf *out) {
  char bytes[4096];
  size_t k;
  FILE *f = fopen(path, "rb");
  np_buf_clear(out);
  if (!f) return false;
  while ((k = fread(bytes, 1, sizeof bytes, f)) > 0) np_buf_add(out, np_str_of(bytes, k));
  fclose(f);
  return !out->failed;
}

static void test_bodies(const np_vocab *v, const char *format, size_t least) {
  char path[200];
  np_buf file;
  np_json line;
  size_t used, count = 0;
  np_buf_init(&file, &np_alloc_libc);
  snprintf(path, sizeof path, "tests/cases/bodies/%s.jsonl", format);
  CHECK("the cases are there", read_file(path, &file));
  np_str rest = np_buf_str(&file);
  while (np_json_check_prefix(rest, &line, &used, NULL) == NEAP_OK) {
    rest = np_str_cut(rest, used, rest.n);
    check_body(v, format, line);
    count++;
  }
  CHECK("every line is a case", count >= least && rest.n <= 1);
  np_buf_free(&file);
}

/* Many items of one response are one walk, not one for each. */
static void test_many_items(const np_vocab *v) {
  enum { N = 40000 };
  golden g;
  np_str item = NP_LIT("{\"type\":\"message\",\"role\":\"assistant\",\"content\":["
                       "{\"type\":\"output_text\",\"text\":\"a\"}]}");
  golden_open(&g, v, "responses", 10000000);
  golden_add(&g, NP_LIT("{\"role\":\"user\",\"content\":\"go\"}"));
  size_t index;
  bool ok = true;
  for (int i = 0; i < N; i++)
    ok = ok && np_log_append(&g.log, item, &index, NULL) == NEAP_OK;
  CHECK("items are taken", ok && np_log_index_sync(&g.log, NULL) == NEAP_OK);
  np_pack_begin(&g.pack, NULL);
  CHECK("all of them go out", golden_body(&g).n > N * item.n);
  golden_close(&g);
}

/* ---- requests of real clients ---- */

/* The request's members but for the lists that are the engine's. */
static np_str other_members(np_json body, const char *list, np_buf *out) {
  np_str key;
  np_json value;
  char sep = '{';
  np_buf_clear(out);
  np_json_iter it = np_json_each(body);
  while (np_json_next(&it, &key, &value)) {
    if (np_json_is_key(key, list) || np_json_is_key(key, "tools")) continue;
    np_buf_addc(out, sep);
    np_buf_add(out, key);
    np_buf_addc(out, ':');
    np_buf_add(out, value.raw);
    sep = ',';
  }
  if (sep == '{') np_buf_addc(out, sep);
  np_buf_addc(out, '}');
  return np_buf_str(out);
}

/* JSON without the white space between its words, and without `gap`, if it is there. */
static void add_dense(np_str raw, np_str gap, np_buf *out) {
  bool inside = false;
  np_buf_clear(out);
  for (size_t i = 0; i < raw.n; i++) {
    bool quoted = raw.p[i] == '"' && !(inside && raw.p[i - 1] == '\\');
    if (quoted) inside = !inside;
    if (inside || raw.p[i] > ' ') np_buf_addc(out, raw.p[i]);
  }
  size_t at = np_str_find(np_buf_str(out), gap, 0);
  if (at == SIZE_MAX) return;
  memmove(out->p + at, out->p + at + gap.n, out->n - at - gap.n);
  out->n -= gap.n;
}

/* The bytes that came in; but an empty text beside calls is left out, for which the message is
** written anew. */
static bool is_same_message(np_json sent, np_json got) {
  np_json content, calls;
  np_buf a, b;
  if (np_str_eq(sent.raw, got.raw)) return true;
  if (!np_json_get(sent, "content", &content) || content.raw.n != 2 ||
      !np_json_get(sent, "tool_calls", &calls))
    return false;
  np_buf_init(&a, &np_alloc_libc);
  np_buf_init(&b, &np_alloc_libc);
  add_dense(sent.raw, NP_LIT("\"content\":\"\","), &a);
  add_dense(got.raw, NP_LIT("\"content\":\"\","), &b);
  bool same = np_str_eq(np_buf_str(&a), np_buf_str(&b));
  np_buf_free(&a);
  np_buf_free(&b);
  return same;
}

/* Every member and every message has the bytes that came in, and nothing else is there. */
static bool is_same(np_json sent, np_json got, const char *list) {
  np_str key;
  np_json value, mine, a, b;
  size_t members = 0, others = 0;
  char name[100];
  np_json_iter it = np_json_each(sent);
  for (; np_json_next(&it, &key, &value); members++) {
    snprintf(name, sizeof name, "%.*s", (int)key.n - 2, key.p + 1);
    if (!np_json_get(got, name, &mine)) return false;
    if (strcmp(name, list) != 0 && !np_str_eq(value.raw, mine.raw)) return false;
  }
  it = np_json_each(got);
  while (np_json_next(&it, NULL, &value)) others++;
  np_json_get(sent, list, &a);
  np_json_get(got, list, &b);
  np_json_iter i = np_json_each(a), j = np_json_each(b);
  while (np_json_next(&i, NULL, &value)) {
    if (!np_json_next(&j, NULL, &mine) || !is_same_message(value, mine)) return false;
  }
  return members == others && !np_json_next(&j, NULL, &mine);
}

static void pass_through(const char *path, const char *format, const char *list,
                         np_json body) {
  static int number;
  char name[40];
  np_json messages, tools, message, got;
  np_buf members;
  np_buf_init(&members, &np_alloc_libc);
  snprintf(name, sizeof name, "wire-%d", number++);
  neap_session *s = session_open(n, name, NULL, 1000000, format);
  CHECK("the members are taken",
        neap_set_request(s, other_members(body, list, &members)) == NEAP_OK);
  if (np_json_get(body, "tools", &tools))
    CHECK("the tools are taken", neap_set_tools(s, tools.raw) == NEAP_OK);
  np_json_get(body, list, &messages);
  np_json_iter it = np_json_each(messages);
  while (np_json_next(&it, NULL, &message))
    CHECK("a message is taken", neap_append(s, message.raw) == NEAP_OK);
  neap_str out = prompt(s);
  bool same = !np_json_check(out, &got, NULL) && is_same(body, got, list);
  if (!same) fprintf(stderr, "%s: not as it came\n", path);
  CHECK("a real client's request passes through byte for byte", same);
  neap_session_close(s);
  np_buf_free(&members);
}

/* An input that is one string is the user's message: it keeps its bytes in a list of one. */
static void pass_string(const char *path, np_json body, np_json input) {
  np_buf b, want;
  np_json got, list = {0};
  np_buf_init(&b, &np_alloc_libc);
  np_buf_init(&want, &np_alloc_libc);
  neap_session *s = session_open(n, "wire-string", NULL, 1000000, "responses");
  CHECK("the members are taken",
        neap_set_request(s, other_members(body, "input", &b)) == NEAP_OK);
  np_buf_adds(&want, "{\"role\":\"user\",\"content\":");
  np_buf_add(&want, input.raw);
  np_buf_addc(&want, '}');
  CHECK("it is taken", neap_append(s, np_buf_str(&want)) == NEAP_OK);
  neap_str out = prompt(s);
  bool same = !np_json_check(out, &got, NULL) && np_json_get(got, "input", &list);
  np_json_iter it = np_json_each(list);
  same = same && np_json_next(&it, NULL, &got) && np_str_eq(got.raw, np_buf_str(&want)) &&
         !np_json_next(&it, NULL, &got);
  if (!same) fprintf(stderr, "%s: not as it came\n", path);
  CHECK("an input of one string keeps its bytes", same);
  neap_session_close(s);
  np_buf_free(&b);
  np_buf_free(&want);
}

static void check_wire(const char *path, np_buf *file, int *count) {
  np_json root, address, body, list;
  if (!read_file(path, file) || np_json_check(np_buf_str(file), &root, NULL)) {
    CHECK("a fixture is read", !"read");
    return;
  }
  np_json_get(root, "path", &address);
  np_json_get(root, "body", &body);
  bool chat = np_str_find(address.raw, NP_LIT("/chat/completions"), 0) != SIZE_MAX;
  if (!chat && np_str_find(address.raw, NP_LIT("/responses"), 0) == SIZE_MAX) return;
  const char *name = chat ? "messages" : "input";
  np_json_get(body, name, &list);
  if (list.type == NP_JSON_STRING) pass_string(path, body, list);
  else if (list.type == NP_JSON_ARRAY)
    pass_through(path, chat ? "openai" : "responses", name, body);
  else return;
  ++*count;
}

static void check_folder(const char *dir, np_buf *file, int *count) {
  char path[1200];
  struct dirent *d;
  DIR *list = opendir(dir);
  while (list && (d = readdir(list))) {
    if (d->d_name[0] == '.' || !strstr(d->d_name, ".json")) continue;
    snprintf(path, sizeof path, "%s/%s", dir, d->d_name);
    check_wire(path, file, count);
  }
  if (list) closedir(list);
}

static void test_wire(void) {
  const char *shared = check_shared();
  char dir[900];
  struct dirent *d;
  np_buf file;
  int count = 0;
  if (!shared) {
    check_skip("requests of real clients", "the shared data is not here");
    return;
  }
  np_buf_init(&file, &np_alloc_libc);
  snprintf(dir, sizeof dir, "%s/wire", shared);
  DIR *list = opendir(dir);
  while (list && (d = readdir(list))) {
    if (d->d_name[0] == '.') continue;
    snprintf(dir, sizeof dir, "%s/wire/%.200s", shared, d->d_name);
    check_folder(dir, &file, &count);
  }
  if (list) closedir(list);
  fprintf(stderr, "%d requests passed through\n", count);
  CHECK("there are some of OpenAI's", count >= 15);
  np_buf_free(&file);
}

/* ---- answers ---- */

static const char output[] =
    "{'id':'resp_1','object':'response','error':null,'output':["
    "{'id':'rs_1','type':'reasoning','summary':[],'encrypted_content':'gAAAA=='},"
    "{'id':'msg_1','type':'message','status':'completed','role':'assistant','content':["
    "{'type':'output_text','text':'I look.','annotations':[]}]},"
    "{'id':'fc_1','type':'function_call','status':'completed','call_id':'call_1',"
    "'name':'read','arguments':'{\\'path\\':\\'a.c\\'}'},"
    "{'id':'ct_1','type':'custom_tool_call','call_id':'call_2','name':'patch',"
    "'input':'*** x'}],'usage':{'input_tokens':120,'output_tokens':9}}";

static const char candidates[] =
    "{'candidates':[{'content':{'parts':[{'text':'I look.','thought':true},"
    "{'functionCall':{'name':'read','args':{'path':'a.c'}},'thoughtSignature':'Cr4B=='},"
    "{'functionCall':{'name':'read','args':{'path':'b.c'}}}],'role':'model'},"
    "'finishReason':'STOP','index':0}],'usageMetadata':{'promptTokenCount':120}}";

/* The arguments or texts of all calls, in the order in which they are handed out. */
static int answer_calls(neap_session *s, const char *arguments[]) {
  neap_call c;
  int count = 0;
  for (; neap_next_call(s, &c); count++) {
    CHECK("calls come in their order, their arguments as they are",
          arguments[count] && np_str_eq(c.arguments, np_str_cstr(arguments[count])));
    CHECK("the host runs it", neap_handle(s, &c) == 1);
    CHECK("its result is taken", neap_append_result(s, &c, NP_LIT("ok")) == NEAP_OK);
  }
  return count;
}

static void test_output(const char *store) {
  neap *engine = engine_open(store);
  neap_session *s = session_open(engine, "out", NULL, 100000, "responses");
  const char *calls[] = {"{\"path\":\"a.c\"}", "*** x", NULL};
  append(s, "{'role':'user','content':'Look.'}");
  prompt(s);
  CHECK("an output is taken", neap_append_response(s, json(output)) == NEAP_OK);
  CHECK("it has two calls", answer_calls(s, calls) == 2);
  np_buf first;
  np_buf_init(&first, &np_alloc_libc);
  np_buf_add(&first, prompt(s));
  neap_str body = np_buf_str(&first);
  CHECK("items go back as they came",
        has(body, "{\"id\":\"rs_1\",\"type\":\"reasoning\",\"summary\":[],"
                  "\"encrypted_content\":\"gAAAA==\"},{\"id\":\"msg_1\""));
  CHECK("results are of their calls' kinds",
        has(body,
            "{\"type\":\"function_call_output\",\"call_id\":\"call_1\",\"output\":"
            "\"ok\"},{\"type\":\"custom_tool_call_output\",\"call_id\":\"call_2\""));
  neap_session_close(s);
  s = session_open(engine, "out", NULL, 100000, "responses");
  CHECK("resumed, it goes on with the same bytes", np_str_eq(prompt(s), body));
  neap_session_close(s);
  neap_close(engine);
  np_buf_free(&first);
}

static void test_candidates(void) {
  neap_session *s = session_open(n, "can", NULL, 100000, "gemini");
  const char *calls[] = {"{\"path\":\"a.c\"}", "{\"path\":\"b.c\"}", NULL};
  append(s, "{'role':'user','parts':[{'text':'Look.'}]}");
  prompt(s);
  CHECK("a candidate is taken", neap_append_response(s, json(candidates)) == NEAP_OK);
  CHECK("it has two calls", answer_calls(s, calls) == 2);
  neap_str body = prompt(s);
  CHECK("signatures go back as they came",
        has(body, "},\"thoughtSignature\":\"Cr4B==\"}"));
  CHECK("responses stand in the next turn, in order",
        has(body, "]},{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"name\":"
                  "\"read\",\"response\":{\"output\":\"ok\"}}},{\"functionResponse\""));
  neap_session_close(s);
}

/* After a change of provider: what cannot pass is left out, and the account says how much. */
static void test_left_out(void) {
  neap_session *s = session_open(n, "moved", NULL, 100000, "gemini");
  append(s, "{'role':'user','content':'Look.'}");
  append(s, "{'type':'reasoning','summary':[],'encrypted_content':'gAAA'}");
  append(s, "{'type':'message','role':'assistant','content':[{'type':'output_text',"
            "'text':'ok'}]}");
  append(s, "{'type':'compaction','encrypted_content':'gB'}");
  append(s, "{'role':'user','content':'Go on.'}");
  neap_str body = prompt(s);
  CHECK("it is not there", !has(body, "gAAA") && !has(body, "gB") && has(body, "ok"));
  CHECK("the account says so", number(account(s), "left_out") == 2);
  neap_session_close(s);
  s = session_open(n, "cut", NULL, 100000, "responses");
  append(s, "{'role':'user','content':'Look.'}");
  append(s, "{'type':'reasoning','summary':[],'encrypted_content':'gAAA'}");
  append(s, "{'role':'user','content':'Go on.'}");
  CHECK("reasoning that led to nothing", !has(prompt(s), "gAAA"));
  CHECK("is told too", number(account(s), "left_out") == 1);
  neap_session_close(s);
  s = session_open(n, "unsigned", NULL, 100000, "anthropic");
  append(s, "{'role':'user','content':'Look.'}");
  append(s, "{'role':'assistant','content':[{'type':'thinking','thinking':'hm'},"
            "{'type':'text','text':'ok'}]}");
  append(s, "{'role':'user','content':'Go on.'}");
  body = prompt(s);
  CHECK("so is a thought that nobody signed",
        !has(body, "hm") && has(body, "ok") && number(account(s), "left_out") == 1);
  neap_session_close(s);
}

/* What is no answer leaves no trace. */
static void test_refused(void) {
  static const char *const wrong[] = {
      "{'output':[]}",
      "{'candidates':[]}",
      "{'candidates':[{'finishReason':'SAFETY'}]}",
      "{'error':{'message':'no'}}",
      "{}",
      "{'output':[{'type':'message','role':'assistant','content':'a'},{'type':5}]}",
      "{'output':[{'role':'assistant','content':'a'},{'type':'function_call'}]}"};
  neap_session *s = session_open(n, "bad", NULL, 100000, "responses");
  np_buf before;
  np_buf_init(&before, &np_alloc_libc);
  append(s, "{'role':'user','content':'Look.'}");
  np_buf_add(&before, prompt(s));
  for (size_t i = 0; i < NP_COUNT(wrong); i++) {
    CHECK("it is refused", neap_append_response(s, json(wrong[i])) == NEAP_E_SHAPE);
    CHECK("and nothing of it is kept", np_str_eq(prompt(s), np_buf_str(&before)));
  }
  neap_session_close(s);
  np_buf_free(&before);
}

/* A host's members that the engine writes itself. */
static void test_members(void) {
  static const char *const ours[] = {"{'messages':[]}", "{'input':'x'}",
                                     "{'contents':[]}", "{'tools':[]}"};
  neap_session *s = session_open(n, "members", NULL, 100000, "gemini");
  for (size_t i = 0; i < NP_COUNT(ours); i++)
    CHECK("they are refused", neap_set_request(s, json(ours[i])) == NEAP_E_SHAPE);
  neap_session_close(s);
}

int main(void) {
  dir_make();
  np_vocab *v = golden_vocab("o200k_base");
  if (!v) return check_done();
  n = engine_open(NULL);
  test_bodies(v, "openai", 4);
  test_bodies(v, "responses", 20);
  test_bodies(v, "anthropic", 5);
  test_bodies(v, "gemini", 26);
  test_many_items(v);
  test_wire();
  test_output(dir_path("out.db"));
  test_candidates();
  test_left_out();
  test_refused();
  test_members();
  neap_close(n);
  np_vocab_free(v);
  np_buf_free(&made);
  dir_remove();
  return check_done();
}
