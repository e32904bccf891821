// Entries by turns: a row an entry, a bar for each stretch of turns in which as much of it was
// shown. Only what is in sight is drawn, so that thousands of entries stay quick. The height of a
// bar says the same as its colour. next: panels.js
"use strict";

const HEIGHTS = [0, 1, 0.72, 0.48, 0.26, 0.1, 0.1]; // of a bar, by rung
const ROW_SIZES = [4, 7, 12, 18];

class Grid {
  // `pick(entry, turn)` is told where the cursor goes; `act(what)` which panel to go to.
  constructor(box, pick, act) {
    this.box = box;
    this.pick = pick;
    this.act = act;
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.space = el("div", {}, this.canvas);
    box.replaceChildren(this.space);
    box.addEventListener("scroll", () => this.later());
    box.addEventListener("keydown", (event) => this.key(event));
    box.addEventListener("click", (event) => this.click(event));
  }

  show(run, entry, turn) {
    const n = run.entries.length;
    this.run = run;
    this.size = this.wish ?? (n <= 40 ? 2 : n <= 250 ? 1 : 0);
    this.entry = entry;
    this.turn = turn;
    this.misses = new Map();
    for (const g of run.gone) {
      if (!this.misses.has(g.credited)) this.misses.set(g.credited, new Set());
      this.misses.get(g.credited).add(g.turn);
    }
    this.layOut();
  }

  zoom(by) {
    this.wish = clamp(this.size + by, 0, ROW_SIZES.length - 1);
    this.size = this.wish;
    this.layOut();
    this.reveal();
  }

  layOut() {
    if (!this.run) return;
    const turns = Math.max(1, this.run.turns.length);
    this.row = ROW_SIZES[this.size];
    this.top = 20;
    const h = this.top + this.row * this.run.entries.length + 2;
    this.space.style.width = "0";
    this.space.style.height = `${h}px`;
    this.box.style.height = `${Math.min(416, h + 18)}px`;
    const wide = this.box.clientWidth; // now without the bar that scrolls
    this.left = wide > 640 && this.row >= 12 ? 200 : 42;
    this.column = clamp((wide - this.left - 2) / turns, 3, 90);
    this.space.style.width = `${Math.floor(this.left + this.column * turns + 2)}px`;
    this.draw();
  }

  later() {
    if (this.waits) return;
    this.waits = true;
    requestAnimationFrame(() => {
      this.waits = false;
      this.draw();
    });
  }

  moveTo(entry, turn) {
    this.entry = entry;
    this.turn = turn;
    this.reveal();
    this.draw();
  }

  // Scrolls as little as is needed to have the cursor in sight.
  reveal() {
    const { box } = this, y = this.top + (this.entry - 1) * this.row;
    const x = this.left + (this.turn - 1) * this.column;
    if (y - this.top < box.scrollTop) box.scrollTop = y - this.top - this.row;
    if (y + this.row > box.scrollTop + box.clientHeight) {
      box.scrollTop = y + 2 * this.row - box.clientHeight;
    }
    if (x - this.left < box.scrollLeft) box.scrollLeft = x - this.left - this.column;
    if (x + this.column > box.scrollLeft + box.clientWidth) {
      box.scrollLeft = x + 2 * this.column - box.clientWidth;
    }
  }

