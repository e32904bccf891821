/*
** The Chat Completions form, byte by byte: what stays as it came, what a provider would refuse
** and how it goes out instead, marks and notices. next: test_openai_count.c
*/
#include "golden.h"

typedef struct history_case {
  const char *what, *history, *changes, *want;
} history_case;

#define ASK "{'role':'user','content':'go'}\n"
#define ASKED "{'role':'user','content':'go'}"
#define CALL(id)                                                                         \
  "{'id':'" id "','type':'function','function':{'name':'bash','arguments':'{}'}}"
#define LONG                                                                             \
  "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi " \
  "rho "
#define FAR LONG LONG LONG LONG

static const history_case bodies[] = {
    {"odd bytes stay as they came",
     "{ 'role' : 'user',  'content':'a\\u0000\\/\\u00e9\\ud83d\\ude00' "
     ",'n':1.0,'big':9007199254740993, 'n':1E400 }\n",
     "",
     "{ 'role' : 'user',  'content':'a\\u0000\\/\\u00e9\\ud83d\\ude00' "
     ",'n':1.0,'big':9007199254740993, 'n':1E400 }"},
    {"escaped member names are known", "{'\\u0072ole':'user','content':'x'}\n", "",
     "{'\\u0072ole':'user','content':'x'}"},
    {"a message without text is left out",
     ASK "{'role':'user','content':''}\n{'role':'assistant','content':''}\n", "", ASKED},
    {"a message without parts is left out", ASK "{'role':'user','content':[]}\n", "",
     ASKED},
    {"an empty part is left out",
     "{'role':'user', 'content':[ {'type':'text','text':''}, {'type':'text' ,'text':'a'} "
     "]}\n",
     "", "{'role':'user','content':[{'type':'text' ,'text':'a'}]}"},
    {"blank text beside calls is omitted",
     ASK "{'role':'assistant','content':'','tool_calls':[" CALL(
         "c") "]}\n"
              "{'role':'tool','tool_call_id':'c','content':'r'}\n",
     "",
     ASKED ",{'role':'assistant','tool_calls':[" CALL(
         "c") "]},{'role':'tool','tool_call_id':'c','content':'r'}"},
    {"an empty list beside calls is omitted",
     ASK "{'role':'assistant','content':[],'tool_calls':[" CALL(
         "c") "]}\n"
              "{'role':'tool','tool_call_id':'c','content':'r'}\n",
     "",
     ASKED ",{'role':'assistant','tool_calls':[" CALL(
         "c") "]},{'role':'tool','tool_call_id':'c','content':'r'}"},
    {"a null beside calls stays",
     ASK "{'role':'assistant','content':null,'tool_calls':[" CALL(
         "c") "]}\n"
              "{'role':'tool','tool_call_id':'c','content':'r'}\n",
     "",
     ASKED ",{'role':'assistant','content':null,'tool_calls':[" CALL(
         "c") "]},"
              "{'role':'tool','tool_call_id':'c','content':'r'}"},
    {"also in a message that is written anew",
     ASK "{'role':'assistant','content':null,'reasoning':'r','tool_calls':[" CALL(
         "c") "]}\n{'role':'tool','tool_call_id':'c','content':'r'}\n",
     "",
     ASKED ",{'role':'assistant','content':null,'tool_calls':[" CALL(
         "c") "]},"
              "{'role':'tool','tool_call_id':'c','content':'r'}"},
    {"half a surrogate pair is replaced, and only it",
     "{'role':'user', 'content':'a\\ud83d\\u0041\\ud83d\\ude00', 'k\\udc00':1.0}\n", "",
     "{'role':'user','content':'a\\ufffd\\u0041\\ud83d\\ude00','k\\ufffd':1.0}"},
    {"a call without a result gets one that says so",
     ASK "{'role':'assistant','content':'x','tool_calls':[" CALL("c") "]}\n", "",
     ASKED ",{'role':'assistant','content':'x','tool_calls':[" CALL(
         "c") "]},"
              "{'role':'tool','tool_call_id':'c','content':'[neap\xC2\xB7"
              "aaaa 3: no result was recorded for this call]'}"},
    {"beside one that has its result",
     ASK "{'role':'assistant','content':null,'tool_calls':[" CALL("a") "," CALL(
         "b") "]}\n{'role':'tool','tool_call_id':'b','content':'r'}\n{'role':'user','"
              "content':'u'}\n",
     "",
     ASKED ",{'role':'assistant','content':null,'tool_calls':[" CALL("a") "," CALL(
         "b") "]},"
              "{'role':'tool','tool_call_id':'a','content':'[neap\xC2\xB7"
              "aaaa 2: no result was recorded for this call]'},"
              "{'role':'tool','tool_call_id':'b','content':'r'},{'role':'user','content':"
              "'u'}"},
    {"calls and results of empty ids get ids",
     ASK "{'role':'assistant','content':null,'tool_calls':[" CALL("") "," CALL(
         "") "," CALL("c") "]}\n"
                           "{'role':'tool','tool_call_id':'','content':'r'}\n"
                           "{'role':'tool','tool_call_id':'c','content':'s'}\n",
     "",
     ASKED ",{'role':'assistant','content':null,'tool_calls':[" CALL("neap_2") "," CALL(
         "neap_3") "," CALL("c") "]},"
                                 "{'role':'tool','tool_call_id':'neap_3',"
                                 "'content':'[neap·aaaa 3: no result was recorded for "
                                 "this call]'},"
                                 "{'role':'tool','tool_call_id':'neap_2','content':'r'},"
                                 "{'role':'tool','tool_call_id':'c','content':'s'}"},
    {"the older form too",
     ASK "{'role':'assistant','content':null,'function_call':{'name':'f','arguments':'{}'"
         "}}\n",
     "",
     ASKED
     ",{'role':'assistant','content':null,'function_call':{'name':'f','arguments':'{}'}},"
     "{'role':'function','name':'f','content':'[neap\xC2\xB7"
     "aaaa 2: no result was recorded for this call]'}"},
    {"a result without its call is user text",
     ASK "{'role':'tool','tool_call_id':'q','content':'out\\n2'}\n", "",
     ASKED ",{'role':'user','content':'[neap\xC2\xB7"
           "aaaa 2: a result whose call is not in the history]\\nout\\n2'}"},
    {"a late result stands with its batch",
     ASK "{'role':'assistant','content':null,'tool_calls':[" CALL(
         "a") "]}\n"
              "{'role':'user','content':'wait'}\n{'role':'tool','tool_call_id':'a','"
              "content':'r'}\n",
     "",
     ASKED ",{'role':'assistant','content':null,'tool_calls':[" CALL(
         "a") "]},"
              "{'role':'tool','tool_call_id':'a','content':'r'},{'role':'user','content':"
              "'wait'}"},
    {"results stand in the order they came",
     ASK "{'role':'assistant','content':null,'tool_calls':[" CALL("a") "," CALL(
         "b") "]}\n{'role':'tool','tool_call_id':'b','content':'2'}\n{'role':'tool','"
              "tool_call_id':'a','content':'1'}\n",
     "",
     ASKED ",{'role':'assistant','content':null,'tool_calls':[" CALL("a") "," CALL(
         "b") "]},"
              "{'role':'tool','tool_call_id':'b','content':'2'},{'role':'tool','tool_"
              "call_id':'a','content':'1'}"},
    {"a result's null and empty list become empty text",
     ASK "{'role':'assistant','content':null,'tool_calls':[" CALL("a") "," CALL(
         "b") "]}\n{'role':'tool','tool_call_id':'a','content':null}\n"
              "{'tool_call_id':'b','role':'tool','content':[]}\n",
     "",
     ASKED ",{'role':'assistant','content':null,'tool_calls':[" CALL("a") "," CALL(
         "b") "]},"
              "{'role':'tool','tool_call_id':'a','content':''},{'tool_call_id':'b','role'"
              ":'tool','content':''}"},
    {"a result without content gets an empty one",
     ASK "{'role':'assistant','content':null,'tool_calls':[" CALL(
         "a") "]}\n{'role':'tool','tool_call_id':'a'}\n",
     "",
     ASKED ",{'role':'assistant','content':null,'tool_calls':[" CALL(
         "a") "]},"
              "{'role':'tool','tool_call_id':'a','content':''}"},
    {"texts of a result's list stay",
     ASK "{'role':'assistant','content':null,'tool_calls':[" CALL(
         "a") "]}\n"
              "{'role':'tool','tool_call_id':'a','content':[ {'type':'text','text':'a', "
              "'n':1.0} ]}\n",
     "",
     ASKED ",{'role':'assistant','content':null,'tool_calls':[" CALL(
         "a") "]},"
              "{'role':'tool','tool_call_id':'a','content':[ {'type':'text','text':'a', "
              "'n':1.0} ]}"},
    {"empty texts and images of a result's list do not",
     ASK "{'role':'assistant','content':null,'tool_calls':[" CALL(
         "a") "]}\n{'role':'tool','tool_call_id':'a','content':[{'type':'text','text':''}"
              ",{'type':'image_url','image_url':{'url':"
              "'data:x'}},{'type':'text','text':'a'}]}\n",
     "",
     ASKED ",{'role':'assistant','content':null,'tool_calls':[" CALL(
         "a") "]},"
              "{'role':'tool','tool_call_id':'a','content':[{'type':'text','text':"
              "'" NP_RESULT_OMITTED "'},"
              "{'type':'text','text':'a'}]}"},
    {"members of the native form are left out",
     ASK "{'role':'assistant','content':'a','reasoning':'r','ts':5,'meta':{},"
         "'reasoning_content':'r','x':1.0}\n",
     "", ASKED ",{'role':'assistant','content':'a','x':1.0}"},
    {"a refusal goes out",
     ASK "{'role':'assistant','content':null,'refusal':'I cannot'}\n", "",
     ASKED ",{'role':'assistant','content':null,'refusal':'I cannot'}"},
    {"a name keeps its bytes",
     "{'role':'user','name':'J\\u00fcrgen\\n]','content':'x'}\n", "",
     "{'role':'user','name':'J\\u00fcrgen\\n]','content':'x'}"},
    /* ---- marks ---- */
    {"a masked result",
     ASK "{'role':'assistant','content':null,'tool_calls':[{'id':'c','type':'function','"
         "function':"
         "{'name':'bash','arguments':'{\\'command\\':\\'make \\\\\\'x\\\\\\'\\'}'}}]}\n"
         "{'role':'tool', 'tool_call_id':'c','content':'" FAR "'}\n",
     "m3",
     ASKED ",{'role':'assistant','content':null,'tool_calls':[{'id':'c','type':'function'"
           ",'function':"
           "{'name':'bash','arguments':'{\\'command\\':\\'make \\\\\\'x\\\\\\'\\'}'}}]},"
           "{'role':'tool','tool_call_id':'c','content':'[neap\xC2\xB7"
           "aaaa 3: bash \\'make @x@\\', step 1, 85 tokens not shown]'}"},
    {"a reference", ASK "{'role':'assistant','content':'" FAR "'}\n", "r2",
     ASKED ",{'role':'assistant','content':'[neap\xC2\xB7"
           "aaaa 2: assistant text, step 1, 85 tokens not shown]\\n" LONG
           "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu "
           "xi\xE2\x80\xA6'}"},
    {"a renewed key", ASK "{'role':'assistant','content':'" FAR "'}\n", "m2 k",
     ASKED ",{'role':'assistant','content':'[neap\xC2\xB7"
           "bbbb 2: assistant text, step 1, 85 tokens not shown]'}"},
    {"a masked image",
     "{'role':'user','content':[{'type':'text','text':'see'},{'type':'image_url','image_"
     "url':"
     "{'url':'https://x/y.png'}}]}\n",
     "m2",
     "{'role':'user','content':[{'type':'text','text':'see'},{'type':'text','text':"
     "'[neap\xC2\xB7"
     "aaaa 2: image, step 0, 1,445 tokens not shown]'}]}"},
    {"masked parts keep their other members",
     ASK "{'role':'assistant','content':[{'type':'refusal','refusal':'" FAR
         "','n':1.0}, {'n':2.0,'text':'" FAR "','type':'text'}]}\n",
     "m2 m3",
     ASKED ",{'role':'assistant','content':[{'type':'refusal','refusal':'[neap\xC2\xB7"
           "aaaa 2: assistant text, step 1, "
           "85 tokens not shown]','n':1.0},{'n':2.0,'text':'[neap\xC2\xB7"
           "aaaa 3: assistant text, step 1, 85 tokens not "
           "shown]','type':'text'}]}"},
    {"a dropped text beside its calls",
     ASK "{'role':'assistant','content':'think','tool_calls':[" CALL(
         "c") "]}\n"
              "{'role':'tool','tool_call_id':'c','content':'r'}\n",
     "d2",
     ASKED ",{'role':'user','content':'[neap\xC2\xB7"
           "aaaa step 1 not shown: 1 entry, 1 tokens]'},"
           "{'role':'assistant','tool_calls':[" CALL(
               "c") "]},{'role':'tool','tool_call_id':'c','content':'r'}"},
    {"dropped calls beside their text",
     ASK "{'role':'assistant','content':'text','tool_calls':[" CALL(
         "c") "]}\n"
              "{'role':'tool','tool_call_id':'c','content':'r'}\n",
     "d3",
     ASKED ",{'role':'assistant','content':'text'},"
           "{'role':'user','content':'[neap\xC2\xB7"
           "aaaa step 1 not shown: 2 entries, 6 tokens]'}"},
    {"neighbours share one notice",
     ASK "{'role':'assistant','content':'a'}\n{'role':'user','content':'b'}\n"
         "{'role':'assistant','content':'c'}\n{'role':'user','content':'d'}\n",
     "d2 d4 d3",
     ASKED ",{'role':'user','content':'[neap\xC2\xB7"
           "aaaa steps 1\xE2\x80\x93"
           "2 not shown: 3 entries, 3 tokens]'},"
           "{'role':'user','content':'d'}"},
    {"what is restored has its bytes again",
     ASK "{'role':'assistant', 'content':'a'}\n{'role':'user','content':'b'}\n",
     "d2 d3 x2 x3",
     ASKED ",{'role':'assistant', 'content':'a'},{'role':'user','content':'b'}"},
    {"a doubled id of one message becomes another, its result's and stub's too",
     ASK "{'role':'assistant','tool_calls':[" CALL("c") "," CALL("c") "," CALL(
         "c") "]}\n"
              "{'role':'tool','tool_call_id':'c','content':'1'}\n"
              "{'role':'tool','tool_call_id':'c','content':'2'}\n",
     "",
     ASKED ",{'role':'assistant','tool_calls':[" CALL("c") "," CALL("neap_3") "," CALL(
         "neap_4") "]},{'role':'tool','tool_call_id':'neap_4','content':'[neap\xC2\xB7"
                   "aaaa 4: no result was recorded for this call]'},"
                   "{'role':'tool','tool_call_id':'c','content':'1'},"
                   "{'role':'tool','tool_call_id':'neap_3','content':'2'}"},
    {"an id that only made ones have becomes one, so that no two can meet",
     ASK "{'role':'assistant','tool_calls':[" CALL("") "," CALL(
         "neap_2") "]}\n"
                   "{'role':'tool','tool_call_id':'','content':'1'}\n"
                   "{'role':'tool','tool_call_id':'neap_2','content':'2'}\n",
     "",
     ASKED ",{'role':'assistant','tool_calls':[" CALL("neap_2") "," CALL(
         "neap_3") "]},{'role':'tool','tool_call_id':'neap_2','content':'1'},"
                   "{'role':'tool','tool_call_id':'neap_3','content':'2'}"},
    {"doubled members are all replaced",
     ASK "{'role':'assistant','content':'" FAR "','content':'" FAR "'}\n", "m2",
     ASKED ",{'role':'assistant','content':'[neap\xC2\xB7"
           "aaaa 2: assistant text, step 1, 85 tokens not shown]',"
           "'content':'[neap\xC2\xB7"
           "aaaa 2: assistant text, step 1, 85 tokens not shown]'}"},
};

