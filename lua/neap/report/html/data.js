// Reads the compact data of recordings and runs (written by pack.lua) when they are looked at.
// next: plot.js
"use strict";

const read = (id) => {
  const node = byId(id);
  return node && JSON.parse(node.textContent);
};

// Differences to values.
function sums(list) {
  let at = 0;
  return list.map((d) => (at += d));
}

// Entries from columns; ids are given, or 1, 2, ….
function entriesOf(columns, names, texts, ids) {
  const steps = sums(columns.step), errors = new Set(columns.errors);
  return steps.map((step, k) => {
    const id = ids ? ids[k] : k + 1;
    return {
      id, step,
      kind: names[columns.kind[k]], region: names[columns.region[k]],
      tool: names[columns.tool[k]], path: names[columns.path[k]],
      full: columns.full[k], pair: columns.pair[k] ? id + columns.pair[k] : 0,
      isError: errors.has(k), text: texts && texts[k],
    };
  });
}

// The entries of a run: the recording's, in their order, and its own in between. Also where each
// of the recording's went.
function mergeEntries(base, run, texts) {
  const own = new Set(run.own), lacks = new Set(run.lacks), list = [], place = [];
  const added = run.added ? entriesOf(run.added, run.names, texts, run.own) : [];
  let nextOwn = 0, next = 0;
  const total = base.length - run.lacks.length + run.own.length;
  for (let id = 1; id <= total; id++) {
    if (own.has(id)) {
      list.push({ ...added[nextOwn++], isOwn: true });
      continue;
    }
    while (lacks.has(next + 1)) next++;
    list.push({ ...base[next], id });
    place[++next] = id;
  }
  for (const e of list) if (!e.isOwn && e.pair) e.pair = place[e.pair] || 0;
  return { list, place };
}

function turnsOf(run) {
  const regions = {}, n = run.cached.length;
  for (const name of Object.keys(run.regions)) regions[name] = sums(run.regions[name]);
  const short = new Map(), begins = new Set(run.begins), list = [];
  for (let i = 0; i < run.short.length; i += 2) short.set(run.short[i], run.short[i + 1]);
  let before = 0, step = 0, epoch = 1;
  for (let t = 0; t < n; t++) {
    step += 1 + (run.step ? run.step[t] : 0);
    if (begins.has(t + 1)) epoch++;
    const by = {};
    let tokens = 0;
    for (const name of Object.keys(regions)) tokens += by[name] = regions[name][t];
    const turn = { turn: t + 1, step, tokens, regions: by, cached: before - run.cached[t] };
    turn.epoch = epoch;
    turn.begins = begins.has(t + 1);
    if (short.has(t + 1)) turn.short = short.get(t + 1);
    else before = tokens;
    list.push(turn);
  }
  return list;
}

// Of each entry its changes: { turn, rung, tokens, why, by, mark }, the first one its coming.
function livesOf(run, entries, turns, marks) {
  const lives = entries.map(() => []), late = new Set(run.late), e = run.events;
  let turn = 0, entry = 0;
  for (let i = 0, k = 0; i < e.length; k++) {
    turn += e[i];
    entry += e[i + 1];
    const change = { turn, rung: e[i + 2], tokens: e[i + 3], mark: marks && marks[k] };
    if (e[i + 4]) {
      change.why = run.names[e[i + 4] - 1];
      change.by = run.names[e[i + 5]];
    }
    i += e[i + 4] ? 6 : 5;
    lives[entry - 1].push(change);
  }
  const comes = [];
  for (const t of turns) {
    if (t.short === undefined) while (comes.length < t.step) comes.push(t.turn);
  }
  entries.forEach((one, k) => {
    const due = comes[one.step], first = lives[k][0];
    if (!due || late.has(one.id) || (first && first.turn <= due)) return;
    lives[k].unshift({ turn: due, rung: 1, tokens: one.full });
  });
  return lives;
}

// Facts that a step used and its prompt did not show: pointed at by the mark of the entry
// `pointer`, at the cost of reading it; or gone, where `pointer` is 0.
function lostOf(run, entries) {
  const list = [];
  for (let i = 0; i < run.gone.length; i += 7) {
    const [turn, step, by, credited, name, pointer, cost] = run.gone.slice(i, i + 7);
    const from = entries[credited - 1];
    list.push({ turn, step, by, credited, name: run.names[name], pointer, cost, far: step - (from ? from.step : 0) });
  }
  return list;
}

const recordings = new Map();

// The recording of a group, or null when its details are not in the file.
function recordingOf(group) {
  if (!recordings.has(group)) {
    const raw = read(`g${group + 1}`);
    if (raw) {
      const core = raw.recording;
      core.entries = entriesOf(core, core.names, raw.texts);
      core.runs = raw.runs;
      core.seen = new Map();
    }
    recordings.set(group, raw ? raw.recording : null);
  }
  return recordings.get(group);
}

// The run of one policy over it, or null.
function runOf(group, index) {
  const recording = recordingOf(group);
  const raw = recording && recording.runs[index];
  if (!raw) return null;
  if (!recording.seen.has(index)) {
    const { run, texts } = raw;
    const { list, place } = mergeEntries(recording.entries, run, texts && texts.own);
    const turns = turnsOf(run);
    const lives = livesOf(run, list, turns, texts && texts.marks);
    const cites = [];
    for (let i = 0; i < recording.cites.length; i += 3) {
      const by = place[recording.cites[i]], credited = place[recording.cites[i + 1]];
      if (by && credited) cites.push({ by, credited, name: recording.names[recording.cites[i + 2]] });
    }
    const lost = lostOf(run, list), gone = lost.filter((g) => !g.pointer);
    recording.seen.set(index, {
      recording, entries: list, turns, lives, cites, lost, gone, budget: run.budget, about: run.about,
      hasTexts: Boolean(list.length && list[0].text !== undefined), hasMarks: Boolean(texts),
    });
  }
  return recording.seen.get(index);
}

// The change that holds in a turn, or null before the entry came.
function stateAt(life, turn) {
  let low = 0, high = life.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (life[mid].turn <= turn) low = mid + 1;
    else high = mid;
  }
  return low ? life[low - 1] : null;
}

// Tokens of each turn by how much is shown, over all entries.
function tokensByRung(run) {
  const n = run.turns.length, classes = ["full", "trimmed", "summary", "pointers", "rest"];
  const out = Object.fromEntries(classes.map((c) => [c, new Array(n + 2).fill(0)]));
  run.lives.forEach((life, k) => {
    life.forEach((change, i) => {
      const isSummary = run.entries[k].kind === "summary";
      const name = isSummary ? "summary" : ["", "full", "trimmed", "pointers", "pointers"][change.rung];
      if (!name) return;
      out[name][change.turn] += change.tokens;
      out[name][i + 1 < life.length ? life[i + 1].turn : n + 1] -= change.tokens;
    });
  });
  for (const name of classes.slice(0, 4)) {
    let at = 0;
    out[name] = run.turns.map((t) => {
      at += out[name][t.turn];
      return t.short === undefined ? at : 0;
    });
  }
  out.rest = run.turns.map((t, i) => {
    const shown = out.full[i] + out.trimmed[i] + out.summary[i] + out.pointers[i];
    return t.short === undefined ? Math.max(0, t.tokens - shown) : 0;
  });
  return out;
}
