/*
** Searches through the public interface: sessions that write, that write nothing, that were
** closed, that a killed process left; other tenants; the tool; what is purged.
** next: test_engine_store.c
*/
#include "session.h"

#include <sqlite3.h>

#include "engine/words.h"
#include "text/text.h"

/* The hits as "session/entry session/entry", and the first snippet. */
typedef struct found {
  char ids[400], snippet[1200];
} found;

static void take(void *ctx, const neap_hit *h) {
  found *f = ctx;
  size_t at = strlen(f->ids);
  if (h->voided) {
    snprintf(f->ids + at, sizeof f->ids - at, "%svoid", at ? " " : "");
    at = strlen(f->ids);
  }
  if (!at)
    snprintf(f->snippet, sizeof f->snippet, "%.*s", (int)h->snippet.n, h->snippet.p);
  snprintf(f->ids + at, sizeof f->ids - at, "%s%.*s/%lld", at ? " " : "",
           (int)h->session.n, h->session.p, (long long)h->entry);
}

static found last;

static bool finds(neap *n, const char *session, const char *query, const char *want) {
  last = (found){0};
  neap_rc rc = neap_recall(n, session, np_str_cstr(query), 5, take, &last);
  if (rc) snprintf(last.ids, sizeof last.ids, "error: %s", neap_error(n));
  if (strcmp(last.ids, want) == 0) return true;
  fprintf(stderr, "  query '%s': expected '%s', got '%s'\n", query, want, last.ids);
  return false;
}

static bool session_finds(neap_session *s, const char *query, const char *want) {
  last = (found){0};
  neap_rc rc = neap_session_recall(s, np_str_cstr(query), 5, take, &last);
  if (rc)
    snprintf(last.ids, sizeof last.ids, "error: %s", neap_error(neap_session_engine(s)));
  if (strcmp(last.ids, want) == 0) return true;
  fprintf(stderr, "  query '%s': expected '%s', got '%s'\n", query, want, last.ids);
  return false;
}

/* Entries: 1 user, then of each step a call and its result. */
static void talk(neap_session *s) {
  append(s, "{'role':'user','content':'Why does the upload fail?'}");
  append(s, "{'role':'assistant','tool_calls':[{'id':'a','type':'function','function':{"
            "'name':'bash','arguments':'{\\'command\\':\\'cat\\\\nserver.log\\'}'}}]}");
  append(s,
         "{'role':'tool','tool_call_id':'a','content':'start\\nE4711: quota exceeded for "
         "bucket_alpha\\nend'}");
  append(s, "{'role':'assistant','content':'The quota is the reason.'}");
}

static neap_session *open_as(neap *n, const char *name, int flags) {
  neap_session *s = NULL;
  neap_options o = {.size = sizeof o, .flags = NEAP_NO_RELOAD | flags};
  CHECK("a session opens", neap_session_open(n, name, &o, &s) == NEAP_OK);
  if (!s) exit(check_done());
  return s;
}

static void test_session(const char *store, int flags) {
  neap *n = engine_open(store);
  neap_session *s = open_as(n, "one", flags);
  CHECK("an empty session finds nothing", session_finds(s, "quota", ""));
  talk(s);
  CHECK("a result is found, before what was said of it",
        session_finds(s, "quota", "one/3 one/4"));
  CHECK("with the line that says so",
        strstr(last.snippet, "E4711: quota exceeded") != NULL);
  CHECK("and all of it on one line", !strchr(last.snippet, '\n'));
  CHECK("a name by its part", session_finds(s, "alpha", "one/3"));
  CHECK("a call's words, as the model meant them, lead to its result",
        session_finds(s, "server.log", "one/3 one/2") ||
            strcmp(last.ids, "one/2 one/3") == 0);
  CHECK("none is none", session_finds(s, "nowhere", ""));
  append(s, "{'role':'user','content':'the quota was raised to 500'}");
  CHECK("what came after is there at once", session_finds(s, "raised", "one/5"));
  neap_session_close(s);
  neap_close(n);
}

