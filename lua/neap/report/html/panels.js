// What stands beside the pictures, in words: the measures of a run, a turn's prompt, an entry's
// life, the facts that were gone or only pointed at. next: main.js
"use strict";

const MANY = 200; // rows of a list before the rest waits for a button

function nameOf(e) {
  const tool = e.tool ? (e.kind === "result" ? ` of ${e.tool}` : ` ${e.tool}`) : "";
  return `${e.kind}${tool}${e.path ? ` ${e.path}` : ""}`;
}

function entryButton(id, pick) {
  return el("button", { class: "plain num", type: "button", "data-entry": id, onclick: () => pick(id) }, `${id}`);
}

// Rows made when they are wanted: the first MANY, then a button for the rest.
function longTable(head, items, rowOf, what) {
  const body = el("tbody", {}, items.slice(0, MANY).map(rowOf));
  const table = el("table", {}, el("thead", {}, el("tr", {}, head.map(([name, side]) =>
    el("th", { scope: "col", class: side || null }, name)))), body);
  const box = el("div", { class: "rows", tabindex: 0, role: "region", "aria-label": what }, table);
  if (items.length <= MANY) return [box];
  const more = el("button", { type: "button" }, `show all ${count(items.length)}`);
  more.addEventListener("click", () => {
    body.append(...items.slice(MANY).map(rowOf));
    more.remove();
    box.focus();
  });
  return [box, more];
}

// ---- the measures of a run ------------------------------------------------------------------

function shareOf(facts, name) {
  return facts && facts.cited ? `${percent(facts[name] / facts.cited)} (${count(facts[name])})` : null;
}

function measureList(about, full) {
  const m = about.measures, far = m.far, money = m.currency ? "$" : "";
  const cost = `${money}${m.currency ? m.cost.toFixed(4) : count(m.cost)}`;
  const c = m.constraints, one = (n) => (n === undefined ? null : percent(n));
  return [
    ["turns", count(m.turns)],
    ["cost", full ? `${cost} (${part(m.cost, full)} of full)` : cost],
    ["input tokens", count(m.input_tokens)],
    ["cached", part(m.cached_tokens, m.input_tokens)],
    ["epochs", count(m.epochs)],
    ["sent anew by rewrites", count(m.rewritten_tokens || 0)],
    ["p95 of the window", one(m.watermark_p95)],
    ["p95 of the budget", one(m.usage_p95)],
    ["facts cited, > 10 steps", count(far.cited)],
    ["present", shareOf(far, "present")],
    ["noted in a summary", shareOf(far, "noted")],
    ["pointed at by a mark", shareOf(far, "pointed")],
    ["gone", shareOf(far, "gone")],
    ["reads of what is pointed at", m.recalls ? `${count(m.recalls)}, ${plural(m.recalled_tokens, "token")}` : null],
    ["gone at any distance", shareOf(m.facts, "gone")],
    ["words present", m.words && m.words.cited ? percent(m.words.present / m.words.cited) : null],
    ["density", one(m.density)],
    ["density by rarity", one(m.density_rare)],
    ["constraints shown", c && c.due ? percent((c.present + c.noted) / c.due) : null],
    ["calls made again", m.calls_again ? `${count(m.calls_again)}, ${count(m.repeats)} unseen` : null],
    ["needs gone", shareOf(m.needs && { ...m.needs, cited: m.needs.needed }, "gone")],
    ["pollution", one(m.pollution)],
    ["refuted facts shown", one(m.exposed)],
    ["turns that did not fit", m.overflow ? count(m.overflow) : null],
    ["requests refused", m.refused ? count(m.refused) : null],
    ["errors of hooks", m.hook_errors ? count(m.hook_errors) : null],
    ["steps left at the end", m.steps_left === undefined ? null : count(m.steps_left)],
  ].filter(([, value]) => value !== null && value !== undefined);
}

