/*
** What a request costs: the published formula, recomputed here from the strings alone, on our
** own sentences; the published cases where they are at hand; images by their headers.
** next: test_text_format.c
*/
#include "golden.h"
#include "render/openai.h"

static np_vocab *o200k, *cl100k;

static int64_t words(const np_vocab *v, const char *s) {
  return (int64_t)np_vocab_count(v, np_str_cstr(s));
}

static int64_t total(const np_vocab *v, const char *tools, const char *history) {
  golden g;
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  golden_open(&g, v, "openai", 1000000);
  np_view_set_head(&g.pack.view, golden_json(&b, tools), NP_LIT(""), false);
  golden_history(&g, history);
  int64_t n = np_pack_tokens(&g.pack), sum = 0;
  for (int r = 0; r < NP_REGION_COUNT; r++) sum += g.pack.view.region[r];
  CHECK("regions add up", sum == n);
  golden_close(&g);
  np_buf_free(&b);
  return n;
}

/* ---- the formula ---- */

static void test_formula(const np_vocab *v) {
  CHECK("a message: 3, its role, its text; 3 for the answer",
        total(v, "", "{'role':'user','content':'the moon pulls'}\n") ==
            3 + words(v, "user") + words(v, "the moon pulls") + 3);
  CHECK(
      "a name: 1 and its text",
      total(
          v, "",
          "{'role':'system','name':'harbour_master','content':'low water at noon'}\n") ==
          3 + words(v, "system") + 1 + words(v, "harbour_master") +
              words(v, "low water at noon") + 3);
  CHECK("parts count one by one",
        total(v, "",
              "{'role':'user','content':[{'type':'text','text':'neap'},{'type':'text','"
              "text':'tide'}]}\n") ==
            3 + words(v, "user") + words(v, "neap") + words(v, "tide") + 3);
  CHECK("a call: 3, its name, its arguments; a result: 3 and its text",
        total(v, "",
              "{'role':'user','content':'go'}\n{'role':'assistant','content':'so','tool_"
              "calls':[{'id':'a','type':"
              "'function','function':{'name':'sound_depth','arguments':'{\\'fathoms\\':7}"
              "'}}]}\n"
              "{'role':'tool','tool_call_id':'a','content':'seven and a half'}\n") ==
            3 + words(v, "user") + words(v, "go") + 3 + words(v, "assistant") +
                words(v, "so") + 3 + words(v, "sound_depth") +
                words(v, "{\"fathoms\":7}") + 3 + words(v, "seven and a half") + 3);
  CHECK("messages of which nothing is shown cost nothing",
        total(v, "",
              "{'role':'user','content':'go'}\n{'role':'assistant','content':''}\n") ==
            3 + words(v, "user") + words(v, "go") + 3);
}

static void test_tools(const np_vocab *v, int init) {
  static const char user[] = "{'role':'user','content':'go'}\n";
  int64_t base = total(v, "", user);
  CHECK("no tools cost nothing", total(v, "[]", user) == base);
  CHECK("a tool without properties",
        total(v,
              "[{'type':'function','function':{'name':'ebb','description':'Runs out.'}}]",
              user) -
                base ==
            init + words(v, "ebb:Runs out") + 12);
  CHECK("properties, enums, a final full stop",
        total(v,
              "[{'type':'function','function':{'name':'ebb','description':'Runs "
              "out','parameters':{'type':'object',"
              "'properties':{'port':{'type':'string','description':'Name of the "
              "port.'},'unit':{'type':'string','enum':"
              "['metre','fathom']}}}}}]",
              user) -
                base ==
            init + words(v, "ebb:Runs out") + 3 + 3 +
                words(v, "port:string:Name of the port") + 3 + words(v, "unit:string:") -
                3 + 3 + words(v, "metre") + 3 + words(v, "fathom") + 12);
  CHECK("a tool in the older form counts alike",
        total(v, "[{'name':'ebb','description':'Runs out'}]", user) - base ==
            init + words(v, "ebb:Runs out") + 12);
  CHECK("two tools close once",
        total(v, "[{'name':'ebb','description':'x'},{'name':'flow','description':'y'}]",
              user) -
                base ==
            2 * init + words(v, "ebb:x") + words(v, "flow:y") + 12);
}

/* ---- the older functions ---- */

static int64_t total_with(const np_vocab *v, const char *members, const char *history) {
  golden g;
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  golden_open(&g, v, "openai", 1000000);
  np_view_set_head(&g.pack.view, NP_LIT(""), golden_json(&b, members), false);
  golden_history(&g, history);
  int64_t n = np_pack_tokens(&g.pack);
  golden_close(&g);
  np_buf_free(&b);
  return n;
}

