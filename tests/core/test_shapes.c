/*
** Messages of every provider: whose form they have, what parts they become, what makes up a
** step and an atom, and what is refused. In JSON written here ' stands for ".
** next: test_openai.c
*/
#include "check.h"
#include "log/log.h"

static np_log lg;
static np_err err;
static np_buf json;

static void fresh(np_shape native) {
  np_log_free(&lg);
  np_log_init(&lg, &np_alloc_libc, NULL);
  lg.native = native;
}

static neap_rc add(const char *text) {
  size_t index = 0;
  err = (np_err){0};
  np_buf_clear(&json);
  for (; *text; text++) np_buf_addc(&json, *text == '\'' ? '"' : *text);
  return np_log_append(&lg, np_buf_str(&json), &index, &err);
}

static const np_entry *entry(int64_t id) {
  static const np_entry none = {.kind = NP_KIND_COUNT};
  const np_entry *en = np_log_entry(&lg, id);
  return en ? en : &none;
}

/* shape, role, then one line a part: kind|text|tool|call_id|path|flags (E empty, F failed, O
** opaque, N by name). */
static void describe(np_buf *out) {
  const np_message *m = &lg.messages[0];
  np_buf_clear(out);
  np_buf_adds(out, np_shape_name(m->shape));
  np_buf_addc(out, ' ');
  np_buf_adds(out, np_role_name(m->role));
  np_buf_addc(out, '\n');
  for (size_t i = 0; i < lg.entry_count; i++) {
    const np_entry *en = &lg.entries[i];
    np_str field[] = {np_str_cstr(np_kind_name(en->kind)), en->text, en->tool,
                      en->call_id, en->path};
    for (size_t j = 0; j < NP_COUNT(field); j++) {
      for (size_t k = 0; k < field[j].n; k++)
        np_buf_addc(out, field[j].p[k] == '"' ? '\'' : field[j].p[k]);
      np_buf_addc(out, '|');
    }
    np_buf_adds(out, en->empty ? "E" : "");
    np_buf_adds(out, en->is_error ? "F" : "");
    np_buf_adds(out, en->opaque ? "O" : "");
    np_buf_adds(out, en->by_name ? "N\n" : "\n");
  }
}

typedef struct form {
  const char *what;
  np_shape native;
  const char *json, *want;
} form;

#define CHAT NP_SHAPE_CHAT
#define ANTH NP_SHAPE_ANTHROPIC
#define RESP NP_SHAPE_RESPONSES
#define GEM NP_SHAPE_GEMINI

