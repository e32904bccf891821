/*
** The loop in C: an agent whose context the engine keeps. The model is a script, so that the
** program runs as it is; where call_model stands, an HTTP request to a provider would stand.
**     cc embed.c -lneap && ./a.out            or, in this folder's checkout: make tests
** next: embed.lua
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "neap.h"

static neap_str str(const char *s) {
  return (neap_str){s, strlen(s)};
}

static void die(const neap *n) {
  fprintf(stderr, "embed: %s\n", neap_error(n));
  exit(1);
}

/* What the model decides, turn by turn: what it says and which files it reads. */
static const struct decision {
  const char *says;
  const char *reads[2];
} script[] = {
    {"I look at both logs.", {"monday.log", "tuesday.log"}},
    {"Now the settings.", {"pump.conf", NULL}},
    {"The pump stopped: limit_kpa is 300 and the pressure rose to 312.", {NULL, NULL}},
};

/* The body that a provider would send back. */
static neap_str call_model(int turn, neap_str body) {
  static char out[2048];
  const struct decision *d = &script[turn];
  size_t n = 0;
  if (body.n == 0 || body.p[0] != '{') exit(1); /* a whole request body, ready to send */
  n += (size_t)snprintf(out, sizeof out,
                        "{\"choices\":[{\"message\":{\"role\":\"assistant\","
                        "\"content\":\"%s\"",
                        d->says);
  for (int i = 0; i < 2 && d->reads[i]; i++) {
    n += (size_t)snprintf(
        out + n, sizeof out - n,
        "%s{\"id\":\"call_%d_%d\",\"type\":\"function\",\"function\":"
        "{\"name\":\"read\",\"arguments\":\"{\\\"path\\\":\\\"%s\\\"}\"}}",
        i ? "," : ",\"tool_calls\":[", turn, i, d->reads[i]);
  }
  n += (size_t)snprintf(out + n, sizeof out - n, "%s}}]}", d->reads[0] ? "]" : "");
  return (neap_str){out, n};
}

/* The only tool: reads a "file" of forty lines. */
static neap_str run_tool(const neap_call *c) {
  static char text[4096];
  size_t n = 0;
  for (int i = 1; i <= 40; i++) {
    n += (size_t)snprintf(text + n, sizeof text - n,
                          "line %d: pressure %d kPa, valve open\n", i, 272 + i);
  }
  (void)c;
  return (neap_str){text, n};
}

/* The number behind "name": in the account, -1 when there is none. */
static long number(neap_str json, const char *name) {
  size_t n = strlen(name);
  for (size_t i = 0; i + n + 3 < json.n; i++) {
    if (json.p[i] == '"' && memcmp(json.p + i + 1, name, n) == 0 &&
        json.p[i + n + 1] == '"') {
      return strtol(json.p + i + n + 3, NULL, 10);
    }
  }
  return -1;
}

int main(void) {
  neap *n;
  neap_session *s;
  neap_str body, account, text;
  neap_call c;
  int turn = 0;

  if (neap_open(&(neap_config){.size = sizeof(neap_config)}, &n)) die(n);
  if (neap_session_open(n, "run-1",
                        &(neap_options){.size = sizeof(neap_options),
                                        .policy = "policies/mask_observations.lua",
                                        .options_json = "{\"keep\":1}",
                                        .window = 8000},
                        &s)) {
    die(n);
  }
  if (neap_append(s, str("{\"role\":\"system\",\"content\":\"You watch a pump.\"}")))
    die(n);
  if (neap_append(s, str("{\"role\":\"user\",\"content\":\"Why did it stop?\"}"))) die(n);
  for (;;) {
    if (neap_prompt(s, &body))
      die(n); /* whole request body; valid until the next call on s */
    neap_str answer = call_model(turn++, body);
    if (neap_account(s, &account)) die(n);
    printf("turn %d: %s the budget, epoch %ld\n", turn,
           number(account, "tokens") <= number(account, "budget") ? "within" : "over",
           number(account, "epoch"));
    if (neap_append_response(s, answer)) die(n);
    if (!neap_next_call(s, &c)) break;
    do {
      printf("  %.*s %.*s\n", (int)c.name.n, c.name.p, (int)c.arguments.n, c.arguments.p);
      if (neap_handle(s, &c) && neap_append_result(s, &c, run_tool(&c))) die(n);
    } while (neap_next_call(s, &c));
  }
  /* Whatever is no longer shown is still there. */
  if (neap_entry_text(s, 6, &text)) die(n);
  printf("entry 6 has %zu bytes, masked or not\n", text.n);
  neap_session_close(s);
  neap_close(n);
  return 0;
}