static void fill_want(np_buf *b, const char *want) {
  np_buf inner;
  np_buf_init(&inner, &np_alloc_libc);
  golden_json(&inner, want);
  for (size_t i = 0; i < inner.n; i++) {
    if (inner.p[i] == '@') inner.p[i] = '\'';
  }
  np_buf_clear(b);
  np_buf_adds(b, "{\"messages\":[");
  np_buf_add(b, np_buf_str(&inner));
  np_buf_adds(b, "]}");
  np_buf_free(&inner);
}

static void test_bodies(const np_vocab *v) {
  np_buf want;
  np_buf_init(&want, &np_alloc_libc);
  for (size_t i = 0; i < NP_COUNT(bodies); i++) {
    golden g;
    golden_open(&g, v, "openai", 100000);
    golden_history(&g, bodies[i].history);
    golden_change(&g, bodies[i].changes);
    fill_want(&want, bodies[i].want);
    golden_same(bodies[i].what, golden_body(&g), np_buf_str(&want));
    golden_close(&g);
  }
  np_buf_free(&want);
}

/* ---- heads ---- */

typedef struct top {
  const char *tools, *request, *want;
} top;

static const top tops[] = {
    {"", "", "{'messages':["},
    {"", "{}", "{'messages':["},
    {"", "{ }", "{ 'messages':["},
    {"[]", "", "{'messages':["},
    {"[ ]", "{'n' : 1.0}", "{'n' : 1.0,'messages':["},
    {"[ {'x':1.0} ]", "{'model':'m','stream':true}",
     "{'model':'m','stream':true,'tools':[ {'x':1.0} ],'messages':["},
    {"[{'\\ud800':1}]", "{'a':'\\udc00'}",
     "{'a':'\\ufffd','tools':[{'\\ufffd':1}],'messages':["},
};

