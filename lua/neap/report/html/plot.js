// The plot of cost against what was gone: a point a policy, intervals, the front that no other
// beats, and names that do not lie on each other. next: area.js
"use strict";

const NAMES_AT = [
  [1, 0], [-1, 0], [0, -1], [0, 1], [1, -1], [1, 1], [-1, -1], [-1, 1],
];

const FAR = [11, 22, 40, 60]; // how far a name may stand from its point

// What a row has in one of the ways to count; null where it was not measured.
function measureOf(row, basis, group) {
  if (basis === "sum") {
    return { x: row.share ?? null, y: row.gone ?? null, xr: row.cost_interval, yr: row.gone_interval };
  }
  if (basis === "one") {
    const [cost, full, gone, cited] = group[row.index];
    return { x: full ? cost / full : null, y: cited ? gone / cited : null };
  }
  const cost = row[basis].cost, gone = row[basis].gone;
  if (!cost || !gone) return { x: null, y: null };
  return { x: cost.mean, y: gone.mean, xr: cost.interval, yr: gone.interval };
}

// The points that no other one beats on both; bounds, and rows that failed, take no part.
function frontOf(points) {
  const list = points.filter((p) => !p.row.unbounded && !p.row.oracle && !p.row.failed);
  const beats = (a, b) => a.x <= b.x && a.y <= b.y && (a.x < b.x || a.y < b.y);
  return list.filter((p) => !list.some((q) => beats(q, p))).sort((a, b) => a.x - b.x || b.y - a.y);
}

const overlap = (a, b) =>
  Math.max(0, Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x)) *
  Math.max(0, Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y));

// Where a name of that width may stand: the place around its point with the least in its way.
function placeName(point, width, taken, frame, distances) {
  let best = null;
  for (const far of distances) {
    for (const [dx, dy] of NAMES_AT) {
      const side = dx && dy ? far * 0.75 : far;
      const box = { w: width, h: 15 };
      box.x = point.px + dx * side - (dx < 0 ? width : dx ? 0 : width / 2);
      box.y = point.py + dy * side - 7.5 + dy * 3;
      const inside = overlap(box, frame) / (box.w * box.h);
      let score = (1 - inside) * 4000 + far;
      for (const one of taken) score += overlap(box, one) * (one.weight || 1);
      if (!best || score < best.score) best = { ...box, score, far, inside };
    }
  }
  return best;
}

function shapeOf(p) {
  const { px: x, py: y } = p, s = 6;
  if (p.row.unbounded) return svg("path", { class: "dot", d: `M${x - s},${y - s}h12v12h-12z` });
  if (p.row.oracle) {
    return svg("path", { class: "dot", d: `M${x},${y - 8}L${x + 8},${y}L${x},${y + 8}L${x - 8},${y}z` });
  }
  if (p.row.reference) {
    return svg("path", { class: "dot", d: `M${x},${y - 8}L${x + 7},${y + 5}h-14z` });
  }
  return svg("circle", { class: "dot", cx: x, cy: y, r: 5.5 });
}

function whiskers(p, sx, sy) {
  const lines = [];
  if (p.xr) {
    const [a, b] = (p.xs = p.xr.map(sx));
    lines.push(`M${a},${p.py - 4}v8M${a},${p.py}H${b}M${b},${p.py - 4}v8`);
  }
  if (p.yr) {
    const [a, b] = (p.ys = p.yr.map(sy));
    lines.push(`M${p.px - 4},${a}h8M${p.px},${a}V${b}M${p.px - 4},${b}h8`);
  }
  return lines.length ? svg("path", { class: "whisker", d: lines.join("") }) : null;
}

function spoken(p, front) {
  const range = (r) => (r ? `, 95 % interval ${percent(r[0])} to ${percent(r[1])}` : "");
  const kind = p.row.unbounded ? ", a bound without a window" : p.row.reference ? ", a reference" : "";
  const best = front.includes(p) ? "; no other is both cheaper and misses less" : "";
  return `${p.row.label}${kind}: cost ${percent(p.x)} of full${range(p.xr)}; `
    + `gone ${percent(p.y)}${range(p.yr)}${best}`;
}

// The range of an axis: all points, and their intervals, with some room.
function domain(values, floor) {
  let low = Math.min(...values), high = Math.max(...values);
  const room = Math.max((high - low) * 0.07, 0.01);
  return [floor ? Math.max(-0.02, low - room) : Math.max(0, low - room), high + room];
}

function drawAxes(frame, xs, ys, sx, sy) {
  const g = svg("g", {});
  for (const v of ticks(xs[0], xs[1], frame.w / 48)) {
    g.append(svg("path", { class: "mesh", d: `M${sx(v)},${frame.y}v${frame.h}` }));
    const text = svg("text", { class: "soft", x: sx(v), y: frame.y + frame.h + 17, "text-anchor": "middle" });
    text.textContent = `${+(100 * v).toFixed(2)}`;
    g.append(text);
  }
  for (const v of ticks(Math.max(0, ys[0]), ys[1], frame.h / 45)) {
    g.append(svg("path", { class: "mesh", d: `M${frame.x},${sy(v)}h${frame.w}` }));
    const text = svg("text", { class: "soft", x: frame.x - 6, y: sy(v) + 4, "text-anchor": "end" });
    text.textContent = `${+(100 * v).toFixed(2)}`;
    g.append(text);
  }
  g.append(svg("path", { class: "axis", d: `M${frame.x},${frame.y}v${frame.h}h${frame.w}` }));
  const below = svg("text", { x: frame.x + frame.w, y: frame.y + frame.h + 34, "text-anchor": "end" });
  below.textContent = "cost, % of the cost without a window →";
  const above = svg("text", { x: 2, y: 12 });
  above.textContent = "↑ gone, % of cited facts";
  g.append(below, above);
  return g;
}

