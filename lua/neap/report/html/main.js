// Puts the page together: what is chosen, who is told, what is drawn again. The place is kept in
// the address, so that a link leads to a turn and an entry.
"use strict";

const head = read("head");
const chosen = { group: 0, row: Math.max(0, head.rows.findIndex((r) => r.best)), turn: 1, entry: 1 };
const view = { grid: null, moveLine: null };

const currentRun = () => runOf(chosen.group, chosen.row);

// ---- the address ----------------------------------------------------------------------------

function readAddress() {
  for (const [, name, digits] of location.hash.matchAll(/([rpte])=(\d{1,9})/g)) {
    const key = { r: "group", p: "row", t: "turn", e: "entry" }[name];
    chosen[key] = Number(digits) - (name === "r" || name === "p" ? 1 : 0);
  }
  chosen.group = clamp(chosen.group, 0, head.groups.length - 1);
  chosen.row = clamp(chosen.row, 0, head.rows.length - 1);
}

function writeAddress() {
  const { group, row, turn, entry } = chosen;
  const hash = `#r=${group + 1}&p=${row + 1}&t=${turn}&e=${entry}`;
  if (location.hash !== hash) {
    try {
      history.replaceState(null, "", hash);
    } catch (e) {
      return; // a page without an address of its own
    }
  }
}

// ---- drawing --------------------------------------------------------------------------------

function drawFrontPart() {
  const basis = byId("basis").value;
  drawPlot(byId("plot"), head.rows, basis, head.groups[chosen.group].cells, chosen.row, (row) => choose({ row }));
}

function markRow() {
  document.querySelectorAll("#table tbody tr").forEach((tr) => {
    const is = Number(tr.dataset.row) === chosen.row;
    tr.classList.toggle("chosen", is);
    tr.querySelector("th button").setAttribute("aria-pressed", `${is}`);
  });
}

function drawAreaPart() {
  const run = currentRun();
  if (!run) return;
  const how = { by: byId("by").value, total: byId("total").checked };
  const full = head.rows.findIndex((r) => r.unbounded);
  how.whole = byId("whole").checked && full >= 0 && full !== chosen.row ? runOf(chosen.group, full) : null;
  view.moveLine = drawArea(byId("area"), byId("area-keys"), run, how, chosen.turn, (turn) => pick(chosen.entry, turn));
}

// The slider and the line of the cursor; the words that tell of both.
function drawCursors() {
  const run = currentRun(), slider = byId("area");
  if (view.moveLine) view.moveLine(chosen.turn);
  slider.setAttribute("aria-valuemax", Math.max(1, run.turns.length));
  slider.setAttribute("aria-valuenow", chosen.turn);
  slider.setAttribute("aria-valuetext", turnWords(run, chosen.turn));
  byId("turn-words").textContent = turnWords(run, chosen.turn);
  const e = run.entries[chosen.entry - 1];
  const state = e && stateAt(run.lives[chosen.entry - 1], chosen.turn);
  const is = state ? `${RUNGS[state.rung]}, ${count(state.tokens)} of ${plural(e.full, "token")}` : "not in the prompt yet";
  byId("cell-words").textContent = e ? `entry ${e.id}, ${nameOf(e)}; turn ${chosen.turn}: ${is}` : "";
}

function drawPanels() {
  const run = currentRun(), toEntry = (entry) => pick(entry, chosen.turn);
  const toTurn = (turn) => pick(chosen.entry, turn);
  byId("turn-title").textContent = `The prompt of turn ${chosen.turn}`;
  byId("entry-title").textContent = `The life of entry ${chosen.entry}`;
  drawTurn(byId("turn-body"), run, chosen.turn, toEntry);
  drawEntry(byId("entry-body"), run, chosen.entry, chosen.turn, toEntry, toTurn);
}

function drawGonePart() {
  const run = currentRun();
  if (!run) return;
  drawLost(byId("gone-body"), byId("gone-words"), run, byId("far").checked, byId("lost").value,
    (entry) => pick(entry, chosen.turn), (turn) => pick(chosen.entry, turn));
}

// Panels wait until a key that is held down is let go.
let timer;
function panelsSoon() {
  clearTimeout(timer);
  timer = setTimeout(drawPanels, 60);
}

function keepFocus(draw) {
  const before = document.activeElement, entry = before && before.dataset ? before.dataset.entry : null;
  const panel = before && before.closest ? before.closest("section[tabindex]") : null;
  draw();
  if (before && before.isConnected) return;
  const same = panel && entry && panel.querySelector(`[data-entry="${entry}"]`);
  if (same || panel) (same || panel).focus({ preventScroll: true });
}

function pick(entry, turn) {
  const run = currentRun();
  chosen.entry = clamp(entry, 1, Math.max(1, run.entries.length));
  chosen.turn = clamp(turn, 1, Math.max(1, run.turns.length));
  view.grid.moveTo(chosen.entry, chosen.turn);
  drawCursors();
  panelsSoon();
  writeAddress();
}