static void test_tops(const np_vocab *v) {
  for (size_t i = 0; i < NP_COUNT(tops); i++) {
    golden g;
    np_buf tools, request, want;
    np_buf_init(&tools, &np_alloc_libc);
    np_buf_init(&request, &np_alloc_libc);
    np_buf_init(&want, &np_alloc_libc);
    golden_open(&g, v, "openai", 100000);
    np_view_set_head(&g.pack.view, golden_json(&tools, tops[i].tools),
                     golden_json(&request, tops[i].request), false);
    golden_history(&g, ASK);
    np_str body = golden_body(&g);
    golden_json(&want, tops[i].want);
    golden_same(tops[i].tools, np_str_cut(body, 0, want.n), np_buf_str(&want));
    np_json root;
    CHECK("a body is JSON", np_json_check(body, &root, NULL) == NEAP_OK);
    golden_close(&g);
    np_buf_free(&tools);
    np_buf_free(&request);
    np_buf_free(&want);
  }
}

/* With the engine's tools on offer marks say how to get it back. */
static void test_how(const np_vocab *v) {
  golden g;
  np_buf want;
  np_buf_init(&want, &np_alloc_libc);
  golden_open(&g, v, "openai", 100000);
  np_view_set_head(&g.pack.view, NP_LIT(""), NP_LIT(""), true);
  golden_history(&g, ASK "{'role':'assistant','content':'" FAR
                         "'}\n{'role':'user','content':'a'}\n");
  golden_change(&g, "m2 d3");
  fill_want(&want, ASKED ",{'role':'assistant','content':'[neap\xC2\xB7"
                         "aaaa 2: assistant text, step 1, 85 tokens not "
                         "shown; neap_read(2)]'},{'role':'user','content':'[neap\xC2\xB7"
                         "aaaa step 1 not shown: 1 entry, 1 tokens; "
                         "neap_recall(\\'words\\')]'}");
  golden_same("marks with a how", golden_body(&g), np_buf_str(&want));
  golden_close(&g);
  np_buf_free(&want);
}