static const form forms[] = {
    /* a plain text is of the session's form, where that has it */
    {"text in chat", CHAT, "{'role':'user','content':'a'}", "chat user\nuser|a||||\n"},
    {"text in anthropic", ANTH, "{'role':'user','content':'a'}",
     "anthropic user\nuser|a||||\n"},
    {"text in responses", RESP, "{'role':'user','content':'a'}",
     "responses user\nuser|a||||\n"},
    {"text in gemini", GEM, "{'role':'user','content':'a'}", "chat user\nuser|a||||\n"},
    {"a list of texts in responses", RESP,
     "{'role':'user','content':[{'type':'text','text':'a'}]}", "chat user\nuser|a||||\n"},
    {"a developer in anthropic", ANTH, "{'role':'developer','content':'a'}",
     "chat developer\nsystem|a||||\n"},
    {"a system in anthropic", ANTH,
     "{'role':'system','content':[{'type':'text','text':'a','cache_control':{}}]}",
     "anthropic system\nsystem|a||||\n"},
    {"a chat's result in anthropic", ANTH,
     "{'role':'tool','tool_call_id':'c','content':'x'}", "chat tool\nresult|x||c||\n"},
    {"a name is chat's", ANTH, "{'role':'user','name':'ann','content':'x'}",
     "chat user\nuser|x||||\n"},

    /* Anthropic */
    {"blocks of an answer", CHAT,
     "{'role':'assistant','content':[{'type':'thinking','thinking':'hm','signature':'s'},"
     "{'type':'redacted_thinking','data':'zz'},{'type':'text','text':'ok'},"
     "{'type':'tool_use','id':'t1','name':'read','input':{'path':'a/b.c','n':1.0}}]}",
     "anthropic assistant\nthought|hm||||\nthought|||||\ntext|ok||||\n"
     "call|{'path':'a/b.c','n':1.0}|read|t1|a/b.c|\n"},
    {"results and a text", CHAT,
     "{'role':'user','content':[{'type':'tool_result','tool_use_id':'t1','content':'x',"
     "'is_error':true},{'type':'tool_result','tool_use_id':'t2','content':["
     "{'type':'text','text':'a'},{'type':'text','text':'b'}]},"
     "{'type':'tool_result','tool_use_id':'t3'},{'type':'text','text':'go'}]}",
     "anthropic user\nresult|x||t1||F\nresult|ab||t2||\nresult|||t3||\nuser|go||||\n"},
    {"an image in a result", CHAT,
     "{'role':'user','content':[{'type':'tool_result','tool_use_id':'t','content':["
     "{'type':'image','source':{'type':'base64','media_type':'image/png','data':'AA'}}]}"
     "]}",
     "anthropic user\nresult|" NP_RESULT_OMITTED "||t||\n"},
    {"image and documents", CHAT,
     "{'role':'user','content':[{'type':'image','source':{'type':'url','url':'x'}},"
     "{'type':'document','source':{'type':'text','media_type':'text/plain',"
     "'data':'words'}},{'type':'document','source':{'type':'base64','data':'AA'}}]}",
     "anthropic user\nimage|||||\nfile|words||||\nfile|||||\n"},
    {"the provider's own tools", CHAT,
     "{'role':'assistant','content':[{'type':'server_tool_use','id':'s','name':'w',"
     "'input':{}},{'type':'web_search_tool_result','tool_use_id':'s','content':[]}]}",
     "anthropic assistant\n"
     "text|{'type':'server_tool_use','id':'s','name':'w','input':{}}||||O\n"
     "text|{'type':'web_search_tool_result','tool_use_id':'s','content':[]}||||O\n"},
    {"compaction", CHAT,
     "{'role':'assistant','content':[{'type':'compaction','content':'so far'}]}",
     "anthropic assistant\ntext|{'type':'compaction','content':'so far'}||||O\n"},
    {"a block to come", ANTH, "{'role':'assistant','content':[{'type':'dream','x':1.0}]}",
     "anthropic assistant\ntext|{'type':'dream','x':1.0}||||O\n"},
    {"an empty block", ANTH, "{'role':'user','content':[{'type':'text','text':''}]}",
     "anthropic user\nuser|||||E\n"},
    {"nothing said", ANTH, "{'role':'assistant','content':[]}", "anthropic assistant\n"},

    /* Responses */
    {"an item of text", CHAT,
     "{'type':'message','role':'assistant','id':'m','content':["
     "{'type':'output_text','text':'hi','annotations':[]},"
     "{'type':'refusal','refusal':'no'}]}",
     "responses assistant\ntext|hi||||\ntext|no||||\n"},
    {"input parts", CHAT,
     "{'role':'user','content':[{'type':'input_text','text':'a'},"
     "{'type':'input_image','image_url':'x'},{'type':'input_file','file_id':'f'}]}",
     "responses user\nuser|a||||\nimage|||||\n"
     "file|{'type':'input_file','file_id':'f'}||||\n"},
    {"a function's call", CHAT,
     "{'type':'function_call','id':'fc','call_id':'c','name':'read',"
     "'arguments':'{\\'path\\':\\'a/b\\'}'}",
     "responses assistant\ncall|{'path':'a/b'}|read|c|a/b|\n"},
    {"its output", CHAT, "{'type':'function_call_output','call_id':'c','output':'x'}",
     "responses tool\nresult|x||c||\n"},
    {"an output of parts", CHAT,
     "{'type':'function_call_output','call_id':'c','output':["
     "{'type':'input_text','text':'a'},{'type':'input_image','image_url':'x'}]}",
     "responses tool\nresult|a" NP_RESULT_OMITTED "||c||\n"},
    {"a custom tool's call", CHAT,
     "{'type':'custom_tool_call','call_id':'c','name':'patch','input':'*** Begin'}",
     "responses assistant\ncall|*** Begin|patch|c||\n"},
    {"a shell's call", CHAT,
     "{'type':'local_shell_call','call_id':'c','action':{'command':['ls']}}",
     "responses assistant\ncall|{'command':['ls']}|local_shell_call|c||O\n"},
    {"its output", CHAT, "{'type':'local_shell_call_output','call_id':'c','output':'x'}",
     "responses tool\nresult|x||c||O\n"},
    {"reasoning", CHAT,
     "{'type':'reasoning','id':'r','summary':[{'type':'summary_text','text':'a'},"
     "{'type':'summary_text','text':'b'}],'encrypted_content':'zz'}",
     "responses assistant\nthought|ab||||\n"},
    {"reasoning without words", CHAT,
     "{'type':'reasoning','id':'r','summary':[],'encrypted_content':'zz'}",
     "responses assistant\nthought|||||\n"},
    {"compaction", CHAT, "{'type':'compaction','encrypted_content':'zz'}",
     "responses assistant\n"
     "text|{'type':'compaction','encrypted_content':'zz'}||||O\n"},
    {"the provider's own search", CHAT,
     "{'type':'web_search_call','id':'w','status':'completed'}",
     "responses assistant\n"
     "text|{'type':'web_search_call','id':'w','status':'completed'}||||O\n"},

    /* Gemini */
    {"an answer's parts", CHAT,
     "{'role':'model','parts':[{'text':'hm','thought':true},{'text':'ok'},"
     "{'functionCall':{'id':'f','name':'read','args':{'path':'a/b'}},"
     "'thoughtSignature':'s'}]}",
     "gemini assistant\nthought|hm||||\ntext|ok||||\ncall|{'path':'a/b'}|read|f|a/b|\n"},
    {"a call without an id", CHAT,
     "{'role':'model','parts':[{'function_call':{'name':'now'}}]}",
     "gemini assistant\ncall||now|||N\n"},
    {"a response of one text", CHAT,
     "{'role':'user','parts':[{'functionResponse':{'name':'read',"
     "'response':{'output':'x\\ny'}}}]}",
     "gemini user\nresult|x\ny|read|||N\n"},
    {"a response that failed", CHAT,
     "{'role':'user','parts':[{'functionResponse':{'name':'read','id':'f',"
     "'response':{'error':'no','code':5}}}]}",
     "gemini user\nresult|{'error':'no','code':5}|read|f||F\n"},
    {"data", CHAT,
     "{'role':'user','parts':[{'inlineData':{'mimeType':'image/png','data':'AA'}},"
     "{'fileData':{'mimeType':'application/pdf','fileUri':'x'}},{'text':'go'}]}",
     "gemini user\nimage|||||\nfile|||||\nuser|go||||\n"},
    {"a signature alone", CHAT,
     "{'role':'model','parts':[{'text':'','thoughtSignature':'s'},{'text':''}]}",
     "gemini assistant\ntext|||||\ntext|||||E\n"},
    {"code that the provider ran", CHAT,
     "{'role':'model','parts':[{'executableCode':{'code':'1'}}]}",
     "gemini assistant\ntext|{'executableCode':{'code':'1'}}||||O\n"},
    {"no role is the user's", CHAT, "{'parts':[{'text':'a'}]}",
     "gemini user\nuser|a||||\n"},
};