function drawRun() {
  const run = currentRun(), row = head.rows[chosen.row], group = head.groups[chosen.group];
  byId("recording").value = chosen.group;
  byId("policy").value = chosen.row;
  byId("run").hidden = !run;
  byId("no-run").hidden = Boolean(run);
  if (!run) {
    Object.assign(chosen, { turn: 1, entry: 1 });
    return;
  }
  const full = head.rows.findIndex((r) => r.unbounded);
  byId("run-title").replaceChildren(bdi(group.trace), " under ", bdi(row.label));
  drawMeasures(byId("measures"), run.about, full >= 0 ? group.cells[full][0] : 0);
  chosen.entry = clamp(chosen.entry, 1, Math.max(1, run.entries.length));
  chosen.turn = clamp(chosen.turn, 1, Math.max(1, run.turns.length));
  byId("texts-note").hidden = run.hasTexts && run.hasMarks;
  drawAreaPart();
  view.grid.show(run, chosen.entry, chosen.turn);
  view.grid.reveal();
  drawCursors();
  drawPanels();
  drawGonePart();
}

// A recording or a policy is chosen. A recording's last turn says the most: it comes first.
function choose(what) {
  const isOther = what.group !== undefined && what.group !== chosen.group;
  Object.assign(chosen, what);
  if (isOther) Object.assign(chosen, { turn: Infinity, entry: 1 });
  markRow();
  drawFrontPart();
  if (!view.grid) return; // the details are still being read
  drawRun();
  writeAddress();
}

// ---- the table ------------------------------------------------------------------------------

const cellValue = (tr, column) => {
  const cell = tr.cells[column];
  return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
};

function sortTable(column, button) {
  const th = button.closest("th"), body = document.querySelector("#table tbody");
  const down = th.getAttribute("aria-sort") === "ascending";
  for (const one of th.parentNode.cells) one.removeAttribute("aria-sort");
  th.setAttribute("aria-sort", down ? "descending" : "ascending");
  const sign = down ? -1 : 1;
  const rows = [...body.rows].sort((a, b) => {
    const x = cellValue(a, column), y = cellValue(b, column);
    const less = typeof x === "number" && typeof y === "number" ? x - y : `${x}` < `${y}` ? -1 : x === y ? 0 : 1;
    return sign * less || Number(a.dataset.row) - Number(b.dataset.row);
  });
  body.append(...rows);
}

// Without script the table is plain text; with it names choose and headers sort.
function prepareTable() {
  for (const tr of document.querySelectorAll("#table tbody tr")) {
    const th = tr.querySelector("th");
    const button = el("button", { class: "plain", type: "button", onclick: () => choose({ row: Number(tr.dataset.row) }) });
    button.append(...th.childNodes);
    th.append(button);
  }
  document.querySelectorAll("#table thead th").forEach((th, column) => {
    const button = el("button", { class: "plain", type: "button" }, ...th.childNodes);
    button.addEventListener("click", () => sortTable(column, button));
    th.append(button);
  });
}

// ---- start ----------------------------------------------------------------------------------

function prepareChoices() {
  byId("recording").append(...head.groups.map((g, i) => el("option", { value: i }, cut(g.trace, 60))));
  byId("policy").append(...head.rows.map((r, i) => el("option", { value: i }, cut(r.label, 60))));
  byId("recording").addEventListener("change", (e) => choose({ group: Number(e.target.value) }));
  byId("policy").addEventListener("change", (e) => choose({ row: Number(e.target.value) }));
  byId("basis").addEventListener("change", drawFrontPart);
  for (const id of ["by", "total", "whole"]) byId(id).addEventListener("change", drawAreaPart);
  for (const id of ["far", "lost"]) byId(id).addEventListener("change", drawGonePart);
  byId("wider").addEventListener("click", () => view.grid.zoom(1));
  byId("closer").addEventListener("click", () => view.grid.zoom(-1));
  for (const [id, by] of [["before", -1], ["after", 1]]) {
    byId(id).addEventListener("click", () => choose({ group: clamp(chosen.group + by, 0, head.groups.length - 1) }));
  }
}

function prepareTheme() {
  const button = byId("theme"), dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
  const tell = () => {
    button.textContent = isDark() ? "Light colours" : "Dark colours";
    if (view.grid) view.grid.draw();
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    tell();
  });
  dark.addEventListener("change", tell);
  button.hidden = false;
  tell();
}

function areaKey(event) {
  const n = currentRun().turns.length;
  const to = {
    ArrowLeft: chosen.turn - 1, ArrowDown: chosen.turn - 1, ArrowRight: chosen.turn + 1, ArrowUp: chosen.turn + 1,
    PageUp: chosen.turn + 10, PageDown: chosen.turn - 10, Home: 1, End: n,
  }[event.key];
  if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
  pick(chosen.entry, to);
  event.preventDefault();
}

// Widths change: drawn again, once a frame.
function watchWidth() {
  let last = byId("plot").clientWidth, waits = false;
  window.addEventListener("resize", () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      const now = byId("plot").clientWidth;
      if (now !== last) {
        last = now;
        drawFrontPart();
        drawAreaPart();
      }
      view.grid.layOut();
    });
  });
}

const toPanel = (what) => byId(what).focus();

// The plot and the table need nothing but the head: they are drawn before the details are read.
document.querySelectorAll(".needs-script").forEach((node) => (node.hidden = false));
prepareTheme();
prepareTable();
prepareChoices();
readAddress();
markRow();
drawFrontPart();

function startDetails() {
  view.grid = new Grid(byId("grid"), (entry, turn) => pick(entry, turn), toPanel);
  byId("grid-keys").append(...gridKeys());
  byId("area").addEventListener("keydown", areaKey);
  if (!/[te]=/.test(location.hash)) Object.assign(chosen, { turn: Infinity, entry: 1 });
  drawRun();
  watchWidth();
  window.addEventListener("hashchange", () => {
    readAddress();
    choose({});
  });
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", startDetails);
else startDetails();
