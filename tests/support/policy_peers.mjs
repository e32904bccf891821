// What a public package shows of a history, turn by turn: node policy_peers.mjs MODULES CASE. CASE
// is a file with an object: peer, options, window, clock, messages (tests/support/sources.lua
// makes them). Prints a list of strings, one a turn, a letter a result: F full, T trimmed, M
// cleared, S behind a summary. A summary that is due in one turn is there in the next, as neap
// has it. next: policy_peers.lua
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

console.log = console.debug = () => {}; // packages talk; the answer alone goes out
const [modules, file] = process.argv.slice(2);
const folder = path.resolve(modules, "node_modules");
const need = createRequire(path.resolve(modules, "package.json"));
const load = (name) => import(pathToFileURL(path.join(folder, name)).href);
const input = JSON.parse(fs.readFileSync(file, "utf8"));
const { options = {}, window, clock } = input;

const isTurn = (m) => !m.message || m.message.role === "assistant";
const callsOf = (m) => (m.tool_calls || []).map(({ id, function: f }) => {
  return { id, name: f.name, args: JSON.parse(f.arguments) };
});
const toolOf = new Map(); // the tool of a call, by its id

// ---- LangChain: the edit is applied to a copy of the whole history, each time ---------------

async function langchain() {
  const { AIMessage, HumanMessage, ToolMessage } = need("@langchain/core/messages");
  const { ClearToolUsesEdit } = need("langchain");
  const list = [];
  const edit = new ClearToolUsesEdit({
    trigger: { tokens: options.trigger ?? 100000 },
    keep: { messages: options.keep ?? 3 },
    excludeTools: (options.exclude || "").split(",").filter((name) => name),
  });
  const size = (m) => Math.ceil(m.content.length / 4);
  const countTokens = (some) => some.reduce((n, m) => n + size(m), 0);
  const make = {
    user: (m) => new HumanMessage({ content: m.content }),
    tool: (m) => new ToolMessage({ content: m.content, tool_call_id: m.tool_call_id }),
    assistant: (m) => new AIMessage({
      content: m.content || "",
      tool_calls: callsOf(m).map((call) => ({ ...call, type: "tool_call" })),
    }),
  };
  return {
    push: (m) => list.push(make[m.role](m)),
    async turn() {
      const messages = [...list];
      await edit.apply({ messages, model: {}, countTokens });
      const results = messages.filter((m) => ToolMessage.isInstance(m));
      return results.map((m) => (m.content === "[cleared]" ? "M" : "F"));
    },
  };
}

// ---- pi and OpenClaw: their own messages ----------------------------------------------------

function agentMessage(m) {
  const text = { type: "text", text: m.content };
  if (m.role === "user") return { role: "user", content: [text] };
  if (m.role === "tool") {
    const toolName = toolOf.get(m.tool_call_id);
    return { role: "toolResult", toolCallId: m.tool_call_id, toolName, content: [text] };
  }
  const calls = callsOf(m).map((c) => ({ type: "toolCall", id: c.id, name: c.name, arguments: c.args }));
  return { role: "assistant", content: m.content ? [text, ...calls] : calls };
}

async function pi() {
  const C = await load("@mariozechner/pi-coding-agent/dist/core/compaction/compaction.js");
  const settings = C.DEFAULT_COMPACTION_SETTINGS;
  const entries = [];
  let first = 0; // the first entry that is kept
  let next = 0; // and from the next turn on
  return {
    push: (m) => entries.push({ type: "message", message: agentMessage(m) }),
    turn() {
      const folded = (first = next);
      const kept = entries.slice(first);
      const tokens = kept.reduce((n, e) => n + C.estimateTokens(e.message), 0);
      if (C.shouldCompact(tokens, window, settings)) {
        const cut = C.findCutPoint(entries, first, entries.length, settings.keepRecentTokens);
        next = cut.firstKeptEntryIndex;
      }
      const results = entries.flatMap((e, i) => (e.message.role === "toolResult" ? [i] : []));
      return results.map((i) => (i < folded ? "S" : "F"));
    },
  };
}

// The bundle whose functions are exported under one letter.
async function bundle(of) {
  const dist = path.join(folder, "openclaw", "dist");
  for (const name of fs.readdirSync(dist).sort()) {
    if (!name.endsWith(".mjs")) continue;
    const text = fs.readFileSync(path.join(dist, name), "utf8");
    const alias = text.includes(`function ${of}(`) && text.match(new RegExp(`\\b${of} as (\\w+)`));
    if (alias) return (await load(`openclaw/dist/${name}`))[alias[1]];
  }
  throw new Error(`openclaw has no ${of}`);
}

