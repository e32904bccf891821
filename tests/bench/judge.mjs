// Judges chat requests independently of what made them: the tokens of each by the tiktoken
// package and the published rule for messages, whether calls and results are paired, and how
// much of it a provider would have read from its cache. As a program: node judge.mjs MODULES
// BUDGET, a request a line on standard input, the verdict as one JSON object.
// next: packing_peers.mjs, economy.lua
import path from "node:path";
import readline from "node:readline";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

export const modules = (dir) => createRequire(path.join(path.resolve(dir), "package.json"));

// The published rule: 3 a message and its role, 3 for the answer's beginning. For calls and
// results nothing is published: 3 and the name and arguments, 3 and the content, ids nothing.
const MESSAGE = 4;
const CALL = 3;
const RESULT = 3;
const REPLY = 3;
// A tool's schema by OpenAI's cookbook.
const FUNCTION = 7;
const PROPERTIES = 3;
const PROPERTY = 3;
const FUNCTIONS = 12;

// `encode` makes ids of a text; texts are counted once.
export class Counter {
  constructor(encode) {
    this.encode = encode;
    this.known = new Map();
  }
  text(s) {
    if (!s) return 0;
    let n = this.known.get(s);
    if (n === undefined) this.known.set(s, (n = this.encode(s).length));
    return n;
  }
  message(m) {
    let n = (m.role === "tool" ? RESULT : MESSAGE) + this.text(m.content);
    for (const { function: f } of m.tool_calls || []) {
      n += CALL + this.text(f.name) + this.text(f.arguments);
    }
    return n;
  }
  tools(list) {
    if (!list?.length) return 0;
    let n = FUNCTIONS;
    for (const { function: f } of list) {
      n += FUNCTION + this.text(f.name + ":" + f.description.replace(/\.$/, ""));
      const properties = Object.entries(f.parameters?.properties || {});
      if (properties.length) n += PROPERTIES;
      for (const [key, p] of properties) {
        n += PROPERTY + this.text(`${key}:${p.type}:${(p.description || "").replace(/\.$/, "")}`);
      }
    }
    return n;
  }
  request(messages, tools) {
    return messages.reduce((n, m) => n + this.message(m), REPLY + this.tools(tools));
  }
}

const shape = (m) => JSON.stringify([m.role, m.tool_call_id, m.tool_calls]);
const same = (a, b) => a === b || (a.content === b.content && shape(a) === shape(b));

// Every result answers a call of the message before the results, every call has one.
function isPaired(messages) {
  let open = new Set();
  for (const m of messages) {
    if (m.role === "tool") {
      if (!open.delete(m.tool_call_id)) return false;
    } else {
      if (open.size) return false;
      open = new Set((m.tool_calls || []).map((c) => c.id));
    }
  }
  return open.size === 0 && messages.some((m) => m.role !== "system");
}

export class Judge {
  constructor(counter, budget) {
    Object.assign(this, { counter, budget, before: [], turns: 0, tokens: 0, cached: 0 });
    Object.assign(this, { over: 0, invalid: 0, rewrites: 0, most: 0 });
  }
  // Tokens that the last request and this one begin with.
  shared(messages, base) {
    const { before, counter } = this;
    let n = base;
    let i = 0;
    while (i < before.length && i < messages.length && same(before[i], messages[i])) {
      n += counter.message(messages[i++]);
    }
    const whole = i === before.length;
    if (!whole && i < messages.length && shape(before[i]) === shape(messages[i])) {
      const a = counter.encode(before[i].content || "");
      const b = counter.encode(messages[i].content || "");
      let k = 0;
      while (k < a.length && k < b.length && a[k] === b[k]) k++;
      n += k;
    }
    return { tokens: n, whole };
  }
  turn(messages, tools) {
    const base = this.counter.tools(tools);
    const n = this.counter.request(messages, tools);
    if (this.turns > 0) {
      const { tokens, whole } = this.shared(messages, base);
      this.cached += tokens;
      if (!whole) this.rewrites++;
    }
    this.turns++;
    this.tokens += n;
    this.most = Math.max(this.most, n);
    if (n > this.budget) this.over++;
    if (!isPaired(messages)) this.invalid++;
    this.before = messages;
  }
  // A cached token is 0.1 units, one written 1.25.
  verdict() {
    const { turns, tokens, cached, over, invalid, rewrites, most } = this;
    const units = (0.1 * cached + 1.25 * (tokens - cached)) / tokens;
    return { turns, mean: Math.round(tokens / turns), most, over, invalid, rewrites, units };
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , dir, budget] = process.argv;
  const enc = modules(dir)("tiktoken").get_encoding("o200k_base");
  const judge = new Judge(new Counter((s) => enc.encode_ordinary(s)), Number(budget));
  for await (const line of readline.createInterface({ input: process.stdin })) {
    if (!line) continue;
    const body = JSON.parse(line);
    judge.turn(body.messages, body.tools);
  }
  console.log(JSON.stringify(judge.verdict()));
}
