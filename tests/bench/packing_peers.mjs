// How public packages of the npm registry keep a conversation inside a budget, on the bench's
// history: node packing_peers.mjs PEER loop|single HISTORY MODULES BUDGET SECONDS. In the loop
// a request is made before every assistant message; single makes one of everything. CPU time
// of all threads; whatever runs longer than SECONDS is stopped and says how far it came. One
// JSON object is printed. Counts are exact, and each message is counted once.
// next: judge.mjs, economy.lua
import fs from "node:fs";
import path from "node:path";
import { spawn } from "node:child_process";
import { pathToFileURL } from "node:url";
import { Counter, Judge, modules } from "./judge.mjs";

const [peer, mode, file, dir, budgetText, seconds, child] = process.argv.slice(2);
const budget = Number(budgetText);
const need = modules(dir);
const cpu = () => (process.cpuUsage().user + process.cpuUsage().system) / 1e3; // ms

// ---- the parent: starts the work and stops it in time --------------------------------------

function guard() {
  const args = [...process.execArgv, ...process.argv.slice(1), "child"];
  const work = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  let stopped = false;
  work.stdout.on("data", (part) => (text += part));
  const timer = setTimeout(() => {
    stopped = true;
    work.kill("SIGKILL");
  }, Number(seconds) * 1e3);
  work.on("close", (code) => {
    clearTimeout(timer);
    const last = text.trim().split("\n").at(-1);
    const row = last ? JSON.parse(last) : { turns: 0 };
    if (stopped || code !== 0) row.stopped = true;
    if (code && !stopped) process.exitCode = 1;
    console.log(JSON.stringify(row));
  });
}

// ---- the peers ------------------------------------------------------------------------------

// An encoder in JavaScript, among the fastest that are exact.
async function counter() {
  const { encode } = need("gpt-tokenizer/cjs/encoding/o200k_base");
  return new Counter((s) => encode(s, { disallowedSpecial: new Set() }));
}

// What a careful team writes itself: counts are kept, calls stay with their results, and when
// the budget is full the oldest go until half of it is left (or, with `low` 1, until it fits).
function loop(low) {
  return async () => {
    const count = await counter();
    const groups = [];
    let system = null;
    let total = 3;
    let first = 0;
    return {
      push(m) {
        const n = count.message(m);
        total += n;
        if (m.role === "system") system = m;
        else if (m.role === "tool") {
          groups.at(-1).list.push(m);
          groups.at(-1).n += n;
        } else groups.push({ list: [m], n });
      },
      assemble() {
        const goal = total > budget ? budget * low : budget;
        while (total > goal && first < groups.length - 1) total -= groups[first++].n;
        const out = [system];
        for (let i = first; i < groups.length; i++) out.push(...groups[i].list);
        return out;
      },
    };
  };
}

async function trimMessages() {
  const m = need("@langchain/core/messages");
  const count = await counter();
  const tokens = new Map(); // by id: the package copies what it is given
  const list = [];
  const mine = new Map();
  const make = {
    system: (c, id) => new m.SystemMessage({ content: c.content, id }),
    user: (c, id) => new m.HumanMessage({ content: c.content, id }),
    tool: (c, id) => new m.ToolMessage({ content: c.content, id, tool_call_id: c.tool_call_id }),
    assistant: (c, id) => {
      const calls = (c.tool_calls || []).map(({ id: of, function: f }) => {
        return { id: of, name: f.name, args: JSON.parse(f.arguments), type: "tool_call" };
      });
      return new m.AIMessage({ content: c.content, id, tool_calls: calls });
    },
  };
  const tokenCounter = (some) => some.reduce((n, one) => n + tokens.get(one.id), 3);
  const options = { maxTokens: budget, strategy: "last", includeSystem: true };
  Object.assign(options, { startOn: "human", tokenCounter });
  return {
    push(one) {
      const id = "m" + list.length;
      list.push(make[one.role](one, id));
      tokens.set(id, count.message(one));
      mine.set(id, one);
    },
    async assemble() {
      return (await m.trimMessages(list, options)).map((one) => mine.get(one.id));
    },
  };
}

