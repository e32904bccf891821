// One public encoder on the bench's texts, in a process of its own: node peers.mjs PEER TEXTS
// MODULES. CPU time of all threads, as for this build; one JSON object a row. Texts made to be
// hard are grown by doubling, so that one that does not take linear time stops in time.
// next: tokens.lua
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

const [peer, texts, modules] = process.argv.slice(2);
const need = createRequire(path.join(path.resolve(modules), "package.json"));
const ENCODING = "o200k_base";

// What each calls its count of ordinary text.
const open = {
  tiktoken() {
    const enc = need("tiktoken").get_encoding(ENCODING);
    return (s) => enc.encode_ordinary(s).length;
  },
  "gpt-tokenizer"() {
    const enc = need("gpt-tokenizer/cjs/encoding/" + ENCODING);
    const ordinary = { disallowedSpecial: new Set() };
    return (s) => enc.countTokens(s, ordinary);
  },
  "ai-tokenizer"() {
    const { Tokenizer, default: other } = need("ai-tokenizer");
    const enc = new (Tokenizer || other)(need("ai-tokenizer/encoding")[ENCODING]);
    return (s) => enc.encode(s, [], []).length;
  },
  "@microsoft/tiktokenizer"() {
    const m = need("@microsoft/tiktokenizer");
    const ranks = path.join(texts, ENCODING + ".tiktoken");
    const enc = m.createTokenizer(
      ranks,
      m.getSpecialTokensByEncoder(ENCODING),
      m.getRegexByEncoder(ENCODING),
    );
    return (s) => enc.encode(s, []).length;
  },
};

const say = (row) => console.log(JSON.stringify(row));
const cpu = () => process.cpuUsage().user / 1e3 + process.cpuUsage().system / 1e3; // ms
const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
const memory = () => {
  globalThis.gc?.();
  return process.memoryUsage().rss / 1048576;
};

const LEAST = 5;
const ENOUGH = 1500; // ms after which no further repetition begins
const read = (name) => fs.readFileSync(path.join(texts, name), "utf8");

function time(f) {
  const list = [];
  let result;
  const from = cpu();
  while (list.length < LEAST || (list.length < 9 && cpu() - from < 400)) {
    const at = cpu();
    result = f();
    list.push(cpu() - at);
    if (cpu() - from > ENOUGH * LEAST) break;
  }
  return { ms: median(list), result };
}

// Doubles the text until the next doubling, at the rate that showed, would take too long.
function hard(count, s) {
  let last = 0;
  for (let n = 2000; ; n *= 2) {
    let cut = Math.min(n, s.length);
    if (cut < s.length && (s.charCodeAt(cut - 1) & 0xfc00) === 0xd800) cut--;
    const part = s.slice(0, cut);
    const at = cpu();
    const tokens = count(part);
    const ms = cpu() - at;
    const bytes = Buffer.byteLength(part);
    if (cut === s.length) return { bytes, tokens, ms };
    if (last > 5 && (ms * ms) / last > ENOUGH) return { bytes, ms, note: "stopped early" };
    if (ms > ENOUGH) return { bytes, ms, note: "stopped early" };
    last = ms;
  }
}

function file(count, name) {
  const s = read(name);
  if (!name.startsWith("adv_")) {
    const { ms, result } = time(() => count(s));
    const bytes = Buffer.byteLength(s);
    return say({ key: name, value: bytes / ms / 1e3, bytes, tokens: result });
  }
  const m = hard(count, s);
  if (!m.note) Object.assign(m, time(() => count(s)));
  say({ key: name, value: m.bytes / m.ms / 1e3, bytes: m.bytes, tokens: m.tokens, note: m.note });
}

// 200 bytes each, from the plain texts in turn, as bench_token.c cuts them.
function messages(names) {
  const plain = names.map((name) => fs.readFileSync(path.join(texts, name)));
  const at = plain.map(() => 0);
  const list = [];
  for (let k = 0; list.length < 20000; k = (k + 1) % plain.length) {
    const b = plain[k];
    let to = Math.min(at[k] + 200, b.length);
    while (to < b.length && (b[to] & 0xc0) === 0x80) to++;
    if (to > at[k]) list.push(b.subarray(at[k], to).toString("utf8"));
    at[k] = to >= b.length ? 0 : to;
  }
  return list;
}

const PLAIN = [
  "english_prose.txt",
  "code_c.c",
  "code_js_py.txt",
  "json_tools.json",
  "build_log.txt",
  "page.html",
  "chinese.txt",
  "mixed_unicode.txt",
];
const HARD = [
  "adv_base64.txt",
  "adv_cjk_run.txt",
  "adv_a.txt",
  "adv_spaces.txt",
  "adv_newlines.txt",
];

function attempt(key, f) {
  try {
    f();
  } catch (e) {
    say({ key, error: String(e?.message || e).slice(0, 160) });
  }
}

const before = memory();
const began = cpu();
const count = open[peer]();
count("hello");
say({ key: "load", value: cpu() - began });
say({ key: "memory", value: memory() - before });
attempt("first_message", () => {
  const list = messages(PLAIN);
  const all = () => list.reduce((sum, m) => sum + count(m), 0);
  const at = cpu();
  const tokens = all();
  say({ key: "first_message", value: ((cpu() - at) / list.length) * 1e3, tokens });
  const { ms, result } = time(all);
  say({ key: "warm_message", value: (ms / list.length) * 1e3, tokens: result });
});
for (const name of [...PLAIN, ...HARD]) attempt(name, () => file(count, name));
attempt("warm", () => {
  const s = read("english_prose.txt");
  const { ms, result } = time(() => count(s));
  say({ key: "warm", value: Buffer.byteLength(s) / ms / 1e3, tokens: result });
});
attempt("append", () => {
  const s = fs.readFileSync(path.join(texts, "english_prose.txt")).subarray(0, 20000).toString();
  const steps = Math.ceil(s.length / 50);
  const { ms, result } = time(() => {
    let n = 0;
    for (let k = 1; k <= steps; k++) n = count(s.slice(0, k * 50));
    return n;
  });
  say({ key: "append", value: (ms / steps) * 1e3, tokens: result });
});