static void test_forms(void) {
  np_buf got;
  np_buf_init(&got, &np_alloc_libc);
  for (size_t i = 0; i < NP_COUNT(forms); i++) {
    fresh(forms[i].native);
    neap_rc rc = add(forms[i].json);
    if (!rc) describe(&got);
    bool ok = !rc && np_str_is(np_buf_str(&got), forms[i].want);
    if (!ok)
      fprintf(stderr, "%s: code %s %s\n  want %s\n  got  %.*s\n", forms[i].what,
              neap_rc_name(rc), err.text, forms[i].want, (int)got.n, got.p ? got.p : "");
    CHECK("a message becomes its shape and parts", ok);
    CHECK("its bytes are kept", rc || np_str_eq(lg.messages[0].raw, np_buf_str(&json)));
  }
  np_buf_free(&got);
}

/* ---- refusals ---- */

typedef struct fault {
  const char *json, *text;
} fault;

static const fault faults[] = {
    {"{'role':'assistant','tool_calls':[],'content':[{'type':'tool_use'}]}",
     "the message is of two forms: \"tool_calls\" is chat, \"tool_use\" is anthropic"},
    {"{'role':'user','parts':[],'content':[{'type':'input_text','text':'a'}]}",
     "\"parts\" is gemini, \"input_text\" is responses"},
    {"{'role':'user','content':[{'type':'image_url'},{'type':'tool_result'}]}",
     "\"image_url\" is chat, \"tool_result\" is anthropic"},
    {"{'role':'tool','content':[{'type':'tool_result'}]}", "needs its tool_call_id"},
    {"{'role':'user','content':[{'type':'tool_use','id':'a','name':'b','input':{}}]}",
     "belongs to an assistant message"},
    {"{'role':'assistant','content':[{'type':'tool_result','tool_use_id':'a'}]}",
     "belongs to a user message"},
    {"{'role':'assistant','content':[{'type':'tool_use','name':'b','input':{}}]}",
     "needs an id"},
    {"{'role':'assistant','content':[{'type':'tool_use','id':'a','input':{}}]}",
     "needs a name"},
    {"{'role':'assistant','content':[{'type':'tool_use','id':'a','name':'b',"
     "'input':'{}'}]}",
     "needs its input as an object"},
    {"{'role':'user','content':[{'type':'tool_result','content':'x'}]}",
     "needs its tool_use_id"},
    {"{'role':'user','content':[{'type':'tool_result','tool_use_id':'a','content':5}]}",
     "must be a string or a list"},
    {"{'role':'user','content':[{'type':'tool_result','tool_use_id':'a','content':["
     "{'type':'tool_result','tool_use_id':'b','content':'x'}]}]}",
     "a tool_result cannot hold a tool_result block"},
    {"{'role':'user','content':[{'type':'tool_result','tool_use_id':'a','content':["
     "{'type':'thinking','thinking':'x','signature':'s'}]}]}",
     "a tool_result cannot hold a thinking block"},
    {"{'type':'function_call','name':'a','arguments':'{}'}", "need their call_id"},
    {"{'type':'function_call','call_id':'a','arguments':'{}'}", "function's name"},
    {"{'type':'function_call','call_id':'a','name':'b','arguments':{}}",
     "must be a string that holds JSON"},
    {"{'type':'function_call_output','call_id':'a'}", "needs its output"},
    {"{'type':'message','content':'x'}", "needs a role"},
    {"{'role':'model','parts':{}}", "parts must be a list"},
    {"{'role':'robot','parts':[]}", "contents are the user's or the model's"},
    {"{'role':'model','parts':[5]}", "a part must be an object"},
    {"{'role':'model','parts':[{'functionCall':{}}]}", "needs its function's name"},
    {"{'role':'user','parts':[{'functionCall':{'name':'a'}}]}", "belongs to the model"},
    {"{'role':'model','parts':[{'functionCall':{'name':'a','args':[]}}]}",
     "args must be an object"},
    {"{'role':'model','parts':[{'functionResponse':{'name':'a'}}]}",
     "belongs to the user"},
    {"{'role':'user','parts':[{'text':5}]}", "needs its text as a string"},
};