static void test_functions(const np_vocab *v) {
  static const char user[] = "{'role':'user','content':'go'}\n",
                    system[] = "{'role':'system','content':'Be brief'}\n",
                    bare[] = "{'functions':[{'name':'ebb'}]}",
                    full[] =
                        "{'functions':[{'name':'sound','description':'Takes a depth',"
                        "'parameters':{'type':'object','required':['unit'],"
                        "'properties':{'unit':{'type':'string','enum':['metre','foot'],"
                        "'description':'Of length'},'marks':{'type':'array','items':"
                        "{'type':'integer'}},'at':{'type':'object','properties':"
                        "{'port':{'type':'boolean','description':'Shown'},'deep':"
                        "{'type':'object','properties':{'x':{'type':'number',"
                        "'description':'Hidden'}}}}}}}}]}";
  int64_t base = total(v, "", user);
  int64_t one = 9 + words(v, "namespace functions {\n\ntype ebb = () => any;\n\n} // "
                             "namespace functions");
  CHECK("a function without properties", total_with(v, bare, user) - base == one);
  CHECK("properties, enums, lists, nesting",
        total_with(v, full, user) - base ==
            9 + words(v,
                      "namespace functions {\n\n// Takes a depth\ntype sound = (_: {\n"
                      "// Of length\nunit: \"metre\" | \"foot\",\nmarks?: number[],\n"
                      "at?: {\n  port?: boolean,\n  deep?: {\n    x?: number,\n},\n},\n"
                      "}) => any;\n\n} // namespace functions"));
  CHECK("no functions cost nothing",
        total_with(v, "{'functions':[],'function_call':'none'}", user) == base);
  CHECK("none costs one",
        total_with(v, "{'functions':[{'name':'ebb'}],'function_call':'none'}", user) -
                base ==
            one + 1);
  CHECK("one that is named costs its name",
        total_with(v, "{'functions':[{'name':'ebb'}],'function_call':{'name':'ebb'}}",
                   user) -
                base ==
            one + 4 + words(v, "ebb"));
  CHECK("a system message takes them up",
        total_with(v, bare, system) - total(v, "", system) ==
            one - 4 + words(v, "Be brief\n") - words(v, "Be brief"));
  CHECK("a result of the older form has a role and a name",
        total(v, "",
              "{'role':'user','content':'go'}\n{'role':'assistant','content':null,"
              "'function_call':{'name':'ebb','arguments':'{}'}}\n"
              "{'role':'function','name':'ebb','content':'low'}\n") ==
            base + 3 + words(v, "assistant") + 3 + words(v, "ebb") + words(v, "{}") + 3 +
                words(v, "function") + 1 + words(v, "ebb") + words(v, "low") - 2);
}

/* ---- images ---- */

static void add_base64(np_buf *b, const uint8_t *p, size_t n) {
  static const char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < n; i += 3) {
    uint32_t bits = (uint32_t)p[i] << 16 | (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) |
                    (i + 2 < n ? p[i + 2] : 0u);
    for (int j = 0; j < 4; j++)
      np_buf_addc(b, i + (size_t)j <= n ? digits[bits >> (18 - 6 * j) & 63] : '=');
  }
}

static int64_t image_tokens(const char *model, np_json part) {
  const np_model *m = np_model_find(np_str_cstr(model));
  return np_image_tokens(m->image, np_image_read(part), NULL);
}

static int64_t image(const uint8_t *p, size_t n, const char *detail) {
  np_buf b;
  np_json part;
  np_buf_init(&b, &np_alloc_libc);
  np_buf_adds(&b, "{\"type\":\"image_url\",\"image_url\":{\"detail\":\"");
  np_buf_adds(&b, detail);
  np_buf_adds(&b, "\",\"url\":\"data:image/x;base64,");
  add_base64(&b, p, n);
  np_buf_adds(&b, "\"}}");
  CHECK("an image part is JSON", np_json_check(np_buf_str(&b), &part, NULL) == NEAP_OK);
  int64_t tokens = image_tokens("gpt-4o", part);
  np_buf_free(&b);
  return tokens;
}

static int64_t png(uint32_t w, uint32_t h, const char *detail) {
  uint8_t p[24] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n',
                   0,    0,   0,   13,  'I',  'H',  'D',  'R'};
  for (int i = 0; i < 4; i++) {
    p[16 + i] = (uint8_t)(w >> (24 - 8 * i));
    p[20 + i] = (uint8_t)(h >> (24 - 8 * i));
  }
  return image(p, sizeof p, detail);
}