async function openclaw() {
  const prune = await bundle("pruneExpiredCacheTtlToolResults");
  const settings = (await bundle("resolveCacheTtlPruningSettings"))({ mode: "cache-ttl" });
  const projectionState = (await bundle("createToolResultPromptProjectionState"))();
  const list = [];
  let touched = null;
  const letter = (m) => {
    const text = m.content[0].text;
    if (text.includes("content cleared]")) return "M";
    return text.includes("[Tool result trimmed:") ? "T" : "F";
  };
  return {
    push: (m) => list.push(agentMessage(m)),
    turn(now) {
      const messages = prune({
        messages: list,
        settings,
        projectionState,
        pruneNewRounds: true,
        lastCacheTouchAt: touched,
        now,
        contextWindowTokens: window,
      });
      touched = now;
      return messages.filter((m) => m.role === "toolResult").map(letter);
    },
  };
}

// ---- Gemini CLI -----------------------------------------------------------------------------

function content(m) {
  if (m.role === "user") return { role: "user", parts: [{ text: m.content }] };
  if (m.role === "tool") {
    const id = m.tool_call_id;
    const functionResponse = { id, name: toolOf.get(id), response: { output: m.content } };
    return { role: "user", parts: [{ functionResponse }] };
  }
  const parts = callsOf(m).map((c) => ({ functionCall: { id: c.id, name: c.name, args: c.args } }));
  return { role: "model", parts: m.content ? [{ text: m.content }, ...parts] : parts };
}

const isResult = (c) => c.parts.some((p) => p.functionResponse);

async function gemini_masking() {
  const S = await load("@google/gemini-cli-core/dist/src/context/toolOutputMaskingService.js");
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "neap-gemini-"));
  process.on("exit", () => fs.rmSync(scratch, { recursive: true, force: true }));
  const limits = {
    protectionThresholdTokens: S.DEFAULT_TOOL_PROTECTION_THRESHOLD,
    minPrunableThresholdTokens: S.DEFAULT_MIN_PRUNABLE_TOKENS_THRESHOLD,
    protectLatestTurn: S.DEFAULT_PROTECT_LATEST_TURN,
  };
  const config = {
    getToolOutputMaskingConfig: async () => limits,
    getSessionId: () => undefined,
    getUsageStatisticsEnabled: () => false,
    storage: { getProjectTempDir: () => scratch },
  };
  const service = new S.ToolOutputMaskingService();
  let history = [];
  return {
    push: (m) => history.push(content(m)),
    async turn() {
      history = (await service.mask(history, config)).newHistory;
      const text = (c) => JSON.stringify(c.parts);
      const masked = (c) => text(c).includes(S.MASKING_INDICATOR_TAG);
      return history.filter(isResult).map((c) => (masked(c) ? "T" : "F"));
    },
  };
}

async function gemini_split() {
  const S = await load("@google/gemini-cli-core/dist/src/context/chatCompressionService.js");
  const list = [];
  let first = 0;
  let next = 0;
  return {
    push: (m) => list.push(content(m)),
    turn() {
      const folded = (first = next);
      const kept = list.slice(first);
      const tokens = kept.reduce((n, c) => n + JSON.stringify(c).length / 4, 0);
      if (tokens >= 0.5 * window) next = first + S.findCompressSplitPoint(kept, 0.7);
      const results = list.flatMap((c, i) => (isResult(c) ? [i] : []));
      return results.map((i) => (i < folded ? "S" : "F"));
    },
  };
}

// ---- the turns ------------------------------------------------------------------------------

const peer = await { langchain, pi, openclaw, gemini_masking, gemini_split }[input.peer]();
const shown = [];
let now = 1700000000000;
for (const m of input.messages) {
  if (isTurn(m)) {
    now += 1000 + 1000 * m.idle;
    shown.push((await peer.turn(now)).join(""));
  }
  if (!m.message) continue;
  for (const call of callsOf(m.message)) toolOf.set(call.id, call.name);
  peer.push(m.message);
}
fs.writeSync(1, JSON.stringify(shown) + "\n");
process.exit(0);