  draw() {
    const { box, canvas, run } = this;
    const w = box.clientWidth, h = box.clientHeight, dense = window.devicePixelRatio || 1;
    if (!run || !w || !h) return;
    if (canvas.width !== Math.round(w * dense) || canvas.height !== Math.round(h * dense)) {
      canvas.width = Math.round(w * dense);
      canvas.height = Math.round(h * dense);
      canvas.style.width = `${w}px`;
      canvas.style.height = `${h}px`;
    }
    const pen = canvas.getContext("2d");
    this.tints = [null, ...RUNGS.slice(1).map((r) => colour(`--${r}`))];
    pen.setTransform(dense, 0, 0, dense, 0, 0);
    pen.fillStyle = colour("--page");
    pen.fillRect(0, 0, w, h);
    pen.font = '11px system-ui, "Noto Sans", "Noto Sans CJK SC", sans-serif';
    const dx = this.left - box.scrollLeft, dy = this.top - box.scrollTop;
    const from = Math.max(0, Math.floor((this.top - dy) / this.row));
    const to = Math.min(run.entries.length, Math.ceil((h - dy) / this.row));
    pen.save();
    pen.beginPath();
    pen.rect(this.left, this.top, w - this.left, h - this.top);
    pen.clip();
    this.drawEpochs(pen, dx, h);
    for (let k = from; k < to; k++) this.drawRow(pen, k, dx, dy + k * this.row, w);
    this.drawCursor(pen, dx, dy, w, h);
    pen.restore();
    this.drawLabels(pen, from, to, dx, dy, w);
  }

  drawEpochs(pen, dx, h) {
    pen.strokeStyle = colour("--line");
    pen.lineWidth = 1;
    pen.beginPath();
    for (const t of this.run.turns.filter((one) => one.begins)) {
      const x = Math.round(dx + (t.turn - 1) * this.column) + 0.5;
      pen.moveTo(x, this.top);
      pen.lineTo(x, h);
    }
    pen.stroke();
    pen.fillStyle = colour("--line");
    for (const t of this.run.turns.filter((one) => one.short !== undefined)) {
      pen.fillRect(dx + (t.turn - 1) * this.column, this.top, this.column, h);
    }
  }

  drawRow(pen, k, dx, y, w) {
    const life = this.run.lives[k], last = this.run.turns.length, gap = this.row > 6 ? 1 : 0;
    life.forEach((change, i) => {
      const until = i + 1 < life.length ? life[i + 1].turn : last + 1;
      const x = dx + (change.turn - 1) * this.column, wide = (until - change.turn) * this.column;
      if (!change.rung || x > w || x + wide < this.left) return;
      const room = this.row - gap, tall = Math.max(1, Math.round(room * HEIGHTS[change.rung]));
      pen.fillStyle = this.tints[change.rung];
      pen.fillRect(x, y + room - tall, wide, tall);
      if (change.rung === 6 && this.row > 6) {
        for (let a = x; a < x + wide; a += 6) pen.fillRect(a, y + room - 4, 2, 4);
      }
    });
    const misses = this.misses.get(k + 1);
    if (misses) for (const turn of misses) this.drawMiss(pen, dx + (turn - 0.5) * this.column, y + this.row / 2);
  }

  drawMiss(pen, x, y) {
    const s = clamp(this.row / 2 - 1, 2.5, 4);
    for (const [tint, wide] of [[colour("--page"), 4], [colour("--gone"), 2]]) {
      pen.strokeStyle = tint;
      pen.lineWidth = wide;
      pen.beginPath();
      pen.moveTo(x - s, y - s);
      pen.lineTo(x + s, y + s);
      pen.moveTo(x + s, y - s);
      pen.lineTo(x - s, y + s);
      pen.stroke();
    }
  }

  drawCursor(pen, dx, dy, w, h) {
    if (!this.run.turns.length) return;
    const x = dx + (this.turn - 1) * this.column, y = dy + (this.entry - 1) * this.row;
    const wide = Math.max(3, this.column), tall = Math.max(4, this.row);
    for (const [tint, width] of [[colour("--page"), 3], [colour("--text"), 1]]) {
      pen.strokeStyle = tint;
      pen.lineWidth = width;
      pen.strokeRect(this.left - 3, y - 1.5, w, tall + 2);
      pen.strokeRect(x - 1.5, this.top - 3, wide + 2, h);
    }
    for (const [tint, width] of [[colour("--page"), 6], [colour("--gone"), 3]]) {
      pen.strokeStyle = tint;
      pen.lineWidth = width;
      pen.strokeRect(x - 3, y - 3, wide + 5, tall + 5);
    }
  }