static void test_images(void) {
  static const struct {
    uint32_t w, h;
    int64_t tokens;
  } sizes[] = {{1, 1, 255},       {512, 512, 255},    {513, 512, 425},
               {1024, 1024, 765}, {2048, 4096, 1105}, {4096, 8192, 1105},
               {768, 2048, 1445}, {100, 100000, 765}, {4294967295u, 1, 765},
               {0, 0, 1445}};
  for (size_t i = 0; i < NP_COUNT(sizes); i++) {
    int64_t n = png(sizes[i].w, sizes[i].h, "high");
    if (n != sizes[i].tokens)
      fprintf(stderr, "%u x %u: %lld\n", sizes[i].w, sizes[i].h, (long long)n);
    CHECK("an image costs its tiles", n == sizes[i].tokens);
  }
  CHECK("low detail costs the base", png(4096, 8192, "low") == 85);
  CHECK("auto is high", png(1024, 1024, "auto") == 765);
  static const uint8_t gif[] = {'G', 'I', 'F', '8', '9', 'a', 0x00, 0x04, 0x00, 0x04};
  CHECK("a GIF's size is read", image(gif, sizeof gif, "high") == 765);
  static const uint8_t jpeg[] = {0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 'x', 'x', 0xFF, 0xC0,
                                 0,    17,   8,    4,    0, 4, 0,   3,   1,    0};
  CHECK("a JPEG's size is read behind other segments",
        image(jpeg, sizeof jpeg, "high") == 765);
  static const uint8_t odd[] = {0xFF, 0xD8, 0xFF, 0xE0, 0,    0, 0xFF,
                                0xE0, 0,    0,    0xFF, 0xE0, 0, 0};
  CHECK("what cannot be read costs the most",
        image(odd, sizeof odd, "high") == 85 + 170 * 8);
  static const char *const forms[] = {
      "{'type':'image_url','image_url':{'url':'https://x/y.png'}}",
      "{'type':'image_url','image_url':'https://x'}", "{'type':'image'}",
      "{'type':'image_url','image_url':{'url':5}}",
      "{'type':'image_url','image_url':{'url':'data:;base64,'}}"};
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  for (size_t i = 0; i < NP_COUNT(forms); i++) {
    np_json part;
    np_json_check(golden_json(&b, forms[i]), &part, NULL);
    CHECK("an image elsewhere costs the most",
          image_tokens("gpt-4o", part) == 85 + 170 * 8);
  }
  np_buf_free(&b);
}

