/*
** The log: what each form of message becomes, what is refused and with which words, how calls
** and results pair when providers use ids again, and that none of it slows down with age.
** next: test_openai.c
*/
#include "check.h"
#include "log/log.h"

static np_log lg;
static np_err err;

static void fresh(void) {
  np_log_free(&lg);
  np_log_init(&lg, &np_alloc_libc, NULL);
  err = (np_err){0};
}

static neap_rc add(const char *json) {
  size_t index = 0;
  err = (np_err){0};
  return np_log_append(&lg, np_str_cstr(json), &index, &err);
}

static const np_entry *entry(int64_t id) {
  static const np_entry none = {.kind = NP_KIND_COUNT};
  const np_entry *en = np_log_entry(&lg, id);
  return en ? en : &none;
}

/* ---- forms ---- */

/* `want` is one line a part: kind|text|tool|call_id|path|flags, E empty, F failed. */
typedef struct form {
  const char *what, *json, *want;
} form;

static void describe(np_buf *out) {
  np_buf_clear(out);
  for (size_t i = 0; i < lg.entry_count; i++) {
    const np_entry *en = &lg.entries[i];
    np_str field[] = {np_str_cstr(np_kind_name(en->kind)), en->text, en->tool,
                      en->call_id, en->path};
    for (size_t j = 0; j < NP_COUNT(field); j++) {
      np_buf_add(out, field[j]);
      np_buf_addc(out, '|');
    }
    np_buf_adds(out, en->empty ? "E" : "");
    np_buf_adds(out, en->is_error ? "F\n" : "\n");
  }
}