  drawLabels(pen, from, to, dx, dy, w) {
    pen.fillStyle = colour("--page");
    pen.fillRect(0, 0, w, this.top);
    pen.fillRect(0, 0, this.left - 2, this.box.clientHeight);
    pen.fillStyle = colour("--soft");
    pen.textAlign = "right";
    const every = Math.max(1, Math.ceil(11 / this.row));
    for (let k = from; k < to; k++) {
      const y = dy + (k + 1) * this.row, e = this.run.entries[k];
      if (k % every || y < this.top + 8) continue;
      if (this.left > 100) {
        pen.textAlign = "left";
        pen.fillText(`${e.id}`, 4, y - this.row / 2 + 4);
        pen.fillText(cut(`${e.kind} ${e.tool || ""} ${e.path ? e.path.split("/").pop() : ""}`, 26), 38, y - this.row / 2 + 4, this.left - 44);
      } else pen.fillText(`${e.id}`, this.left - 6, y - this.row / 2 + 4);
    }
    pen.textAlign = "center";
    for (const t of ticks(1, this.run.turns.length, (w - this.left) / 60).filter((n) => n >= 1 && n % 1 === 0)) {
      const x = dx + (t - 0.5) * this.column;
      if (x > this.left + 4 && x < w - 8) pen.fillText(`${t}`, x, 14);
    }
  }

  click(event) {
    const area = this.box.getBoundingClientRect();
    const x = event.clientX - area.left - this.box.clientLeft + this.box.scrollLeft - this.left;
    const y = event.clientY - area.top - this.box.clientTop + this.box.scrollTop - this.top;
    const turn = clamp(Math.floor(x / this.column) + 1, 1, this.run.turns.length);
    this.pick(clamp(Math.floor(y / this.row) + 1, 1, this.run.entries.length), turn);
  }

  // The next turn in which something changes for the entry, or the one before.
  change(forward) {
    const turns = this.run.lives[this.entry - 1].map((c) => c.turn);
    const list = forward ? turns.filter((t) => t > this.turn) : turns.filter((t) => t < this.turn);
    return list.length ? (forward ? list[0] : list[list.length - 1]) : this.turn;
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || !this.run) return;
    const n = this.run.entries.length, last = this.run.turns.length;
    const to = {
      ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0],
      PageUp: [-20, 0], PageDown: [20, 0], Home: [0, -last], End: [0, last],
      n: [0, this.change(true) - this.turn], p: [0, this.change(false) - this.turn],
    }[event.key];
    if (to) this.pick(clamp(this.entry + to[0], 1, n), clamp(this.turn + to[1], 1, last));
    else if (event.key === "Enter") this.act("entry");
    else if (event.key === "t") this.act("turn");
    else return;
    event.preventDefault();
  }
}

const GRID_KEYS = [
  [1, "full"], [2, "trimmed: a part of it and a mark"], [3, "reference: a mark and a preview"],
  [4, "masked: a mark"], [5, "dropped"], [6, "folded: a summary stands for it"],
];

function gridKeys() {
  const list = GRID_KEYS.map(([rung, name]) => {
    const tall = Math.max(1, 9 * HEIGHTS[rung]), tint = `var(--${RUNGS[rung]})`;
    const mark = svg("svg", { viewBox: "0 0 14 9", "aria-hidden": "true" },
      svg("rect", { y: 9 - tall, width: 14, height: tall, fill: tint }));
    if (rung === 6) for (const x of [0, 6, 12]) mark.append(svg("rect", { x, y: 5, width: 2, height: 4, fill: tint }));
    return el("li", {}, mark, name);
  });
  const cross = svg("svg", { viewBox: "0 0 14 9", "aria-hidden": "true" },
    svg("path", { d: "M4,1l7,7M11,1l-7,7", stroke: "var(--gone)", "stroke-width": 2 }));
  list.push(el("li", {}, cross, "a fact of it was needed and gone"));
  return list;
}