static void test_store(void) {
  const char *store = dir_path("recall.db");
  neap *n = engine_open(store);
  neap_session *s = open_as(n, "one", 0);
  talk(s);
  CHECK("the store finds what a session has written", finds(n, NULL, "E4711", "one/3"));
  CHECK("and shows it", strstr(last.snippet, "E4711: quota") != NULL);
  CHECK("by the session's name", finds(n, "one", "E4711", "one/3"));
  CHECK("another session has it not",
        neap_recall(n, "two", NP_LIT("E4711"), 5, take, &last) == NEAP_E_NOTFOUND);
  neap_session *t = open_as(n, "two", 0);
  append(t, "{'role':'user','content':'E4711 again'}");
  CHECK("two sessions, the newer first", finds(n, NULL, "E4711", "two/1 one/3"));
  neap_session_close(s);
  neap_session_close(t);
  neap_close(n);

  neap_config other = {.size = sizeof other,
                       .store = store,
                       .data = data_dir(),
                       .tenant = "b",
                       .flags = NEAP_FIXED_SECRET};
  CHECK("another tenant opens", neap_open(&other, &n) == NEAP_OK);
  CHECK("and finds nothing", finds(n, NULL, "E4711", ""));
  CHECK("nor by the name of a session",
        neap_recall(n, "one", NP_LIT("E4711"), 5, take, &last) == NEAP_E_NOTFOUND);
  neap_close(n);

  neap_config reader = {.size = sizeof reader,
                        .store = store,
                        .data = data_dir(),
                        .flags = NEAP_FIXED_SECRET | NEAP_READONLY};
  CHECK("a reader opens", neap_open(&reader, &n) == NEAP_OK);
  CHECK("and finds what was closed", finds(n, NULL, "E4711", "two/1 one/3"));
  s = open_as(n, "one", 0);
  CHECK("in a session too", session_finds(s, "E4711", "one/3"));
  neap_session_close(s);
  neap_close(n);
}

/* What the host gives to be known is found as results are, in the session and in the store;
** what holds only for now is not. */
static void test_blocks(void) {
  const char *store = dir_path("blocks.db");
  for (int flags = 0; flags < 2; flags++) {
    neap *n = engine_open(flags ? NULL : store);
    neap_session *s = open_as(n, "one", 0);
    talk(s);
    append(s, "{'kind':'evidence','content':'Ticket 88: zanzibar is out of room'}");
    append(s, "{'kind':'memory','content':'The user calls quokka_main the trunk'}");
    append(s, "{'kind':'state','content':'branch wombat'}");
    append(s, "{'kind':'notice','content':'battery of the numbat'}");
    CHECK("evidence is found", session_finds(s, "zanzibar", "one/5"));
    CHECK("with its words", strstr(last.snippet, "Ticket 88") != NULL);
    CHECK("memory is found, by a part of a name", session_finds(s, "quokka", "one/6"));
    CHECK("state is not", session_finds(s, "wombat", ""));
    CHECK("nor is a notice", session_finds(s, "numbat", ""));
    neap_session_close(s);
    if (!flags) CHECK("the store finds them", finds(n, NULL, "zanzibar", "one/5"));
    neap_close(n);
  }
}

/* A log whose index is gone is that of an older store, or of a killed process. */
static void test_older(void) {
  const char *store = dir_path("older.db");
  sqlite3 *db = NULL;
  neap *n = engine_open(store);
  neap_session *s = open_as(n, "one", 0);
  talk(s);
  neap_session_close(s);
  neap_close(n);
  sqlite3_open(store, &db);
  sqlite3_exec(db, "UPDATE scope SET entry = 2, cited = 0, seq = 3; DELETE FROM doc",
               NULL, NULL, NULL);
  sqlite3_close(db);
  neap_config reader = {.size = sizeof reader,
                        .store = store,
                        .data = data_dir(),
                        .flags = NEAP_FIXED_SECRET | NEAP_READONLY};
  CHECK("a reader opens", neap_open(&reader, &n) == NEAP_OK);
  CHECK("and says what is missing",
        neap_recall(n, NULL, NP_LIT("E4711"), 5, take, &last) == NEAP_E_READONLY &&
            strstr(neap_error(n), "1 session"));
  neap_close(n);
  n = engine_open(store);
  CHECK("a writer finds what was not indexed", finds(n, NULL, "E4711", "one/3"));
  s = open_as(n, "one", 0);
  CHECK("so does the session", session_finds(s, "E4711", "one/3"));
  neap_session_close(s);
  neap_close(n);
}