static void test_faults(void) {
  for (size_t i = 0; i < NP_COUNT(faults); i++) {
    fresh(CHAT);
    neap_rc rc = add(faults[i].json);
    bool ok = rc == NEAP_E_SHAPE && strstr(err.text, faults[i].text);
    if (!ok) fprintf(stderr, "%s: %s: %s\n", faults[i].json, neap_rc_name(rc), err.text);
    CHECK("a wrong message is refused by name", ok);
    CHECK("it leaves no trace", !lg.message_count && !lg.entry_count && !lg.arena.used);
  }
}

/* ---- steps and atoms ---- */

static void test_items(void) {
  fresh(RESP);
  add("{'role':'user','content':'go'}");
  add("{'type':'reasoning','id':'r','summary':[]}");
  add("{'type':'message','role':'assistant','content':[{'type':'output_text',"
      "'text':'a'}]}");
  add("{'type':'reasoning','id':'s','summary':[]}");
  add("{'type':'function_call','call_id':'c','name':'f','arguments':'{}'}");
  add("{'type':'reasoning','id':'t','summary':[]}");
  add("{'type':'function_call','call_id':'d','name':'f','arguments':'{}'}");
  add("{'type':'function_call_output','call_id':'d','output':'x'}");
  add("{'type':'function_call_output','call_id':'c','output':'y'}");
  add("{'type':'reasoning','id':'u','summary':[]}");
  add("{'type':'message','role':'assistant','content':[{'type':'output_text',"
      "'text':'b'}]}");
  CHECK("one item is one message", lg.message_count == 11 && lg.entry_count == 11);
  CHECK("items of one response are one step", entry(2)->step == 1 && entry(7)->step == 1);
  CHECK("its results belong to it", entry(8)->step == 1 && entry(9)->step == 1);
  CHECK("the next response is the next step", entry(10)->step == 2 && lg.step == 2);
  CHECK("a response knows its first item",
        lg.messages[6].lead == 1 && lg.messages[10].lead == 9 && !lg.messages[0].lead);
  CHECK("reasoning goes with what follows it", entry(2)->atom == entry(3)->atom &&
                                                   entry(4)->atom == entry(5)->atom &&
                                                   entry(10)->atom == entry(11)->atom);
  CHECK("the text is no part of the batch", entry(3)->atom != entry(5)->atom);
  CHECK("calls are made together", entry(5)->atom == entry(7)->atom &&
                                       entry(6)->atom == entry(5)->atom &&
                                       lg.messages[1].batch == entry(5)->atom);
  CHECK("an atom is of what it leads to",
        lg.atoms[entry(2)->atom].kind == NP_KIND_TEXT &&
            lg.atoms[entry(4)->atom].kind == NP_KIND_CALL);
  CHECK("results pair by id", entry(8)->pair == 7 && entry(9)->pair == 5);
}