/* A picture of a megabyte and a half in a result: no text, a word says that it was there. */
static void test_image_in_result(void) {
  golden g;
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  np_buf_adds(&b, "{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":[{\"type\":"
                  "\"image_url\",\"image_url\":{\"url\":"
                  "\"data:image/png;base64,");
  for (int i = 0; i < 1500000; i++) np_buf_addc(&b, (char)('A' + i % 26));
  np_buf_adds(&b, "\"}}]}");
  golden_open(&g, o200k, "openai", 1000000);
  golden_history(&g, "{'role':'user','content':'go'}\n{'role':'assistant','content':null,"
                     "'tool_calls':[{'id':'a','type':"
                     "'function','function':{'name':'shot','arguments':'{}'}}]}\n");
  golden_add(&g, np_buf_str(&b));
  np_pack_begin(&g.pack, NULL);
  int64_t tokens;
  np_str body = golden_body(&g);
  CHECK("it does not count as text", np_pack_tokens(&g.pack) < 60 && body.n < 1000);
  CHECK("pairing holds", openai_check(o200k, body, 0, &tokens) == NULL &&
                             tokens == np_pack_tokens(&g.pack));
  golden_close(&g);
  np_buf_free(&b);
}

/* ---- published cases ---- */

static bool read_file(const char *path, np_buf *out) {
  FILE *f = fopen(path, "rb");
  char chunk[4096];
  size_t n;
  if (!f) return false;
  while ((n = fread(chunk, 1, sizeof chunk, f)) > 0) np_buf_add(out, np_str_of(chunk, n));
  fclose(f);
  return true;
}

static int64_t int_of(np_json object, const char *key) {
  np_json v;
  char digits[24] = "";
  if (!np_json_get(object, key, &v) || v.raw.n >= sizeof digits) return -1;
  memcpy(digits, v.raw.p, v.raw.n);
  return strtoll(digits, NULL, 10);
}

/* The request's older members, as a host sets them. */
static np_str older_members(np_json which, np_buf *out) {
  np_json functions, choice;
  if (!np_json_get(which, "functions", &functions)) return NP_LIT("");
  np_buf_adds(out, "{\"functions\":");
  np_buf_add(out, functions.raw);
  if (np_json_get(which, "function_call", &choice)) {
    np_buf_adds(out, ",\"function_call\":");
    np_buf_add(out, choice.raw);
  }
  np_buf_addc(out, '}');
  return np_buf_str(out);
}

/* A call or result that stands alone would go out otherwise than it came: it gets its
** partner, and *more what that costs by the published rule. */
static void add_paired(golden *g, const np_vocab *v, np_json m, int64_t *more) {
  np_json role, name, call;
  np_buf b;
  np_buf_init(&b, &np_alloc_libc);
  np_json_get(m, "role", &role);
  if (np_json_is_key(role.raw, "function") && np_json_get(m, "name", &name)) {
    np_buf_adds(&b,
                "{\"role\":\"assistant\",\"content\":null,\"function_call\":{\"name\":");
    np_buf_add(&b, name.raw);
    np_buf_adds(&b, ",\"arguments\":\"{}\"}}");
    golden_add(g, np_buf_str(&b));
    np_str bare = np_str_cut(name.raw, 1, name.raw.n - 1);
    *more +=
        3 + words(v, "assistant") + 3 + (int64_t)np_vocab_count(v, bare) + words(v, "{}");
  }
  golden_add(g, m.raw);
  if (np_json_get(m, "function_call", &call) && np_json_get(call, "name", &name)) {
    np_buf_clear(&b);
    np_buf_adds(&b, "{\"role\":\"function\",\"content\":\"so\",\"name\":");
    np_buf_add(&b, name.raw);
    np_buf_addc(&b, '}');
    golden_add(g, np_buf_str(&b));
    np_str bare = np_str_cut(name.raw, 1, name.raw.n - 1);
    *more += 3 + words(v, "function") + 1 + (int64_t)np_vocab_count(v, bare) - 2 +
             words(v, "so");
  }
  np_buf_free(&b);
}

static int64_t published(const np_vocab *v, np_json which) {
  np_json tools = {0}, messages, m;
  golden g;
  np_buf members;
  int64_t more = 0;
  np_buf_init(&members, &np_alloc_libc);
  golden_open(&g, v, "openai", 1000000);
  np_json_get(which, "tools", &tools);
  np_view_set_head(&g.pack.view, tools.raw.p ? tools.raw : NP_LIT(""),
                   older_members(which, &members), false);
  np_json_get(which, "messages", &messages);
  np_json_iter it = np_json_each(messages);
  while (np_json_next(&it, NULL, &m)) add_paired(&g, v, m, &more);
  np_pack_begin(&g.pack, NULL);
  int64_t n = np_pack_tokens(&g.pack);
  golden_close(&g);
  np_buf_free(&members);
  return n - more;
}

static void test_published(void) {
  const char *dir = check_shared();
  char path[600];
  np_buf text;
  np_json root, list, c;
  int compared = 0;
  np_buf_init(&text, &np_alloc_libc);
  snprintf(path, sizeof path, "%s/vocab/chat-cases.json", dir ? dir : "");
  if (!dir || !read_file(path, &text)) {
    check_skip("published counts", "the shared cases are not here");
    np_buf_free(&text);
    return;
  }
  CHECK("the cases are JSON", np_json_check(np_buf_str(&text), &root, NULL) == NEAP_OK);
  np_json_get(root, "cases", &list);
  np_json_iter it = np_json_each(list);
  while (np_json_next(&it, NULL, &c)) {
    int64_t n = published(o200k, c);
    if (n != int_of(c, "tokens"))
      fprintf(stderr, "%lld: %.*s\n", (long long)n, (int)c.raw.n, c.raw.p);
    CHECK("a published count is met", n == int_of(c, "tokens"));
    compared++;
  }
  CHECK("there were cases", compared >= 32);
  np_json_get(root, "cookbook", &c);
  CHECK("the cookbook's messages",
        published(o200k, c) == int_of(c, "o200k_base") && int_of(c, "o200k_base") == 124);
  CHECK("the cookbook's messages, older encoding",
        published(cl100k, c) == int_of(c, "cl100k_base"));
  np_json_get(root, "cookbook_tools", &c);
  CHECK("the cookbook's tools", published(o200k, c) == 101);
  CHECK("the cookbook's tools, older encoding", published(cl100k, c) == 105);
  np_json_get(root, "images", &c);
  np_json_get(c, "openai_tiles", &c);
  np_json_get(c, "cases_gpt4o", &list);
  it = np_json_each(list);
  while (np_json_next(&it, NULL, &c)) {
    np_json detail;
    np_json_get(c, "detail", &detail);
    CHECK("a published image count is met",
          int_of(c, "tokens") == png((uint32_t)int_of(c, "w"), (uint32_t)int_of(c, "h"),
                                     np_json_is_key(detail.raw, "low") ? "low" : "high"));
  }
  np_buf_free(&text);
}

int main(void) {
  o200k = golden_vocab("o200k_base");
  cl100k = golden_vocab("cl100k_base");
  if (!o200k || !cl100k) return check_done();
  test_formula(o200k);
  test_formula(cl100k);
  test_tools(o200k, 7);
  test_tools(cl100k, 10);
  test_functions(o200k);
  test_functions(cl100k);
  test_images();
  test_image_in_result();
  test_published();
  np_vocab_free(o200k);
  np_vocab_free(cl100k);
  return check_done();
}
