// What the stream of events has told: histories of cycles, logs, and what was lost.
"use strict";
const CAUSES = ["completion", "instruction_cache", "branch", "translation", "other", "front_end", "back_end",
  "data_cache", "local_l2", "local_l3", "local_memory", "remote_l2", "remote_l3", "remote_memory"];
const CAUSE_NAME = {
  completion: "completion", instruction_cache: "instruction cache", branch: "branch misprediction",
  translation: "address translation", other: "other stalls", front_end: "front end", back_end: "back end",
  data_cache: "data, source unknown", local_l2: "data: own L2", local_l3: "data: own L3",
  local_memory: "data: own memory", remote_l2: "data: other chip's L2", remote_l3: "data: other chip's L3",
  remote_memory: "data: other chip's memory",
};
const CAUSE_COLOR = {
  completion: "#2f7d6d", instruction_cache: "#8d74d8", branch: "#d0a52c", translation: "#4c9fe0",
  other: "#7c8796", front_end: "#8d74d8", back_end: "#7c8796", data_cache: "#9aa58a", local_l2: "#b9cfa5",
  local_l3: "#8db178", local_memory: "#5d8d58", remote_l2: "#f0522b", remote_l3: "#ff9a73",
  remote_memory: "#b23a5e",
};
const CLUSTER_COLOR = ["#4c9fe0", "#f0872b", "#4fb286", "#c774d8", "#d0b12c", "#e0567a", "#59c3c9", "#a58b6f"];
const HISTORY = 600;
const state = {
  about: null, tick: null, history: new Map(), names: new Map(), decisions: [], moves: [], knobs: [], program: null,
  lost: {snapshots: 0, gaps: 0}, paused: false, online: "connecting", moved: new Map(), held: new Map(),
  good: new Map(), network: [],
};

function zero() { return Object.fromEntries(CAUSES.map((c) => [c, 0])); }

// Splits the cycles of a breakdown by cause and, for data, by source.
function split(b) {
  const out = zero(), causes = state.about.causes, sources = state.about.sources;
  let stalled = 0;
  causes.forEach((c, i) => {
    if (!c.counted) return;
    stalled += b.stall[i];
    if (c.name !== "data_cache") { out[c.name] = b.stall[i]; return; }
    let known = 0;
    sources.forEach((s, j) => {
      if (!s.counted || s.name === "l1") return;
      out[s.name] = b.source[j];
      known += b.source[j];
    });
    out.data_cache = Math.max(0, b.stall[i] - known);
  });
  out.completion = Math.max(0, b.cycles - stalled);
  return out;
}

function remember(key, ms, b) {
  if (!state.history.has(key)) state.history.set(key, []);
  const h = state.history.get(key);
  h.push({ms, cycles: b.cycles, instructions: b.instructions, seen: b.seen, part: split(b)});
  if (h.length > HISTORY) h.shift();
}

// Colors stay with the same threads: a cluster gets the color that most of its threads had.
function colorsOf(process, groups) {
  const before = state.held.get(process) || new Map(), taken = new Set(), out = new Map();
  groups.forEach((tids, cluster) => {
    const votes = new Map();
    tids.forEach((t) => { if (before.has(t)) votes.set(before.get(t), (votes.get(before.get(t)) || 0) + 1); });
    let best = [...votes].filter(([c]) => !taken.has(c)).sort((a, b) => b[1] - a[1])[0];
    let color = best ? best[0] : 0;
    if (!best) while (taken.has(color)) color++;
    taken.add(color);
    out.set(cluster, color);
  });
  const now = new Map();
  groups.forEach((tids, cluster) => tids.forEach((t) => now.set(t, out.get(cluster))));
  state.held.set(process, now);
  return now;
}

// Groups threads by the lines that samples saw them use, where the kernel's detector does not:
// a thread joins the group whose lines are most like its own.
function groupBySamples(of) {
  const vector = new Map();
  of.forEach((l, i) => l.users.forEach(([tid, n]) => {
    if (!vector.has(tid)) vector.set(tid, new Map());
    vector.get(tid).set(i, n);
  }));
  const global = of.map((l) => l.users.length * 2 > vector.size && vector.size > 4);
  const groups = [];
  for (const [tid, v] of [...vector].sort((a, b) => sum(b[1]) - sum(a[1]))) {
    let best = null, like = 0.25;
    for (const g of groups) {
      const c = cosine(v, g.sum, global);
      if (c > like) { like = c; best = g; }
    }
    if (!best) groups.push(best = {tids: [], sum: new Map()});
    best.tids.push(tid);
    v.forEach((n, i) => best.sum.set(i, (best.sum.get(i) || 0) + n));
  }
  return groups.filter((g) => g.tids.length > 1);
}
function sum(m) { let s = 0; m.forEach((n) => { s += n; }); return s; }
function cosine(a, b, global) {
  let dot = 0, aa = 0, bb = 0;
  a.forEach((n, i) => { if (!global[i]) { aa += n * n; dot += n * (b.get(i) || 0); } });
  b.forEach((n, i) => { if (!global[i]) bb += n * n; });
  return aa && bb ? dot / Math.sqrt(aa * bb) : 0;
}