static void test_blocks(void) {
  fresh(ANTH);
  add("{'role':'user','content':'go'}");
  add("{'role':'assistant','content':[{'type':'thinking','thinking':'h','signature':'s'},"
      "{'type':'text','text':'a'},{'type':'tool_use','id':'t','name':'f','input':{}},"
      "{'type':'tool_use','id':'u','name':'g','input':{}}]}");
  add("{'role':'user','content':[{'type':'tool_result','tool_use_id':'u'},"
      "{'type':'tool_result','tool_use_id':'t'},{'type':'text','text':'and'}]}");
  add("{'role':'assistant','content':[{'type':'tool_use','id':'t','name':'f',"
      "'input':{}}]}");
  CHECK("a block is an entry", lg.entry_count == 9);
  CHECK("a thought is an atom", entry(2)->atom != entry(3)->atom);
  CHECK("calls and results are one", entry(4)->atom == entry(5)->atom &&
                                         entry(6)->atom == entry(4)->atom &&
                                         entry(7)->atom == entry(4)->atom);
  CHECK("they pair", entry(6)->pair == 5 && entry(7)->pair == 4);
  CHECK("the text beside them is the user's",
        entry(8)->atom != entry(4)->atom && entry(8)->kind == NP_KIND_USER);
  CHECK("an id used again is noted", !entry(4)->again && entry(9)->again);
  CHECK("only the first user text is the task",
        entry(1)->region == NP_REGION_TASK && entry(8)->region == NP_REGION_HOT);
  fresh(ANTH);
  add("{'role':'assistant','content':[{'type':'tool_use','id':'t','name':'f',"
      "'input':{}}]}");
  add("{'role':'user','content':[{'type':'tool_result','tool_use_id':'t'}]}");
  add("{'role':'user','content':'go'}");
  CHECK("results alone are no task", lg.task_message == 2);
}

static void test_names(void) {
  fresh(GEM);
  add("{'role':'model','parts':[{'functionCall':{'name':'f','id':'1'}},"
      "{'functionCall':{'name':'f','id':'2'}},{'functionCall':{'name':'g'}}]}");
  add("{'role':'user','parts':[{'functionResponse':{'name':'f','response':{}}},"
      "{'functionResponse':{'name':'g','response':{}}},"
      "{'functionResponse':{'name':'f','response':{}}}]}");
  CHECK("a result without an id pairs by name, the oldest first",
        entry(4)->pair == 1 && entry(5)->pair == 3 && entry(6)->pair == 2);
  CHECK("nothing waits any more", lg.atoms[0].open == 0);
  add("{'role':'user','parts':[{'functionResponse':{'name':'f','response':{}}}]}");
  CHECK("one too many is an orphan", entry(7)->pair == 0);
}

static void test_shape_names(void) {
  CHECK("shapes have names", !strcmp(np_shape_name(CHAT), "chat") &&
                                 !strcmp(np_shape_name(ANTH), "anthropic") &&
                                 !strcmp(np_shape_name(RESP), "responses") &&
                                 !strcmp(np_shape_name(GEM), "gemini"));
}

int main(void) {
  np_buf_init(&json, &np_alloc_libc);
  np_log_init(&lg, &np_alloc_libc, NULL);
  test_forms();
  test_faults();
  test_items();
  test_blocks();
  test_names();
  test_shape_names();
  np_log_free(&lg);
  np_buf_free(&json);
  return check_done();
}
