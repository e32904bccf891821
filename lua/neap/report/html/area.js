// Tokens over turns as stacked areas: by region, in the order of the prompt, so that what was
// read from the cache is what lies below its edge; or by how much is shown. next: grid.js
"use strict";

const CLASSES = [
  ["full", "full", "kept in full"], ["trimmed", "trimmed", "trimmed"],
  ["summary", "folded", "summaries"], ["pointers", "reference", "reference and mark"],
  ["rest", "masked", "tools, framing, notices"],
];

// The layers to draw: { name, colour, values }, the lowest first.
function layersOf(run, how) {
  if (how.by === "rung") {
    const sums = tokensByRung(run);
    return CLASSES.map(([key, tint, name]) => ({ name, tint: `--${tint}`, values: sums[key] }));
  }
  return REGIONS.map((name) => ({
    name, tint: `--r-${name}`,
    values: run.turns.map((t) => (t.short === undefined && t.regions[name]) || 0),
  }));
}

const running = (values) => sums(values);

function swatch(tint) {
  return svg("svg", { viewBox: "0 0 14 9", "aria-hidden": "true" },
    svg("rect", { width: 14, height: 9, fill: `var(${tint})` }));
}

function areaKeys(layers, how) {
  const list = layers.filter((l) => l.any).reverse()
    .map((l) => el("li", {}, swatch(l.tint), l.name));
  if (how.by === "region" && !how.total) {
    const mark = svg("svg", { viewBox: "0 0 14 9", "aria-hidden": "true" },
      svg("rect", { width: 14, height: 9, fill: "var(--soft)" }),
      svg("rect", { width: 14, height: 9, fill: "url(#hatch)" }));
    list.push(el("li", {}, mark, "hatched: read from the cache"));
  }
  return el("ul", { class: "keys" }, list);
}

function stack(layers, n) {
  const low = new Array(n).fill(0);
  for (const layer of layers) {
    layer.any = layer.values.some((v) => v > 0);
    layer.low = low.slice();
    layer.values.forEach((v, i) => (low[i] += v));
    layer.high = low.slice();
  }
  return low;
}

// Each turn is as wide as its column: areas are steps, so that one turn can be pointed at.
function outline(low, high, sx, sy) {
  const up = high.map((v, i) => `L${sx(i)},${sy(v)}H${sx(i + 1)}`).join("");
  const down = low.map((v, i) => `V${sy(v)}H${sx(i)}`).reverse().join("");
  return `M${sx(0)},${sy(low[0])}${up}${down}Z`;
}

const stairs = (values, sx, sy) =>
  values.map((v, i) => `${i ? "V" : `M${sx(0)},`}${sy(v)}H${sx(i + 1)}`).join("");

function hatch() {
  return svg("defs", {}, svg("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse" },
    svg("path", { class: "hatch", d: "M-1,7L7,-1M-1,1L1,-1M5,7L7,5" })));
}

function areaAxes(frame, most, n, sx, sy) {
  const g = svg("g", {});
  for (const v of ticks(0, most, frame.h / 42)) {
    const text = svg("text", { class: "soft", x: frame.x - 6, y: sy(v) + 4, "text-anchor": "end" });
    text.textContent = short(v);
    g.append(svg("path", { class: "mesh", d: `M${frame.x},${sy(v)}h${frame.w}` }), text);
  }
  for (const t of ticks(1, n, frame.w / 60).filter((t) => t >= 1 && t === Math.round(t))) {
    const x = (sx(t - 1) + sx(t)) / 2;
    const text = svg("text", { class: "soft", x, y: frame.y + frame.h + 16, "text-anchor": "middle" });
    text.textContent = `${t}`;
    g.append(text);
  }
  const below = svg("text", { x: frame.x + frame.w, y: frame.y + frame.h + 32, "text-anchor": "end" });
  below.textContent = "turn →";
  g.append(svg("path", { class: "axis", d: `M${frame.x},${frame.y}v${frame.h}h${frame.w}` }), below);
  return g;
}

// The places of the epochs' names, { x, text }, none over another and all in the frame.
function epochNames(places, frame, nameOf) {
  const list = [];
  let free = frame.x;
  for (const { x, t } of places) {
    const text = nameOf(t, !list.length), width = textWidth(text);
    if (x - 2 < free || x - 2 + width > frame.x + frame.w + 10) continue;
    list.push({ x: x - 2, text });
    free = x - 2 + width + 8;
  }
  return list;
}

