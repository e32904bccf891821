/*
** What a policy sees of a real history: bodies of assemble that assert it. next: test_policy.c
*/
#include "policy_world.h"

static np_vocab *vocab;

/* Bodies of assemble that must run through: they assert what they see. */
static void test_sights(void) {
  static const char *const bodies[] = {
      "assert(ctx.step == 13 and ctx.budget == 4000 and ctx.window == 5000, ctx.step)",
      "assert(ctx.usage == ctx.tokens / 4000 and ctx.tokens > 2000)",
      "assert(ctx.now == 1700000000000 and ctx.miscount == nil)",
      "assert(ctx.economy.floor == 2000 and ctx.economy.height == 3500)",
      "local q = ctx.economy.quote { to = 1000 } assert(q.cost > 0 and q.saving > 0 and "
      "q.turns == q.cost / q.saving)",
      "assert(ctx.economy.quote {to = 1e9}.turns == nil)",
      "local n = 0 for e in ctx:entries {} do n = n + 1 end local _, m = ctx:entries() "
      "assert(n == m and n == 26, n)",
      "local last = 0 for e in ctx:entries() do assert(e.id > last and e.kind ~= "
      "'system') last = e.id end",
      "local _, n = ctx:entries { kind = 'result' } assert(n == 12)",
      "local _, n = ctx:entries { kind = { 'result', 'call' } } assert(n == 24)",
      "local _, n = ctx:entries { kind = 'result', except_last = 10 } assert(n == 2)",
      "local _, n = ctx:entries { except_last = 1000 } assert(n == 0)",
      "local _, n = ctx:entries { kind = 'result', tool = 'bash' } assert(n == 4)",
      "local _, n = ctx:entries { kind = 'result', tool = { 'bash', 'read' } } assert(n "
      "== 12)",
      "local _, n = ctx:entries { kind = 'result', from = 3, before = 5 } assert(n == 2, "
      "n)",
      "local _, n = ctx:entries { region = 'task' } assert(n == 1)",
      "local _, n = ctx:entries { region = 'fixed' } assert(n == 0)",
      "local _, n = ctx:entries { path = 'src/f3.c' } assert(n == 2)",
      "local _, n = ctx:entries { path = { 'src/f3.c', 'src/f4.c' }, kind = 'result' } "
      "assert(n == 2)",
      "local _, n = ctx:entries { is_error = true } assert(n == 0)",
      "local _, n = ctx:entries { is_error = false, kind = 'call' } assert(n == 12)",
      "assert(not pcall(ctx.entries, ctx, { path = 7 }))",
      "assert(not pcall(ctx.entries, ctx, { tool = { 7 } }))",
      "local _, n = ctx:entries { sent = false } assert(n == 26, n)",
      "local a, b = ctx:span { from = 3, before = 5 }, ctx:span { before = 5 } "
      "assert(a.steps == 2 and a.entries == 4 and b.steps == 4 and b.entries == 8)",
      "assert(ctx:span { from = 5, before = 5 }.entries == 0)",
      "assert(ctx:span { from = 100 }.atoms == 0 and ctx:span { before = -1 }.atoms == "
      "0)",
      "local _, n = ctx:entries { sent = true } assert(n == 0)",
      "local _, n = ctx:entries { min_tokens = 100 } assert(n == 12, n)",
      "local _, n = ctx:entries { at = { 'masked', 'dropped' } } assert(n == 0)",
      "local ok, why = pcall(ctx.entries, ctx, { kin = 1 }) assert(not ok and why:find "
      "\"did you mean 'kind'\", why)",
      "local ok, why = pcall(ctx.entries, ctx, { kind = 'resul' }) assert(why:find \"did "
      "you mean 'result'\", why)",
      "local ok, why = pcall(ctx.entries, ctx, { before = 'x' }) assert(why:find 'before "
      "must be a number', why)",
      "local ok, why = pcall(function() return ctx.stepp end) assert(why:find \"did you "
      "mean 'step'\", why)",
      "for e in ctx:entries { kind = 'result', from = 1, before = 2 } do assert(e.step "
      "== 1 and e.age == 12 and e.tool == 'read'"
      " and e.path == 'src/f1.c' and e.rung == 'full' and e.at == 'full' and e.region == "
      "'hot' and not e.sent"
      " and not e.is_error and not e.pinned and not e.held and e.tokens == e.full_tokens "
      "and e.name == nil"
      " and e.identifiers > 20 and e.repeated_by == nil) end",
      "for e in ctx:entries { kind = 'result', except_last = 11 } do assert(e.text:find "
      "'^line 0 of src/f1.c'"
      " and e:lines(2) == 'line 1 of src/f1.c holds value_101\\n' and e:lines(1, 2):find "
      "'line 1' and e:lines(9999) == '') end",
      "local last, sum = 1e9, 0 for e in ctx:entries { newest = true } do assert(e.id < "
      "last) last = e.id sum = sum + 1 end assert(sum == 26, sum)",
      "local n, first = 0, nil for e in ctx:entries { kind = 'result', newest = true, "
      "except_last = 3 } do first = first or e.step n = n + 1 end assert(n == 9 and "
      "first "
      "== 9, first)",
      "local _, n = ctx:entries { newest = false } assert(n == 26) assert(not "
      "pcall(ctx.entries, ctx, { newest = 1 }))",
      "for e in ctx:entries { kind = 'result' } do local c = e.pair assert(c.kind == "
      "'call' and c.path == e.path and c.step == e.step and c.pair == e) end",
      "for e in ctx:entries { kind = { 'user', 'text' } } do assert(e.pair == nil) end",
      "for e in ctx:entries() do assert(#e.hash == 16 and not e.hash:find '%X', e.hash) "
      "assert(tostring(e) == 'entry ' .. e.id) end",
      "local a, b for e in ctx:entries { region = 'task' } do a = e end for e in "
      "ctx:entries { region = 'task' } do b = e end assert(a == b and a.held)",
      "for e in ctx:entries { kind = 'result', from = 12 } do assert(e.held and e.age == "
      "1) local ok, why = e:mask() assert(ok == false and why:find 'newest step', why) "
      "end",
      "for e in ctx:entries { kind = 'result', before = 3 } do assert(e:mask() == true "
      "and e.rung == 'masked' and e.tokens < e.full_tokens)"
      " assert(select(2, e:mask()):find 'nothing to do') assert(e:restore() and e.rung "
      "== 'full') end",
      "for e in ctx:entries { kind = 'result', before = 3 } do assert(e:trim { tokens = "
      "60, keep = 'head', why = 'long' } and e.tokens < 120) end",
      "for e in ctx:entries { kind = 'result', before = 2 } do assert(e:drop()) "
      "assert(e.rung == 'dropped' and e.tokens == 0) end",
      "for e in ctx:entries { kind = 'result', before = 2 } do assert(e:hold() and "
      "e.held and not e:mask()) end",
      "for e in ctx:entries { kind = 'result', before = 2 } do assert(e:pin() and "
      "e.pinned) end local _, n = ctx:entries { kind = 'result', before = 2 } assert(n "
      "== 0)",
      "for e in ctx:entries { kind = 'result' } do local ok, why = pcall(e.trim, e, { "
      "token = 5 }) assert(why:find \"did you mean 'tokens'\", why) end",
      "for e in ctx:entries { kind = 'result' } do local ok, why = pcall(e.trim, e, { "
      "keep = 'about' }) assert(why:find 'needs about', why) end",
      "for e in ctx:entries { kind = 'result' } do local ok, why = pcall(function() "
      "return e.tokenz end) assert(why:find \"did you mean 'tokens'\", why) end",
      "local s = ctx:span { from = 1, before = 4 } assert(s.steps == 3 and s.entries == "
      "6 and s.atoms == 3 and s.tokens > 300, s.entries)",
      "local s = ctx:span() assert(s.steps == 11, s.steps)",
      "local s, t = ctx:span { from = 1, before = 4 }, ctx.tokens "
      "assert(ctx:fold(s, 'short', 'why') == true and ctx.tokens < t) "
      "local ok, why = ctx:fold(s, 'again') assert(ok == false and why:find 'already') "
      "assert(ctx:span { before = 4 }.atoms == 0)",
      "local ok, why = ctx:fold(ctx:span { before = 4 }, nil, 'no model') assert(ok == "
      "false and why == 'no model')",
      "local ok, why = ctx:fold(ctx:span { before = 2 }, ('long '):rep(3000)) assert(ok "
      "== false and why:find 'cheaper')",
      "local ok, why = ctx:fold(ctx:span { before = 2 }, '\\xff') assert(ok == false and "
      "why:find 'UTF')",
      "local ok, why = ctx:fold(ctx:span { before = 1, from = 1 }, 'x') assert(ok == "
      "false "
      "and why:find 'empty')",
      "local ok, why = pcall(ctx.summarize, ctx, ctx:span()) assert(not ok and why:find "
      "'only compact')",
      "assert(ctx:shrink(2500) == true and ctx.tokens <= 2500)",
      "assert(ctx:shrink(1) == false)",
      "local ok, why = pcall(ctx.shrink, ctx, 1, 'x', 0.1) assert(not ok and why:find "
      "'order')",
      "for _, bad in ipairs { -1, 0/0, 1/0, 'x' } do assert(not pcall(ctx.shrink, ctx, "
      "1, 'x', bad)) end",
      "assert(ctx:shrink(2500, 'x', 0) == true)",
      "local a, b = ctx.random(), ctx.random() assert(a >= 0 and a < 1 and a ~= b)",
      "for i = 1, 200 do local n = ctx.random(3) assert(n >= 1 and n <= 3 and "
      "math.type(n) == 'integer') end",
      "for i = 1, 99 do local n = ctx.random(-5, 5) assert(n >= -5 and n <= 5) end "
      "assert(not pcall(ctx.random, 2, 1))",
      "assert(math.type(ctx.random(math.mininteger, math.maxinteger)) == 'integer')",
      "assert(neap.clamp(5, 1, 3) == 3 and neap.clamp(0, 1, 3) == 1 and neap.clamp(2, 1, "
      "3) == 2 and not pcall(neap.clamp, 1, 3, 2))",
      "assert(neap.pow(2, 10) == 1024 and neap.exp(0) == 1 and neap.ln(1) == 0 and "
      "math.log(8, 2) == 3)",
      "assert(('%q %q %q %q %q'):format(0.1, 2.0, -1 / 0, 1e300, 7) == "
      "'0.10000000000000001 2.0 -1e9999 1.0000000000000001e+300 7')",
      "assert(('%5.2f|%s|%q'):format(1.5, {}, 'a') == ' 1.50|table|\"a\"')",
      "local ok, a, b = xpcall(function(...) return ... end, error, 1, 2) assert(ok and "
      "a == 1 and b == 2)",
      "local ok, a = xpcall(error, function(e) return e .. '!' end, 'x') assert(not ok "
      "and a == 'x!')",
      "local p = table.pack(pcall(error, 'x', 0)) assert(p.n == 2 and p[1] == false and "
      "p[2] == 'x')",
      "local t = { 5, 2, 8 } table.sort(t, function(a, b) return a > b end) "
      "assert(table.concat(t, ',') == '8,5,2')",
      "local t = { 1, 2, 3 } table.insert(t, 1, 0) assert(table.remove(t) == 3 and "
      "table.remove(t, 1) == 0 and #t == 2)",
      "assert(table.concat(table.move({ 1, 2, 3 }, 2, 3, 1), '') == '233')",
      "ctx.state.seen = { 1, 2 } assert(ctx.state.seen[2] == 2) ctx.state = { a = 1 } "
      "assert(ctx.state.a == 1 and not ctx.state.seen)",
  };
  for (size_t i = 0; i < NP_COUNT(bodies); i++) {
    char text[1200];
    world w;
    world_open(&w, vocab, 12);
    snprintf(text, sizeof text, WORLD_ASSEMBLE("%s"), bodies[i]);
    world_outcome o = world_run(&w, text, "");
    if (o.rc) fprintf(stderr, "input: %s\ngot:   %s\n", bodies[i], o.e.text);
    CHECK("a policy sees what it should", o.rc == NEAP_OK);
    world_close(&w);
  }
}

int main(void) {
  vocab = world_vocab();
  test_sights();
  np_vocab_free(vocab);
  return check_done();
}