/* ---- trims ---- */

static void add_long_call(golden *g) {
  np_buf args, b;
  np_buf_init(&args, &np_alloc_libc);
  np_buf_init(&b, &np_alloc_libc);
  np_buf_adds(&args, "{ \"path\":\"a.c\", \"text\" : \"");
  for (int i = 0; i < 300; i++) np_buf_adds(&args, "line \\\"q\\\" \\u00e9 \\\\ end\\n");
  np_buf_adds(&args, "\", \"n\":9007199254740993, \"deep\":{\"x\":1.0}}");
  np_buf_adds(&b, "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":"
                  "\"c\",\"type\":\"function\","
                  "\"function\":{\"strict\":true,\"arguments\":");
  np_json_quote(&b, np_buf_str(&args));
  np_buf_adds(&b, ",\"name\":\"write\"}}]}");
  golden_add(g, np_buf_str(&b));
  np_buf_free(&args);
  np_buf_free(&b);
}

static void test_trimmed_call(const np_vocab *v) {
  for (int tokens = 60; tokens < 1500; tokens += 180) {
    golden g;
    np_json root, list, call, f, args, m = {0};
    int64_t counted;
    golden_open(&g, v, "openai", 100000);
    golden_history(&g, ASK);
    add_long_call(&g);
    golden_history(&g, "{'role':'tool','tool_call_id':'c','content':'ok'}\n");
    int64_t before = np_pack_tokens(&g.pack);
    np_pack_retrim(&g.pack, 2, tokens, golden_reason);
    np_str body = golden_body(&g);
    CHECK("it is cut", np_pack_tokens(&g.pack) < before &&
                           np_view_at(&g.pack.view, 2)->rung == NP_TRIMMED);
    CHECK("the body is valid", openai_check(v, body, 0, &counted) == NULL);
    CHECK("and counts as the account says", counted == np_pack_tokens(&g.pack));
    np_json_check(body, &root, NULL);
    np_json_get(root, "messages", &list);
    np_json_iter it = np_json_each(list);
    np_json_next(&it, NULL, &m);
    np_json_next(&it, NULL, &m);
    np_json_get(m, "tool_calls", &list);
    it = np_json_each(list);
    np_json_next(&it, NULL, &call);
    np_json_get(call, "function", &f);
    np_json_get(f, "arguments", &args);
    np_buf text;
    np_buf_init(&text, &np_alloc_libc);
    np_json_text(args, &text);
    CHECK("arguments stay an object",
          np_json_check(np_buf_str(&text), &args, NULL) == NEAP_OK &&
              args.type == NP_JSON_OBJECT);
    np_json_get(args, "n", &m);
    CHECK("numbers keep their digits", np_str_is(m.raw, "9007199254740993"));
    np_json_get(args, "deep", &m);
    CHECK("other members keep their bytes", np_str_is(m.raw, "{\"x\":1.0}"));
    np_json_get(args, "path", &m);
    CHECK("short strings stay whole", np_str_is(m.raw, "\"a.c\""));
    np_json_get(args, "text", &m);
    CHECK("the long one has a mark", np_str_find(m.raw,
                                                 NP_LIT("neap\xC2\xB7"
                                                        "aaaa 2:"),
                                                 0) != SIZE_MAX);
    CHECK("no key byte is left", memchr(body.p, NP_KEY_BYTE, body.n) == NULL);
    np_json_get(f, "strict", &m);
    CHECK("members beside the arguments stay", np_str_is(m.raw, "true"));
    np_buf_free(&text);
    golden_close(&g);
  }
}

/* A list of many parts that is written anew: one walk, not one for each part. */
static void test_many_parts(const np_vocab *v) {
  enum { N = 60000 };
  golden g;
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  np_buf_adds(&b, "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"\"}");
  for (int i = 0; i < N; i++) np_buf_adds(&b, ",{\"type\":\"text\",\"text\":\"a\"}");
  np_buf_adds(&b, "]}");
  golden_open(&g, v, "openai", 1000000);
  golden_add(&g, np_buf_str(&b));
  np_pack_begin(&g.pack, NULL);
  size_t around = strlen("{\"messages\":[]}"),
         gone = strlen("{\"type\":\"text\",\"text\":\"\"},");
  CHECK("all but the empty one go out", golden_body(&g).n == b.n + around - gone);
  golden_close(&g);
  np_buf_free(&b);
}

int main(void) {
  np_vocab *v = golden_vocab("o200k_base");
  if (!v) return check_done();
  test_bodies(v);
  test_tops(v);
  test_how(v);
  test_trimmed_call(v);
  test_many_parts(v);
  np_vocab_free(v);
  return check_done();
}