static const form forms[] = {
    {"system", "{\"role\":\"system\",\"content\":\"be brief\"}", "system|be brief||||\n"},
    {"developer", "{\"role\":\"developer\",\"content\":\"x\"}", "system|x||||\n"},
    {"user", " {\"content\" : \"h\\u00e9\\n\" , \"role\":\"user\"} ",
     "user|h\xC3\xA9\n||||\n"},
    {"escaped role", "{\"\\u0072ole\":\"us\\u0065r\",\"content\":\"x\"}", "user|x||||\n"},
    {"the last of doubled members",
     "{\"role\":\"system\",\"content\":\"a\",\"role\":\"user\",\"content\":\"b\"}",
     "user|b||||\n"},
    {"empty user text", "{\"role\":\"user\",\"content\":\"\"}", "user|||||E\n"},
    {"half a surrogate pair", "{\"role\":\"user\",\"content\":\"a\\ud83d\"}",
     "user|a\xEF\xBF\xBD||||\n"},
    {"list of texts",
     "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
     "{\"type\":\"input_text\",\"text\":\"b\"},{\"type\":\"text\",\"text\":\"\"}]}",
     "user|a||||\nuser|b||||\nuser|||||E\n"},
    {"images",
     "{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":"
     "\"x\"}},{\"type\":\"image\"}]}",
     "image|||||\nimage|||||\n"},
    {"an image of an item",
     "{\"role\":\"user\",\"content\":["
     "{\"type\":\"input_image\",\"image_url\":\"x\"}]}",
     "image|||||\n"},
    {"unknown part",
     "{\"role\":\"user\",\"content\":[{\"type\":\"input_audio\",\"n\":1.0}]}",
     "file|{\"type\":\"input_audio\",\"n\":1.0}||||\n"},
    {"empty list", "{\"role\":\"user\",\"content\":[]}", ""},
    {"assistant text", "{\"role\":\"assistant\",\"content\":\"hi\"}", "text|hi||||\n"},
    {"assistant list",
     "{\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"a\"},"
     "{\"type\":\"refusal\",\"refusal\":\"no\"}]}",
     "text|a||||\ntext|no||||\n"},
    {"refusal member",
     "{\"role\":\"assistant\",\"content\":null,\"refusal\":\"I cannot\"}",
     "text|I cannot||||\n"},
    {"null refusal", "{\"role\":\"assistant\",\"content\":\"a\",\"refusal\":null}",
     "text|a||||\n"},
    {"nothing at all", "{\"role\":\"assistant\"}", ""},
    {"reasoning", "{\"role\":\"assistant\",\"content\":\"a\",\"reasoning\":\"r\"}",
     "thought|r||||\ntext|a||||\n"},
    {"reasoning_content",
     "{\"role\":\"assistant\",\"content\":\"a\",\"reasoning_content\":\"r\"}",
     "thought|r||||\ntext|a||||\n"},
    {"both names are one thought",
     "{\"role\":\"assistant\",\"content\":\"a\",\"reasoning\":\"r\","
     "\"reasoning_content\":\"r\"}",
     "thought|r||||\ntext|a||||\n"},
    {"empty reasoning gives way",
     "{\"role\":\"assistant\",\"reasoning\":\"\",\"reasoning_content\":\"r\"}",
     "thought|r||||\n"},
    {"reasoning of another form",
     "{\"role\":\"assistant\",\"content\":\"a\",\"reasoning\":{\"x\":1}}",
     "text|a||||\n"},
    {"calls",
     "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":"
     "\"function\","
     "\"function\":{\"name\":\"bash\",\"arguments\":\"{\\\"n\\\":1,\\\"command\\\":"
     "\\\"make test\\\"}\"}},"
     "{\"id\":\"c2\",\"function\":{\"name\":\"read\",\"arguments\":\"{\\\"path\\\":"
     "\\\"src/a.c\\\"}\"}}]}",
     "call|{\"n\":1,\"command\":\"make "
     "test\"}|bash|c1||\ncall|{\"path\":\"src/a.c\"}|read|c2|src/a.c|\n"},
    {"arguments that are no JSON",
     "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\",\"function\":"
     "{\"name\":\"x\",\"arguments\":\"{oops\"}}]}",
     "call|{oops|x|c||\n"},
    {"no arguments",
     "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"x\"}"
     "}]}",
     "call||x|c||\n"},
    {"function_call",
     "{\"role\":\"assistant\",\"content\":\"\",\"function_call\":{\"name\":\"f\","
     "\"arguments\":\"{}\"}}",
     "text|||||E\ncall|{}|f|||\n"},
    {"null function_call",
     "{\"role\":\"assistant\",\"content\":\"a\",\"function_call\":null,\"tool_calls\":"
     "null}",
     "text|a||||\n"},
    {"tool",
     "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"name\":\"bash\",\"content\":\"out\"}",
     "result|out|bash|c||\n"},
    {"tool list",
     "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":[{\"type\":\"text\",\"text\":"
     "\"a\"},"
     "{\"type\":\"text\",\"text\":\"b\"}]}",
     "result|ab||c||\n"},
    {"image in a result",
     "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":[{\"type\":\"image_url\","
     "\"image_url\":{\"url\":\"data:AAAA\"}}]}",
     "result|" NP_RESULT_OMITTED "||c||\n"},
    {"tool null", "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":null}",
     "result|||c||\n"},
    {"tool without content", "{\"role\":\"tool\",\"tool_call_id\":\"c\"}",
     "result|||c||\n"},
    {"is_error",
     "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"x\",\"is_error\":true}",
     "result|x||c||F\n"},
    {"isError",
     "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"x\",\"isError\":true}",
     "result|x||c||F\n"},
    {"is_error false",
     "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"x\",\"is_error\":false}",
     "result|x||c||\n"},
    {"function", "{\"role\":\"function\",\"name\":\"f\",\"content\":\"x\"}",
     "result|x|f|||\n"},
};

static void test_forms(void) {
  np_buf got;
  np_buf_init(&got, &np_alloc_libc);
  for (size_t i = 0; i < NP_COUNT(forms); i++) {
    fresh();
    neap_rc rc = add(forms[i].json);
    describe(&got);
    bool ok = !rc && np_str_is(np_buf_str(&got), forms[i].want);
    if (!ok) {
      fprintf(stderr, "%s: code %s %s\n  want %s\n  got  %.*s\n", forms[i].what,
              neap_rc_name(rc), err.text, forms[i].want, (int)got.n, got.p ? got.p : "");
    }
    CHECK("a form of message becomes its parts", ok);
    CHECK("the raw message is kept",
          lg.message_count == 1 &&
              memcmp(lg.messages[0].raw.p, strchr(forms[i].json, '{'),
                     lg.messages[0].raw.n) == 0);
  }
  np_buf_free(&got);
}

static void test_members(void) {
  fresh();
  const char *json =
      "  "
      "{\"role\":\"user\",\"name\":\"a\\nb\",\"content\":\"x\",\"z\":9007199254740993} ";
  CHECK("a named message is taken", add(json) == NEAP_OK);
  const np_message *m = &lg.messages[0];
  CHECK("the name is decoded", np_str_is(m->name, "a\nb"));
  CHECK("the raw bytes lose only the white space around",
        m->raw.n == strlen(json) - 3 && memcmp(m->raw.p, json + 2, m->raw.n) == 0);
  CHECK("nothing is lone", !m->lone && !m->holes);
  add("{\"role\":\"user\",\"content\":\"\\udc00\"}");
  CHECK("half a pair is noted", lg.messages[1].lone);
  add("{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":[{\"type\":\"text\","
      "\"text\":\"\"}]}");
  CHECK("an empty text in a result's list is a hole", lg.messages[2].holes);
  add("{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":[]}");
  CHECK("a result's empty list is a hole", lg.messages[3].holes);
  add("{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":null}");
  CHECK("a result's null is a hole", lg.messages[4].holes);
  add("{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"\"}");
  CHECK("a result's empty string is none", !lg.messages[5].holes);
}

/* ---- refusals ---- */

typedef struct fault {
  const char *json;
  neap_rc rc;
  const char *text; /* in the message */
} fault;

static const fault faults[] = {
    {"", NEAP_E_JSON, "ends early"},
    {"{\"role\":\"user\",\"content\":\"x\"", NEAP_E_JSON, "ends early"},
    {"{\"role\":\"user\",\"content\":\"x\"} {}", NEAP_E_JSON, "more text"},
    {"{\"role\":\"user\",\"content\":\"\xFF\"}", NEAP_E_UTF8, "not UTF-8"},
    {"[]", NEAP_E_SHAPE, "a message must be an object"},
    {"{\"content\":\"x\"}", NEAP_E_SHAPE, "needs a role"},
    {"{\"role\":7,\"content\":\"x\"}", NEAP_E_SHAPE, "needs a role"},
    {"{\"role\":\"robot\",\"content\":\"x\"}", NEAP_E_SHAPE,
     "unknown role \"robot\"; use system, user"},
    {"{\"role\":\"user\"}", NEAP_E_SHAPE, "content is missing"},
    {"{\"role\":\"system\",\"content\":null}", NEAP_E_SHAPE, "content is missing"},
    {"{\"role\":\"user\",\"content\":5}", NEAP_E_SHAPE, "must be a string or a list"},
    {"{\"role\":\"user\",\"content\":[\"x\"]}", NEAP_E_SHAPE, "must be an object"},
    {"{\"role\":\"user\",\"content\":[{\"text\":\"x\"}]}", NEAP_E_SHAPE, "needs a type"},
    {"{\"role\":\"user\",\"content\":[{\"type\":\"text\"}]}", NEAP_E_SHAPE,
     "needs its text as a string"},
    {"{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":5}]}", NEAP_E_SHAPE,
     "needs its text as a string"},
    {"{\"role\":\"tool\",\"content\":\"x\"}", NEAP_E_SHAPE, "needs its tool_call_id"},
    {"{\"role\":\"tool\",\"tool_call_id\":null,\"content\":\"x\"}", NEAP_E_SHAPE,
     "needs its tool_call_id"},
    {"{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":{}}", NEAP_E_SHAPE,
     "must be text"},
    {"{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":[1]}", NEAP_E_SHAPE,
     "must be an object"},
    {"{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":[{\"type\":\"text\",\"text\":"
     "1}]}",
     NEAP_E_SHAPE, "needs its text as a string"},
    {"{\"role\":\"assistant\",\"tool_calls\":{}}", NEAP_E_SHAPE,
     "tool_calls must be a list"},
    {"{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\"}]}", NEAP_E_SHAPE,
     "needs a function"},
    {"{\"role\":\"assistant\",\"tool_calls\":[1]}", NEAP_E_SHAPE, "needs a function"},
    {"{\"role\":\"assistant\",\"tool_calls\":[{\"function\":{\"name\":\"x\"}}]}",
     NEAP_E_SHAPE, "needs an id"},
    {"{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\",\"function\":{}}]}",
     NEAP_E_SHAPE, "function's name"},
    {"{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"x\","
     "\"arguments\":{}}}]}",
     NEAP_E_SHAPE, "must be a string that holds JSON"},
    {"{\"role\":\"assistant\",\"function_call\":{}}", NEAP_E_SHAPE, "function's name"},
    /* the first parts are fine: all or nothing */
    {"{\"role\":\"assistant\",\"content\":\"x\",\"tool_calls\":[{\"id\":\"c\","
     "\"function\":{\"name\":\"x\"}},5]}",
     NEAP_E_SHAPE, "needs a function"},
};

static void test_faults(void) {
  fresh();
  add("{\"role\":\"system\",\"content\":\"s\"}");
  add("{\"role\":\"assistant\",\"content\":\"a\",\"tool_calls\":[{\"id\":\"c\","
      "\"function\":{\"name\":\"x\"}}]}");
  np_log was = lg;
  for (size_t i = 0; i < NP_COUNT(faults); i++) {
    neap_rc rc = add(faults[i].json);
    bool ok = rc == faults[i].rc && strstr(err.text, faults[i].text);
    if (!ok)
      fprintf(stderr, "%s\n  got %s: %s\n", faults[i].json, neap_rc_name(rc), err.text);
    CHECK("a wrong message is refused with its reason", ok);
    CHECK("a refused message leaves no trace",
          lg.entry_count == was.entry_count && lg.message_count == was.message_count &&
              lg.atom_count == was.atom_count && lg.step == was.step &&
              lg.open_used == was.open_used && lg.task_message == was.task_message &&
              lg.arena.used == was.arena.used);
  }
  add("{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"r\"}");
  CHECK("the call from before the refusals is still open", entry(4)->pair == 3);
}

/* What is staged and given up (the store has refused it) was never there. */
static void test_given_up(void) {
  np_staged staged;
  np_buf large;
  np_buf_init(&large, &np_alloc_libc);
  np_buf_adds(&large, "{\"role\":\"user\",\"content\":\"");
  for (int i = 0; i < 50000; i++) np_buf_addc(&large, 'x');
  np_buf_adds(&large, "\"}");
  fresh();
  add("{\"role\":\"user\",\"content\":\"go\"}");
  size_t used = lg.arena.used;
  for (int i = 0; i < 3; i++) {
    CHECK("it can be staged",
          np_log_stage(&lg, np_buf_str(&large), &staged, NULL) == NEAP_OK);
    np_log_give_up(&lg, &staged);
    CHECK("and leaves nothing", lg.entry_count == 1 && lg.arena.used == used);
  }
  CHECK("staged anew it is entered",
        np_log_stage(&lg, np_buf_str(&large), &staged, NULL) == NEAP_OK &&
            np_log_enter(&lg, &staged) == 1 && entry(2)->text.n == 50000);
  CHECK("what came before is whole", np_str_is(entry(1)->text, "go"));
  np_buf_free(&large);
}

static void test_depth(void) {
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  np_buf_adds(&b, "{\"role\":\"user\",\"x\":");
  for (int i = 0; i < 600; i++) np_buf_addc(&b, '[');
  for (int i = 0; i < 600; i++) np_buf_addc(&b, ']');
  np_buf_adds(&b, ",\"content\":\"x\"}");
  np_buf_addc(&b, '\0');
  fresh();
  CHECK("deep nesting is refused", add(b.p) == NEAP_E_LIMIT && strstr(err.text, "512"));
  np_buf_clear(&b);
  np_buf_adds(&b, "{\"role\":\"user\",\"content\":[");
  for (int i = 0; i < 100001; i++)
    np_buf_adds(&b, i ? ",{\"type\":\"a\"}" : "{\"type\":\"a\"}");
  np_buf_adds(&b, "]}");
  np_buf_addc(&b, '\0');
  CHECK("a hundred thousand parts are the most",
        add(b.p) == NEAP_E_LIMIT && strstr(err.text, "100,000"));
  CHECK("none of them is kept", lg.entry_count == 0);
  np_buf_free(&b);
}

/* ---- steps, regions, atoms ---- */

static void test_steps(void) {
  fresh();
  add("{\"role\":\"system\",\"content\":\"s\"}");
  add("{\"role\":\"developer\",\"content\":\"d\"}");
  add("{\"role\":\"user\",\"content\":\"task\"}");
  add("{\"role\":\"system\",\"content\":\"late\"}");
  add("{\"role\":\"assistant\",\"reasoning\":\"t\",\"content\":\"a\",\"tool_calls\":[{"
      "\"id\":\"c\",\"function\":{\"name\":\"x\"}}]}");
  add("{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"r\"}");
  add("{\"role\":\"user\",\"content\":\"more\"}");
  add("{\"role\":\"assistant\",\"content\":\"b\"}");
  static const int64_t steps[] = {0, 0, 0, 0, 1, 1, 1, 1, 1, 2};
  static const np_region regions[] = {NP_REGION_FIXED, NP_REGION_FIXED, NP_REGION_TASK,
                                      NP_REGION_HOT};
  for (int i = 0; i < 10; i++)
    CHECK("an entry has its step", entry(i + 1)->step == steps[i]);
  for (int i = 0; i < 4; i++)
    CHECK("an entry has its region", entry(i + 1)->region == regions[i]);
  CHECK("later user messages are hot", entry(9)->region == NP_REGION_HOT);
  CHECK("thought, text and calls are atoms of their own",
        entry(5)->atom != entry(6)->atom && entry(6)->atom != entry(7)->atom);
  CHECK("a result is in its call's atom",
        entry(8)->atom == entry(7)->atom && lg.atoms[entry(8)->atom].members == 2);
  CHECK("a batch knows that it is closed", lg.atoms[entry(7)->atom].open == 0);
  CHECK("members follow each other", entry(7)->next == 8 && entry(8)->next == 0);
  fresh();
  add("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":"
      "\"image\"},{\"type\":\"text\",\"text\":\"b\"}]}");
  CHECK("a user message is one atom", lg.atom_count == 1 && lg.atoms[0].members == 3);
}

/* ---- pairing ---- */

/* A history as words: `u`, `a:id,id…` a batch, `f:name` an older call, `r:id`, `n:name` an
** older result. `pairs` lists result=call for each result entry in order, 0 for an orphan. */
typedef struct pairing {
  const char *what, *history, *pairs;
} pairing;

static void add_word(const char *w, size_t n) {
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  np_str rest = n > 2 ? np_str_of(w + 2, n - 2) : NP_LIT("");
  if (*w == 'u') {
    np_buf_adds(&b, "{\"role\":\"user\",\"content\":\"u\"");
  } else if (*w == 'r') {
    np_buf_adds(&b, "{\"role\":\"tool\",\"content\":\"r\",\"tool_call_id\":");
    np_json_quote(&b, rest);
  } else if (*w == 'n') {
    np_buf_adds(&b, "{\"role\":\"function\",\"content\":\"r\",\"name\":");
    np_json_quote(&b, rest);
  } else if (*w == 'f') {
    np_buf_adds(&b, "{\"role\":\"assistant\",\"function_call\":{\"name\":");
    np_json_quote(&b, rest);
    np_buf_addc(&b, '}');
  } else {
    const char *sep = "{\"role\":\"assistant\",\"tool_calls\":[";
    for (size_t from = 0, i = 0; i <= rest.n; i++) {
      if (i < rest.n && rest.p[i] != ',') continue;
      np_buf_adds(&b, sep);
      np_buf_adds(&b, "{\"function\":{\"name\":\"t\"},\"id\":");
      np_json_quote(&b, np_str_cut(rest, from, i));
      np_buf_addc(&b, '}');
      from = i + 1;
      sep = ",";
    }
    np_buf_addc(&b, ']');
  }
  np_buf_adds(&b, "}");
  np_buf_addc(&b, '\0');
  CHECK("a word of a history is a message", add(b.p) == NEAP_OK);
  np_buf_free(&b);
}

static const pairing pairings[] = {
    {"one after the other", "u a:x r:x a:y r:y", "2 4"},
    {"parallel calls in order", "u a:x,y,z r:x r:y r:z", "2 3 4"},
    {"parallel calls out of order", "u a:x,y,z r:z r:x r:y", "4 2 3"},
    {"an id again in a later turn", "u a:x r:x u a:x r:x", "2 5"},
    {"an id again while the first waits", "u a:x a:x r:x r:x", "3 2"},
    {"an id twice in one batch", "u a:x,x r:x r:x", "2 3"},
    {"an id twice in one batch, over an older one", "u a:x a:x,x r:x r:x r:x", "3 4 2"},
    {"a result before its call", "u r:x a:x", "0"},
    {"a late result", "u a:x u a:y r:y r:x", "4 2"},
    {"one result too many", "u a:x r:x r:x", "2 0"},
    {"an id that no call has", "u a:x r:q r:x", "0 2"},
    {"empty ids pair like any other", "u a:,y r: r:y", "2 3"},
    {"the older form pairs by name", "u f:a f:b n:a n:b", "2 3"},
    {"the older form never pairs with an id", "u f:x r:x n:x", "0 2"},
    {"an id never pairs by name", "u a:t n:t r:t", "0 2"},
};

static void test_pairing(void) {
  for (size_t i = 0; i < NP_COUNT(pairings); i++) {
    char got[64] = "";
    fresh();
    for (const char *w = pairings[i].history; *w;) {
      size_t n = strcspn(w, " ");
      add_word(w, n);
      w += n + (w[n] == ' ');
    }
    for (size_t j = 0; j < lg.entry_count; j++) {
      const np_entry *en = &lg.entries[j];
      if (en->kind != NP_KIND_RESULT) continue;
      snprintf(got + strlen(got), sizeof got - strlen(got), "%s%d", *got ? " " : "",
               (int)en->pair);
      if (en->pair) CHECK("a pair points both ways", entry(en->pair)->pair == en->id);
    }
    bool ok = strcmp(got, pairings[i].pairs) == 0;
    if (!ok)
      fprintf(stderr, "%s: %s\n  want %s, got %s\n", pairings[i].what,
              pairings[i].history, pairings[i].pairs, got);
    CHECK("results pair by occurrence", ok);
  }
}

/* An atom's members, walked, are its entries and no other's. */
static void test_members_of_atoms(void) {
  fresh();
  for (const char *w = "u a:x,y a:z r:y u r:z r:x r:q"; *w;) {
    size_t n = strcspn(w, " ");
    add_word(w, n);
    w += n + (w[n] == ' ');
  }
  size_t walked = 0;
  for (size_t i = 0; i < lg.atom_count; i++) {
    const np_atom *a = &lg.atoms[i];
    int64_t last = 0;
    uint32_t members = 0;
    for (int64_t id = a->first; id; id = entry(id)->next) {
      CHECK("members ascend and are the atom's", id > last && entry(id)->atom == i);
      last = id;
      members++;
    }
    CHECK("a walk sees all members", members == a->members && last == a->last);
    walked += members;
  }
  CHECK("every entry is in one atom", walked == lg.entry_count && walked == 9);
}

/* ---- growth: work is counted in bytes handled, not in time ---- */

/* Calls left without results, then all results, oldest first, and from a batch of its own:
** with a search through the open calls this would be 10^10 comparisons. */
static void test_many_open_calls(void) {
  enum { N = 60000 };
  char json[160];
  fresh();
  for (int i = 0; i < N; i++) {
    snprintf(
        json, sizeof json,
        "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"call_number_%d\",\"function\":"
        "{\"name\":\"x\"}}]}",
        i);
    if (add(json)) break;
  }
  for (int i = 0; i < N; i++) {
    snprintf(json, sizeof json,
             "{\"role\":\"tool\",\"tool_call_id\":\"call_number_%d\",\"content\":\"r\"}",
             i);
    if (add(json)) break;
  }
  CHECK("all are kept", lg.entry_count == 2 * N);
  bool paired = true;
  for (int64_t i = 1; i <= N; i++)
    paired = paired && entry(i)->pair == N + i && entry(i)->next == N + i;
  CHECK("each late result found its call", paired);
}

static void test_one_id_for_all(void) {
  enum { N = 30000 };
  fresh();
  for (int i = 0; i < N; i++)
    add("{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":"
        "\"x\"}}]}");
  for (int i = 0; i < N; i++)
    add("{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"r\"}");
  bool paired = true;
  for (int64_t i = 1; i <= N; i++) paired = paired && entry(i)->pair == 2 * N + 1 - i;
  CHECK("the newest call is answered first", paired);
  CHECK("one id takes one place", lg.open_used == 1);
}

static void test_names(void) {
  np_kind k = NP_KIND_COUNT;
  for (int i = 0; i < NP_KIND_COUNT; i++) {
    CHECK("a kind's name leads back to it",
          np_kind_parse(np_str_cstr(np_kind_name((np_kind)i)), &k) && (int)k == i);
  }
  CHECK("an unknown kind is none", !np_kind_parse(NP_LIT("users"), &k));
  CHECK("regions and roles have names",
        strcmp(np_region_name(NP_REGION_HOT), "hot") == 0 &&
            strcmp(np_role_name(NP_ROLE_TOOL), "tool") == 0);
}

int main(void) {
  np_log_init(&lg, &np_alloc_libc, NULL);
  test_forms();
  test_members();
  test_faults();
  test_given_up();
  test_depth();
  test_steps();
  test_pairing();
  test_members_of_atoms();
  test_many_open_calls();
  test_one_id_for_all();
  test_names();
  np_log_free(&lg);
  return check_done();
}