/* Many entries at once, and through summaries of a policy that folds. */
static void test_long(void) {
  const char *store = dir_path("long.db");
  neap *n = engine_open(store);
  neap_session *s = session_open(
      n, "long",
      policy_file("fold.lua",
                  "return { api = 1, compact = function(ctx)\n"
                  "  local old = ctx:span { from = 1, before = ctx.step - 3 }\n"
                  "  if old.steps >= 4 then ctx:fold(old, 'what was') end end }\n"),
      50000, NULL);
  append(s, "{'role':'user','content':'begin'}");
  for (int i = 0; i < 40; i++) {
    char text[120];
    prompt(s);
    snprintf(text, sizeof text, "{'role':'assistant','content':'number%d is here'}", i);
    append(s, text);
    append(s, "{'role':'user','content':'go on'}");
  }
  neap_session_close(s);
  neap_close(n);
  sqlite3 *db = NULL;
  sqlite3_open(store, &db);
  sqlite3_exec(
      db,
      "DELETE FROM doc; UPDATE scope SET entry = 0, cited = 0, docs = 0, words = 0, "
      "seq = 0",
      NULL, NULL, NULL);
  sqlite3_close(db);
  n = engine_open(store);
  last = (found){0};
  CHECK("a log with summaries is read",
        neap_recall(n, NULL, NP_LIT("number37"), 5, take, &last) == NEAP_OK);
  char from_log[400];
  snprintf(from_log, sizeof from_log, "%s", last.ids);
  CHECK("and the words are found", strstr(last.snippet, "number37 is here") != NULL);
  s = open_as(n, "long", 0);
  neap_str text;
  long long id = atoll(strchr(from_log, '/') ? strchr(from_log, '/') + 1 : "0");
  CHECK("under the ids that the session has",
        neap_entry_text(s, id, &text) == NEAP_OK && np_str_is(text, "number37 is here"));
  neap_session_close(s);
  neap_close(n);
}

static void test_text(void) {
  np_buf out;
  np_buf_init(&out, &np_alloc_libc);
  neap_str body = json(
      "{'role':'assistant','content':'hi','tool_calls':[{'id':'a','type':"
      "'function','function':{'name':'run','arguments':'{\\'x\\':\\'a\\\\nb\\'}'}}]}");
  neap_alloc a = np_alloc_libc;
  CHECK("the second entry of a body is its call",
        np_words_text(&a, body, 1, &out) && strstr(out.p, "run {x :a\nb }"));
  np_buf_clear(&out);
  CHECK("there is no third", !np_words_text(&a, body, 2, &out));
  CHECK("nor one below none", !np_words_text(&a, body, -1, &out));
  CHECK("nor one of what is no message", !np_words_text(&a, NP_LIT("{}"), 0, &out));
  np_buf_free(&out);
}

static void test_snippet(void) {
  np_buf out;
  np_buf_init(&out, &np_alloc_libc);
  unsigned long long state = check_seed(5);
  bool fine = true;
  for (int round = 0; round < 3000; round++) {
    char text[300];
    size_t n = check_random(&state) % sizeof text;
    static const char bytes[] = "ab \n\t.\xE4\xB8\xAD\xFF\xCC\x81\x01_9";
    for (size_t i = 0; i < n; i++)
      text[i] = bytes[check_random(&state) % (sizeof bytes - 1)];
    np_buf_clear(&out);
    np_snippet(np_str_of(text, n), NP_LIT("ab \xE4\xB8\xAD 9"), 40, &out);
    np_str s = np_buf_str(&out);
    fine = fine && !out.failed && s.n < 800 &&
           np_str_find(s, NP_LIT("\n"), 0) == SIZE_MAX && np_utf8_valid(s) == s.n;
  }
  CHECK("a snippet is one line of UTF-8, whatever the text", fine);
  np_buf_clear(&out);
  np_snippet(NP_LIT("one two three"), NP_LIT("none"), 100, &out);
  CHECK("without a word it is the beginning",
        np_str_is(np_buf_str(&out), "one two three"));
  np_buf_free(&out);
}

/* ---- what was rolled back ---- */