async function promptTsx() {
  const entry = pathToFileURL(need.resolve("@vscode/prompt-tsx"));
  const p = (await import(entry)).default;
  const h = globalThis.vscpp;
  const count = await counter();
  const text = (content) =>
    typeof content === "string" ? content : content.map((part) => part.text || "").join("");
  const tokenizer = {
    mode: p.OutputMode.OpenAI,
    tokenLength: (part) => count.text(part.text),
    countMessageTokens: (m) => count.message({ ...m, content: text(m.content || "") }),
  };
  const groups = []; // each a message, or a message with calls and its results
  class History extends p.PromptElement {
    render() {
      return h(globalThis.vscppf, null, ...groups.map((group, i) => piece(group, i + 1)));
    }
  }
  function piece([m, ...results], priority) {
    if (m.role === "system") return h(p.SystemMessage, { priority: 1e9 }, m.content);
    if (m.role === "user") return h(p.UserMessage, { priority }, m.content);
    if (!m.tool_calls) return h(p.AssistantMessage, { priority }, m.content);
    const Keep = p.useKeepWith();
    const toolCalls = m.tool_calls.map((call) => ({ ...call, keepWith: Keep }));
    const call = h(p.AssistantMessage, { toolCalls }, m.content);
    const rest = results.map((r) => {
      return h(Keep, { priority: 1 }, h(p.ToolMessage, { toolCallId: r.tool_call_id }, r.content));
    });
    return h(p.Chunk, { priority }, h(Keep, { priority: 2 }, call), ...rest);
  }
  function plain(m) {
    const out = { role: m.role, content: text(m.content || "") };
    if (m.tool_call_id) out.tool_call_id = m.tool_call_id;
    if (m.tool_calls?.length) {
      out.tool_calls = m.tool_calls.map(({ id, type, function: f }) => ({ id, type, function: f }));
    }
    return out;
  }
  const endpoint = { modelMaxPromptTokens: budget };
  const none = undefined;
  return {
    push(m) {
      if (m.role === "tool") groups.at(-1).push(m);
      else groups.push([m]);
    },
    async assemble() {
      const mode = p.OutputMode.OpenAI;
      return (await p.renderPrompt(History, {}, endpoint, tokenizer, none, none, mode)).messages;
    },
    plain: (messages) => messages.map(plain),
  };
}

const peers = {
  "JavaScript loop, counts kept, to half": loop(0.5),
  "JavaScript loop, counts kept, drop oldest": loop(1),
  "LangChain trimMessages": trimMessages,
  "prompt-tsx": promptTsx,
};

// ---- the work -------------------------------------------------------------------------------

async function single(p, history) {
  const from = cpu();
  for (const m of history) p.push(m);
  const pushed = cpu();
  await p.assemble();
  console.log(JSON.stringify({ ms: cpu() - from, assembly: cpu() - pushed }));
}

// A line of progress twice a second, for when it is stopped.
async function turns(p, history, judge) {
  let ms = 0;
  let worst = 0;
  let said = Date.now();
  let at = cpu();
  for (const m of history) {
    if (m.role === "assistant") {
      const out = await p.assemble();
      const one = cpu() - at;
      ms += one;
      worst = Math.max(worst, one);
      judge.turn(p.plain ? p.plain(out) : out);
      if (Date.now() - said > 500) {
        console.log(JSON.stringify({ ms, worst, ...judge.verdict() }));
        said = Date.now();
      }
      at = cpu();
    }
    p.push(m);
  }
  console.log(JSON.stringify({ ms, worst, ...judge.verdict() }));
}

if (!child) guard();
else {
  const lines = fs.readFileSync(file, "utf8").split("\n");
  const history = lines.filter((line) => line).map((line) => JSON.parse(line));
  const p = await peers[peer]();
  if (mode === "single") await single(p, history);
  else {
    const enc = need("tiktoken").get_encoding("o200k_base");
    await turns(p, history, new Judge(new Counter((s) => enc.encode_ordinary(s)), budget));
  }
}