// Returns the picture of sharing of each process: rows, columns, groups; by the detector or by samples.
function maps(t) {
  const out = [];
  for (const p of t.processes) {
    const m = p.sharing && p.sharing.map;
    if (m) {
      const groups = [];
      m.rows.forEach((r) => { if (r.cluster >= 0) (groups[r.cluster] ||= []).push(r.tid); });
      out.push({pid: p.pid, name: p.name, by: "detector", ms: m.ms, later: m.later_ms, samples: m.samples, lines: m.lines, shown: m.line,
        global: m.global_lines, detecting: p.sharing.detecting, groups: groups.map((g) => g || []),
        rows: m.rows.map((r) => ({tid: r.tid, cluster: r.cluster, why: r.why,
          counts: (r.counts.match(/../g) || []).map((h) => parseInt(h, 16))}))});
      continue;
    }
    const of = t.lines.of.filter((l) => l.pid === p.pid && l.users.length > 1);
    if (of.length < 2) continue;
    const groups = groupBySamples(of), at = new Map();
    groups.forEach((g, i) => g.tids.forEach((tid) => at.set(tid, i)));
    const tids = [...new Set(of.flatMap((l) => l.users.map((u) => u[0])))];
    tids.sort((a, b) => (at.get(a) ?? 99) - (at.get(b) ?? 99) || a - b);
    const owner = (l) => { const v = new Map(); l.users.forEach(([u, n]) => v.set(at.get(u) ?? 99, (v.get(at.get(u) ?? 99) || 0) + n));
      return [...v].sort((x, y) => y[1] - x[1])[0][0]; };
    const lines = [...of].sort((a, b) => owner(a) - owner(b) || b.samples - a.samples);
    out.push({pid: p.pid, name: p.name, by: "samples", ms: t.ms, samples: lines.reduce((s, l) => s + l.samples, 0),
      lines: lines.length, shown: lines.map((l) => l.address), global: 0, detecting: false, groups: groups.map((g) => g.tids.sort((a, b) => a - b)),
      rows: tids.map((tid) => ({tid, cluster: at.has(tid) ? at.get(tid) : -1, why: at.has(tid) ? "member" : "alone",
        counts: lines.map((l) => (l.users.find((u) => u[0] === tid) || [0, 0])[1])}))});
  }
  return out;
}

// Once threads are placed well their sharing is no longer seen: the last picture with groups stays,
// with the time of the later one that has none.
function keepGood(m) {
  const good = state.good.get(m.pid), alive = new Set(state.tick.threads.filter((t) => t.pid === m.pid).map((t) => t.tid));
  if (m.groups.some((g) => g.length > 1)) { state.good.set(m.pid, m); return m; }
  return good && good.by === m.by && good.groups.flat().some((tid) => alive.has(tid)) ? {...good, later: m.later || m.ms, detecting: m.detecting} : m;
}

function take(t) {
  if (state.tick && t.reading > state.tick.reading + 1) state.lost.gaps += t.reading - state.tick.reading - 1;
  if (state.tick && t.reading < state.tick.reading) { state.history.clear(); state.decisions = []; state.moves = []; state.network = []; }
  state.tick = t;
  state.network.push({ms: t.ms, net: t.network});
  if (state.network.length > HISTORY) state.network.shift();
  if (state.about.counters) remember("machine", t.ms, t.b);
  for (const p of t.processes) {
    state.names.set(p.pid, p.name);
    if (state.about.counters) remember(p.pid, t.ms, p.b);
  }
  state.decisions.push(...t.decisions);
  state.moves.push(...t.moves.map((m) => ({...m, ms: t.ms})));
  t.moves.forEach((m) => state.moved.set(m.tid, t.reading));
  state.decisions.splice(0, state.decisions.length - 200);
  state.moves.splice(0, state.moves.length - 300);
  state.maps = maps(t).map(keepGood);
  state.color = new Map();
  state.maps.forEach((m) => colorsOf(m.pid, m.groups).forEach((c, tid) => state.color.set(tid + "/" + m.pid, c)));
}

function past(list) {
  state.history.clear();
  state.decisions = list.slice(0, -1).flatMap((r) => r.decisions);
  for (const r of list.slice(0, -1)) if (state.about.counters) remember("machine", r.ms, r.b);
}