function drawMeasures(box, about, full) {
  box.replaceChildren(...measureList(about, full).map(([name, value]) =>
    el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

// ---- a turn's prompt ------------------------------------------------------------------------

function rungCell(change, e) {
  const tokens = change.tokens === e.full ? count(e.full) : `${count(change.tokens)} of ${count(e.full)}`;
  return [el("td", { class: "l" }, RUNGS[change.rung]), el("td", {}, tokens)];
}

// What stands in the prompt, as far as the file has it.
function shownText(run, e, change) {
  if (change.rung === 1) return e.text === undefined ? "" : e.text;
  return change.mark || "";
}

function promptRow(run, item, pick) {
  const { e, change, title } = item;
  if (title) return el("tr", {}, el("th", { colspan: 5, scope: "rowgroup", class: "l" }, title));
  return el("tr", {}, el("td", {}, entryButton(e.id, pick)), el("td", { class: "l" }, bdi(nameOf(e))),
    ...rungCell(change, e),
    el("td", { class: "l" }, el("code", { class: "text" }, shownText(run, e, change))));
}

const PROMPT_HEAD = [["entry"], ["what", "l"], ["rung", "l"], ["tokens"], ["text, its beginning", "l"]];

// With a line before the entries of each region: what the region takes.
function withRegions(shown, t) {
  const rows = [];
  let last = null;
  for (const item of shown) {
    const region = item.e.region;
    if (region !== last) rows.push({ title: `${region}, ${plural(t.regions[region] || 0, "token")}` });
    last = region;
    rows.push(item);
  }
  return rows;
}

// The entries that a turn shows, in the order of the regions, and how many it does not.
function promptOf(run, turn) {
  const shown = [], hidden = [0, 0, 0, 0, 0, 0, 0];
  run.entries.forEach((e, k) => {
    const change = stateAt(run.lives[k], turn);
    if (!change) return;
    if (change.rung >= 1 && change.rung <= 4) shown.push({ e, change });
    else hidden[change.rung]++;
  });
  shown.sort((a, b) => REGIONS.indexOf(a.e.region) - REGIONS.indexOf(b.e.region) || a.e.id - b.e.id);
  return { shown, hidden };
}

// A sentence on what the step after the turn used and the prompt did not show.
function neededThen(what, list, of, pick) {
  if (!list.length) return [];
  return [el("p", {}, `Step ${list[0].step} then needed ${what}: `,
    list.slice(0, 12).flatMap((g, i) => [i ? ", " : "", el("code", {}, g.name), " of ", entryButton(g[of], pick)]),
    list.length > 12 ? ` and ${list.length - 12} more.` : ".")];
}

function drawTurn(box, run, turn, pick) {
  const t = run.turns[turn - 1], { shown, hidden } = promptOf(run, turn);
  const lost = run.lost.filter((g) => g.turn === turn);
  const gone = lost.filter((g) => !g.pointer), pointed = lost.filter((g) => g.pointer);
  const parts = [el("p", {}, `${turnWords(run, turn)}.`)];
  if (t && t.short === undefined) {
    const own = shown.reduce((sum, item) => sum + item.change.tokens, 0);
    const away = [5, 6].filter((r) => hidden[r]).map((r) => `${count(hidden[r])} ${RUNGS[r]}`);
    parts.push(el("p", { class: "soft" }, `${plural(shown.length, "entry").replace("entrys", "entries")} shown`
      + `${away.length ? `, ${away.join(", ")}` : ""}; tool schemas, framing and notices take `
      + `${count(Math.max(0, t.tokens - own))} tokens.`));
    parts.push(...neededThen("what was gone", gone, "credited", pick));
    parts.push(...neededThen("what was only pointed at", pointed, "pointer", pick));
    parts.push(...longTable(PROMPT_HEAD, withRegions(shown, t), (item) => promptRow(run, item, pick), `Prompt of turn ${turn}`));
    if (run.recording.file && run.about.word) {
      parts.push(el("p", { class: "soft" }, "All of it: ", el("code", {},
        `neap show ${run.recording.file} --turn ${turn} -p ${run.about.word}`)));
    }
  }
  box.replaceChildren(...parts);
}

// ---- an entry's life ------------------------------------------------------------------------

function cameWords(e, change) {
  const as = change.rung === 1 ? "in full" : `as ${RUNGS[change.rung]}`;
  return `first in a prompt, ${as}, ${plural(change.tokens, "token")}`;
}

// What happened, in order: changes come before the step that answers their turn's prompt.
function eventsOf(run, e) {
  const life = run.lives[e.id - 1], list = [];
  life.forEach((change, i) => {
    const before = i ? life[i - 1] : null;
    const words = before
      ? `${RUNGS[before.rung]} → ${RUNGS[change.rung]}, ${plural(change.tokens, "token")}`
      : cameWords(e, change);
    const why = change.why === undefined ? [] : [": ", bdi(change.why || "no reason"), change.by ? [" (", el("code", {}, change.by), ")"] : ""];
    list.push({ at: change.turn, order: 0, turn: change.turn, nodes: [words, ...why.flat()] });
  });
  const byWhom = new Map();
  for (const c of run.cites) {
    if (c.credited !== e.id) continue;
    if (!byWhom.has(c.by)) byWhom.set(c.by, []);
    byWhom.get(c.by).push(c.name);
  }
  for (const [by, names] of byWhom) {
    const step = run.entries[by - 1].step, turn = run.turns.find((t) => t.step >= step);
    const state = turn && stateAt(life, turn.turn);
    list.push({ at: turn ? turn.turn : step, order: 1, turn: turn && turn.turn, by, names, step, state });
  }
  return list.sort((a, b) => a.at - b.at || a.order - b.order);
}

function citationNodes(one, pick) {
  const state = one.state ? RUNGS[one.state.rung] : "not yet shown";
  return [`step ${one.step}, entry `, entryButton(one.by, pick), " cites ",
    one.names.slice(0, 8).flatMap((n, i) => [i ? ", " : "", el("code", {}, n)]),
    one.names.length > 8 ? ` and ${one.names.length - 8} more` : "",
    state === "full" ? "" : ` (this was ${state})`];
}

function drawEntry(box, run, id, turn, pick, pickTurn) {
  const e = run.entries[id - 1];
  if (!e) {
    box.replaceChildren(el("p", { class: "soft" }, "The recording has no entry."));
    return;
  }
  const now = stateAt(run.lives[id - 1], turn), parts = [];
  parts.push(el("p", {}, `Entry ${id}: `, bdi(nameOf(e)), `, step ${e.step}, `
    + `${plural(e.full, "token")}, region ${e.region}${e.isError ? ", an error" : ""}`
    + `${e.isOwn ? ", made by the policy" : ""}`, ...(e.pair
    ? [`; its ${e.kind === "call" ? "result" : "call"} is `, entryButton(e.pair, pick)] : []), "."));
  parts.push(el("p", { class: "soft" }, now
    ? `In turn ${turn} it is ${RUNGS[now.rung]}, ${plural(now.tokens, "token")}.`
    : `In turn ${turn} it is not in the prompt yet.`));
  const events = eventsOf(run, e);
  const items = events.slice(0, MANY).map((one) => el("li", {}, one.turn
    ? el("button", { class: "plain", type: "button", onclick: () => pickTurn(one.turn) }, `turn ${one.turn}`) : "after the last turn",
    ": ", one.nodes || citationNodes(one, pick)));
  if (events.length > MANY) items.push(el("li", {}, `and ${count(events.length - MANY)} more events`));
  parts.push(items.length ? el("ol", { class: "life" }, items) : el("p", {}, "It is in no prompt."));
  if (now && now.mark) parts.push(el("p", { class: "soft" }, `What stands in turn ${turn}:`), el("pre", {}, now.mark));
  if (e.text) parts.push(el("p", { class: "soft" }, "Its text, the beginning:"), el("pre", {}, e.text));
  else parts.push(el("p", { class: "soft" }, e.text === "" ? "It has no text." : "Texts are left out of this file."));
  box.replaceChildren(...parts);
}

// ---- facts that were not shown --------------------------------------------------------------

function costWords(about, cost) {
  return about.measures.currency ? `$${cost.toFixed(6)}` : count(Math.round(cost));
}

function lostRow(run, g, pick, pickTurn) {
  const life = run.lives[g.credited - 1], state = life && stateAt(life, g.turn);
  const how = g.pointer ? ["pointed at by ", entryButton(g.pointer, pick)] : ["gone"];
  const price = !g.pointer ? "–" : g.cost ? costWords(run.about, g.cost) : "with another";
  return el("tr", { class: g.pointer ? null : "lost" },
    el("td", {}, el("button", { class: "plain num", type: "button", onclick: () => pickTurn(g.turn) }, `${g.step}`)),
    el("td", { class: "l" }, el("code", {}, g.name)), el("td", {}, entryButton(g.credited, pick)),
    el("td", {}, count(g.far)), el("td", { class: "l" }, state ? RUNGS[state.rung] : "–"),
    el("td", { class: "l" }, how), el("td", {}, price), el("td", {}, entryButton(g.by, pick)));
}

const LOST_HEAD = [["step"], ["fact", "l"], ["of entry"], ["steps since"], ["entry then", "l"], ["so it was", "l"], ["its recall costs"], ["needed by"]];

// How many of what was cited was gone, how many pointed at, and what reading these costs.
function lostWords(run, list, isFar) {
  const facts = isFar ? run.about.measures.far : run.about.measures.facts;
  const pointed = list.filter((g) => g.pointer), cost = pointed.reduce((sum, g) => sum + g.cost, 0);
  const reads = pointed.filter((g) => g.cost).length;
  const whole = run.about.measures.cost, share = whole ? ` (${percent(cost / whole)} of the run’s cost)` : "";
  return `Of ${plural(facts.cited, "fact")} cited${isFar ? " more than 10 steps after they were shown" : ""}, `
    + `${count(list.length - pointed.length)} gone, ${count(pointed.length)} pointed at`
    + (reads ? `: ${plural(reads, "read")} would bring these, for ${costWords(run.about, cost)}${share}.` : ".");
}

// `which`: "all", "gone" or "pointed".
function drawLost(box, words, run, isFar, which, pick, pickTurn) {
  const list = isFar ? run.lost.filter((g) => g.far > 10) : run.lost;
  const some = list.filter((g) => which === "all" || Boolean(g.pointer) === (which === "pointed"));
  words.textContent = lostWords(run, list, isFar);
  if (!some.length) {
    box.replaceChildren(el("p", {}, isFar && run.lost.length > list.length
      ? `None here; of what was shown up to 10 steps before: ${count(run.lost.length - list.length)}.` : "None."));
    return;
  }
  box.replaceChildren(...longTable(LOST_HEAD, some, (g) => lostRow(run, g, pick, pickTurn), "Facts that were not shown"));
}