/* The model's own search, and its answer. */
static neap_str asks(neap_session *s, const char *tool, const char *arguments) {
  neap_call c;
  np_buf quoted = {.alloc = &np_alloc_libc};
  neap_str text = NP_LIT("");
  np_json_quote(&quoted, np_str_cstr(arguments));
  prompt(s);
  json("{'choices':[{'index':0,'message':{'role':'assistant','content':'',"
       "'tool_calls':[{'id':'z','type':'function','function':{'name':'");
  np_buf_adds(&made, tool);
  np_buf_adds(&made, "','arguments':");
  for (size_t i = 0; i < made.n; i++)
    if (made.p[i] == '\'') made.p[i] = '"';
  np_buf_add(&made, np_buf_str(&quoted));
  np_buf_adds(&made, "}}]}}]}");
  np_buf_free(&quoted);
  CHECK("the response is taken", !neap_append_response(s, np_buf_str(&made)));
  CHECK("its call is the engine's", neap_next_call(s, &c) == 1 && !neap_handle(s, &c));
  CHECK("it is answered", !neap_entry_text(s, c.entry + 1, &text));
  return text;
}

static void test_void(const char *store) {
  neap *n = engine_open(store);
  neap_session *s = open_as(n, "back", 0), *other = open_as(n, "reader", 0);
  append(s, "{'role':'user','content':'find the pump'}");
  append(s, "{'role':'assistant','content':'the pump is in hall_seven'}");
  CHECK("a mark", !neap_checkpoint(s, "m"));
  append(s, "{'role':'user','content':'is the pump in kappa_nine?'}");
  append(s, "{'role':'assistant','content':'yes, the pump is in kappa_nine'}");
  CHECK("it goes back", !neap_rollback(s, "m", 0, NP_LIT("a mix-up")));
  append(s, "{'role':'user','content':'go on'}");
  CHECK("the session finds what is no fact no more", session_finds(s, "kappa_nine", ""));
  CHECK("nor beside what is one",
        session_finds(s, "pump", "back/1 back/2") || !strcmp(last.ids, "back/2 back/1"));
  CHECK("the tool says what it leaves out",
        has(asks(s, "neap_recall", "{\"query\":\"kappa_nine\"}"),
            "No earlier step matches. Try other words: names, error codes, file names.\n"
            "[2 more entries that match were rolled back and are left out.]"));
  CHECK("and finds what is not void",
        has(asks(s, "neap_recall", "{\"query\":\"hall_seven\"}"), "hall_seven"));
  CHECK("the store marks it", finds(n, "back", "kappa_nine", "void back/3 void back/4") ||
                                  !strcmp(last.ids, "void back/4 void back/3"));
  neap_str text = NP_LIT("");
  static const char want[] = "Void: rolled back because \"a mix-up\". What follows is no "
                             "fact of this session.\n";
  CHECK("a host reads that it is void",
        !neap_read(s, NP_LIT("4"), NP_LIT(""), 0, &text) && has(text, want));
  append(other, "{'role':'user','content':'look'}");
  CHECK("from another session too",
        !neap_read(other, NP_LIT("back/4"), NP_LIT(""), 0, &text) && has(text, want));
  CHECK("what is not void has no such line",
        !neap_read(other, NP_LIT("back/2"), NP_LIT(""), 0, &text) && !has(text, "Void"));
  CHECK("the model too", has(asks(other, "neap_read", "{\"id\":\"back/3\"}"), want));
  CHECK("it is not passed on by a pointer",
        neap_resolve(s, NP_LIT("{\"a\":\"neap:4\"}"), &text) == NEAP_E_NOTFOUND &&
            strstr(neap_error(n), "rolled back because \"a mix-up\""));
  CHECK("what is not void is",
        !neap_resolve(s, NP_LIT("{\"a\":\"neap:2\"}"), &text) && has(text, "hall_seven"));
  neap_session_close(other);
  neap_session_close(s);
  neap_close(n);
}

int main(void) {
  dir_make();
  test_session(NULL, 0);
  test_session(NULL, NEAP_NO_LOG);
  test_session(dir_path("session.db"), 0);
  test_session(dir_path("nolog.db"), NEAP_NO_LOG);
  test_store();
  test_blocks();
  test_older();
  test_long();
  test_text();
  test_snippet();
  test_void(NULL);
  test_void(dir_path("void.db"));
  dir_remove();
  return check_done();
}