function drawFront(front, frame) {
  if (!front.length) return null;
  const parts = [`M${front[0].px},${frame.y}V${front[0].py}`];
  for (const p of front.slice(1)) parts.push(`H${p.px}V${p.py}`);
  parts.push(`H${frame.x + frame.w}`);
  return svg("path", { class: "front", d: parts.join("") });
}

// The line of the front and the whiskers, as boxes that names had better not lie on.
function linesAsBoxes(points, front, frame) {
  const boxes = [];
  front.forEach((p, i) => {
    const next = front[i + 1], above = i ? front[i - 1].py : frame.y;
    boxes.push({ x: p.px - 2, y: above, w: 4, h: p.py - above, weight: 0.8 });
    boxes.push({ x: p.px, y: p.py - 2, w: (next ? next.px : frame.x + frame.w) - p.px, h: 4, weight: 0.8 });
  });
  for (const p of points) {
    const [a, b] = p.xs || [0, 0], [c, d] = p.ys || [0, 0];
    boxes.push({ x: Math.min(a, b), y: p.py - 1, w: Math.abs(a - b), h: 2, weight: 0.5 });
    boxes.push({ x: p.px - 1, y: Math.min(c, d), w: 2, h: Math.abs(c - d), weight: 0.5 });
  }
  return boxes;
}

function drawNames(points, front, frame, layer) {
  const dots = points.map((p) => ({ x: p.px - 7, y: p.py - 7, w: 14, h: 14, weight: 3 }));
  const taken = [...dots, ...linesAsBoxes(points, front, frame)], isNarrow = frame.w < 420;
  const rank = (p) => (front.includes(p) ? 0 : p.row.reference ? 2 : 1);
  for (const p of [...points].sort((a, b) => rank(a) - rank(b) || a.row.index - b.row.index)) {
    let text = cut(p.row.label, isNarrow ? 16 : 28);
    let box = placeName(p, textWidth(text) + 4, taken, frame, isNarrow ? FAR.slice(0, 2) : FAR);
    if (box.score - box.far > 60) {
      text = `${p.row.index + 1}`; // no room: the number that stands in the table
      box = placeName(p, textWidth(text) + 4, taken, frame, FAR);
    }
    if (box.score - box.far > 240) continue; // none for that either: its title tells
    taken.push({ ...box, weight: 2 });
    if (box.far > 24) {
      const x = clamp(p.px, box.x, box.x + box.w), y = clamp(p.py, box.y, box.y + box.h);
      layer.append(svg("path", { class: "lead", d: `M${p.px},${p.py}L${x},${y}` }));
    }
    const node = svg("text", { x: box.x + 2, y: box.y + 12, "aria-hidden": "true" });
    node.textContent = text;
    layer.append(node);
  }
}

// Arrows go from point to point in the order of cost.
function walk(event, points, p, choose) {
  const order = [...points].sort((a, b) => a.x - b.x || a.row.index - b.row.index);
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (event.key === "Enter" || event.key === " ") choose(p.row.index);
  else if (step) choose(order[(order.indexOf(p) + step + order.length) % order.length].row.index);
  else return;
  event.preventDefault();
}

// Draws into `box`; `choose(index)` is told which policy is picked.
function drawPlot(box, rows, basis, group, chosen, choose) {
  const width = box.clientWidth, height = clamp(width * 0.56, 300, 460);
  const points = rows.map((row) => ({ row, ...measureOf(row, basis, group) }))
    .filter((p) => p.x !== null && p.y !== null);
  const hadFocus = box.contains(document.activeElement);
  box.replaceChildren();
  if (!points.length) {
    box.append(el("p", { class: "soft" }, "No fact was cited more than 10 steps after it was shown: there is no share of them to draw."));
    return;
  }
  const frame = { x: 40, y: 22, w: width - 54, h: height - 64 };
  const xs = domain(points.flatMap((p) => [p.x, ...(p.xr || [])]));
  const ys = domain(points.flatMap((p) => [p.y, ...(p.yr || [])]), true);
  const sx = (v) => frame.x + ((v - xs[0]) / (xs[1] - xs[0])) * frame.w;
  const sy = (v) => frame.y + frame.h - ((v - ys[0]) / (ys[1] - ys[0])) * frame.h;
  for (const p of points) [p.px, p.py] = [sx(p.x), sy(p.y)];
  const front = frontOf(points);
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "group", "aria-label":
    "Plot of the policies: cost, across, against the share of cited facts that were gone, up. Arrows go from one to the next." });
  root.append(drawAxes(frame, xs, ys, sx, sy), drawFront(front, frame) || "");
  for (const p of points) root.append(whiskers(p, sx, sy) || "");
  const picked = points.some((p) => p.row.index === chosen) ? chosen : points[0].row.index;
  for (const p of points) {
    const is = p.row.index === chosen;
    const name = ["point", p.row.reference && "reference", front.includes(p) && "best", is && "chosen"];
    const node = svg("g", {
      class: name.filter(Boolean).join(" "), role: "button", "aria-pressed": `${is}`,
      tabindex: p.row.index === picked ? 0 : -1, "aria-label": spoken(p, front),
      onclick: () => choose(p.row.index), onkeydown: (e) => walk(e, points, p, choose),
    });
    const title = svg("title", {});
    title.textContent = spoken(p, front);
    node.append(title, svg("circle", { class: "halo", cx: p.px, cy: p.py, r: 11 }), shapeOf(p));
    root.append(node);
    if (is) p.node = node;
  }
  const names = svg("g", { "pointer-events": "none" });
  drawNames(points, front, frame, names);
  root.append(names);
  box.append(root);
  const focus = points.find((p) => p.node);
  if (hadFocus && focus) focus.node.focus();
}