// Lines where epochs begin, and their names: where not all have room, only the first has the word.
function epochLines(run, frame, sx) {
  const g = svg("g", {});
  const places = run.turns.filter((one) => one.begins).map((t) => ({ t, x: sx(t.turn - 1) }));
  for (const { x } of places) {
    g.append(svg("path", { class: "epoch", d: `M${x},${frame.y - 22}v${frame.h + 22}` }));
  }
  let names = epochNames(places, frame, (t) => `epoch ${t.epoch}`);
  if (names.length < places.length) {
    names = epochNames(places, frame, (t, isFirst) => (isFirst ? `epoch ${t.epoch}` : `${t.epoch}`));
  }
  for (const { x, text } of names) {
    const node = svg("text", { class: "soft", x, y: frame.y - 26 });
    node.textContent = text;
    g.append(node);
  }
  return g;
}

function areaScale(top, lines, how, budget) {
  const most = Math.max(1, ...top, ...lines.flat());
  return !how.total && budget > most && budget < 1.4 * most ? budget * 1.03 : most * 1.03;
}

// Draws into `box`, and what the colours mean into `keys`. `how`: { by, total, whole }: whole is
// the run without a window, or null. Returns what moves the cursor.
function drawArea(box, keys, run, how, turn, pick) {
  const n = run.turns.length, width = box.clientWidth, height = clamp(width * 0.42, 230, 330);
  box.replaceChildren();
  keys.replaceChildren();
  if (!n) {
    box.append(el("p", { class: "soft" }, "The recording has no turn."));
    return;
  }
  const layers = layersOf(run, how);
  if (how.total) for (const l of layers) l.values = running(l.values);
  const top = stack(layers, n), lines = [];
  if (how.whole) {
    const all = how.whole.turns.map((t) => t.tokens);
    lines.push(how.total ? running(all) : all);
  }
  const frame = { x: 46, y: 40, w: width - 58, h: height - 78 };
  const most = areaScale(top, lines, how, run.budget);
  const sx = (i) => +(frame.x + (i / n) * frame.w).toFixed(2);
  const sy = (v) => +(frame.y + frame.h - (v / most) * frame.h).toFixed(2);
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, height, "aria-hidden": "true" });
  root.append(hatch(), areaAxes(frame, most, n, sx, sy));
  for (const l of layers.filter((one) => one.any)) {
    root.append(svg("path", { class: "layer", fill: `var(${l.tint})`, d: outline(l.low, l.high, sx, sy) }));
  }
  if (how.by === "region" && !how.total) {
    const cached = run.turns.map((t) => (t.short === undefined ? t.cached : 0));
    root.append(svg("path", { fill: "url(#hatch)", d: outline(cached.map(() => 0), cached, sx, sy) }));
    root.append(svg("path", { class: "edge", d: stairs(cached, sx, sy) }));
  }
  for (const line of lines) root.append(svg("path", { class: "whole", d: stairs(line, sx, sy) }));
  for (const t of run.turns.filter((one) => one.short !== undefined)) {
    root.append(svg("rect", { class: "unsent", x: sx(t.turn - 1), y: frame.y, width: Math.max(1, frame.w / n), height: frame.h }));
  }
  root.append(epochLines(run, frame, sx));
  if (!how.total && run.budget <= most) {
    const text = svg("text", { class: "over", x: frame.x + 4, y: sy(run.budget) - 4 });
    text.textContent = `budget ${short(run.budget)}`;
    root.append(svg("path", { class: "axis", d: `M${frame.x},${sy(run.budget)}h${frame.w}` }), text);
  }
  const cursor = svg("path", { class: "cursor" });
  root.append(cursor);
  const move = (t) => {
    const x = (sx(t - 1) + sx(t)) / 2;
    cursor.setAttribute("d", `M${x},${frame.y}v${frame.h}`);
  };
  move(turn);
  root.addEventListener("click", (event) => {
    const at = event.clientX - root.getBoundingClientRect().left - frame.x;
    pick(clamp(Math.floor((at / frame.w) * n) + 1, 1, n));
  });
  box.append(root);
  keys.replaceChildren(areaKeys(layers, how));
  return move;
}

// What a turn took, in words.
function turnWords(run, turn) {
  const t = run.turns[turn - 1];
  if (!t) return "";
  if (t.short !== undefined) {
    return `turn ${turn}: not sent, ${count(t.short)} tokens too many for a budget of ${count(run.budget)}`;
  }
  const parts = REGIONS.filter((r) => t.regions[r]).map((r) => `${r} ${count(t.regions[r])}`);
  return `turn ${turn}: ${count(t.tokens)} of ${count(run.budget)} tokens, `
    + `${count(t.cached)} from the cache, epoch ${t.epoch}${t.begins ? " begins" : ""}; ${parts.join(", ")}`;
}
