// The views, each made anew from the state.
"use strict";
function scope() { return ui.scope === "machine" ? "machine" : Number(ui.scope); }
function scopeName() { return ui.scope === "machine" ? "all programs" : `${state.names.get(scope())} (${scope()})`; }
function own(pid) { return state.tick && pid === state.tick.self.pid; }

// ---- The sentence on top ----
function chipsOf(tids, pid) {
  const on = new Map();
  state.tick.threads.forEach((t) => {
    if (t.pid === pid && tids.includes(t.tid)) {
      const chip = state.about.cpus[t.cpu].chip;
      on.set(chip, (on.get(chip) || 0) + 1);
    }
  });
  return [...on].sort((a, b) => b[1] - a[1]);
}
function groupTag(m, tids) {
  const color = clusterColor(tids[0], m.pid) || css("--grid"), on = chipsOf(tids, m.pid);
  const where = !on.length ? "ended" : on.length === 1 ? `all on chip ${on[0][0]}` : on.map(([c, n]) => `${n} on chip ${c}`).join(", ");
  return [el("span", {class: "group", style: {background: color, color: ink(color)}}, tids.join(" ")), ` ${where}`];
}
function remotePart(pid) {
  const h = (state.history.get(pid) || []).slice(-10), all = h.reduce((s, x) => s + x.cycles, 0);
  return {all, remote: h.reduce((s, x) => s + x.part.remote_l2 + x.part.remote_l3, 0)};
}
function verdict() {
  if (!state.tick) return [state.online === "lost" ? "The machine does not answer." : "Waiting for the first reading."];
  if (!state.about.counters) return ["This machine has no counters: what threads share cannot be seen here."];
  const m = (state.maps || []).filter((x) => x.groups.some((g) => g.length > 1) && !own(x.pid))[0];
  if (!m) {
    const busy = state.tick.processes.filter((p) => !own(p.pid)).sort((a, b) => b.b.cycles - a.b.cycles)[0];
    if (!busy) return ["No other program runs."];
    const r = remotePart(busy.pid);
    return [`${busy.name}: no threads are seen sharing lines across chips; ${percent(r.remote, r.all)} of its cycles wait for other chips' caches.`];
  }
  const r = remotePart(m.pid), groups = m.groups.filter((g) => g.length > 1);
  return [`${m.name}: ${groups.length} group${groups.length > 1 ? "s" : ""} of threads share cache lines: `,
    ...groups.slice(0, 6).flatMap((g, i) => [i ? ", " : "", ...groupTag(m, g)]),
    groups.length > 6 ? `; and ${groups.length - 6} more` : "",
    `. ${percent(r.remote, r.all)} of its cycles wait for other chips' caches` +
    (m.by === "samples" ? " (seen by samples; nothing is moved: see sched.policy)." : ".")];
}

// ---- Sections ----
function cyclesSection(width, height) {
  const h = state.history.get(scope()) || [], last = h.slice(-10);
  const cycles = last.reduce((s, x) => s + x.cycles, 0), n = last.reduce((s, x) => s + x.instructions, 0);
  const seen = last.length ? Math.min(...last.map((x) => (x.cycles ? x.seen / x.cycles : 1))) : 1;
  const [busy, idle] = state.tick.cpus.reduce((a, c) => [a[0] + c[0], a[1] + c[1]], [0, 0]);
  return section(width, "Where cycles go", `CPUs are ${percent(busy, busy + idle)} busy; % of the busy cycles of ${scopeName()}; figures: the last 10 readings; ` +
    `${n ? (n / cycles).toFixed(2) + " instructions per cycle; " : ""}the least seen figure was counted ${percent(seen, 1)} of the time`,
  cyclesChart("cycles", height, scope()), cyclesLegend(scope()));
}
function topologySection(width) {
  return section(width, "Where threads are", "number: thread; colour: group that shares lines; framed: running; pale: asleep", topology(state.tick));
}
function mapSection(width, rowHeight) {
  const m = (state.maps || []).filter((x) => !own(x.pid))[0];
  if (!m) return section(width, "Who shares what", "", empty(state.tick.lines.why ||
    "No two threads of another program are seen to share lines across chips."));
  return section(width, "Who shares what", `${m.name} (${m.pid}): a row for each thread, a column for each of the ${m.shown.length} most ` +
    `contended cache lines; brighter: more samples (${m.samples} in all, by the ${m.by === "detector" ? "sharing detector" : "page's own sampling"}` +
    `${m.by === "detector" ? ", at " + time(m.ms) : ""}${m.detecting ? "; sampling now" : ""}${m.later > m.ms ? "; nothing left to see at " + time(m.later) : ""}` +
    `${m.global ? "; " + m.global + (m.global > 1 ? " lines" : " line") + " of most threads left out" : ""})`, shmap(m, rowHeight));
}
function decisionsSection(width) {
  const rows = state.decisions.slice(-60).reverse().map((d) => cells(HEAD_D, [time(d.ms), state.names.get(d.pid) || d.pid, d.phase, d.reason, d.text]));
  return section(width, "What the scheduler decided", "the latest first", rows.length
    ? el("div", {class: "log"}, table(HEAD_D, rows)) : empty("No decision was seen: with sched.policy=cluster the scheduler decides by what it sees."));
}
const HEAD_D = [{t: "time"}, {t: "program"}, {t: "phase"}, {t: "reason"}, {t: "details", wrap: true}];
const HEAD_M = [{t: "time"}, {t: "program"}, {t: "thread", n: true}, {t: "from CPU"}, {t: "to CPU"}];
function cpuName(cpu) { return `${cpu}, chip ${state.about.cpus[cpu] ? state.about.cpus[cpu].chip : "?"}`; }
function movesSection(width) {
  const rows = state.moves.slice(-60).reverse().map((m) => cells(HEAD_M, [time(m.ms), state.names.get(m.pid) || m.pid, m.tid, cpuName(m.from), cpuName(m.to)]));
  const cross = state.moves.filter((m) => state.about.cpus[m.from].chip !== state.about.cpus[m.to].chip).length;
  return section(width, "Threads moving", `${state.moves.length} moves seen, ${cross} between chips`, rows.length
    ? el("div", {class: "log"}, table(HEAD_M, rows)) : empty("No thread has moved."));
}
const HEAD_T = [{t: "thread", n: true}, {t: "program"}, {t: "state"}, {t: "CPU", n: true}, {t: "chip", n: true}, {t: "on CPU", n: true},
  {t: "waited for CPU", n: true}, {t: "cycles", n: true}, {t: "instr. / cycle", n: true}, {t: "where its cycles went"}, {t: "moves", n: true}];
const COMPACT = [0, 4, 5, 8, 9];
function threadsSection(width, most, compact) {
  const pick = (list) => (compact ? COMPACT.map((i) => list[i]) : list), heads = pick(HEAD_T);
  const wall = state.tick.since_ms * 1000, list = state.tick.threads.filter((t) => ui.scope === "machine" || t.pid === scope());
  list.sort((a, b) => b.b.cycles - a.b.cycles || b.run_us - a.run_us);
  const rows = list.slice(0, most).map((t) => {
    const part = state.about.counters ? split(t.b) : zero();
    return cells(heads, pick([threadTag(t), state.names.get(t.pid), t.state, t.cpu, state.about.cpus[t.cpu] ? state.about.cpus[t.cpu].chip : "?",
      percent(t.run_us, wall), percent(t.wait_us, wall), state.about.counters ? count(t.b.cycles) : "-",
      t.b.cycles ? (t.b.instructions / t.b.cycles).toFixed(2) : "-", bar(part, t.b.cycles), t.moves]));
  });
  const left = state.tick.threads_left_out, all = list.length + (ui.scope === "machine" ? left : 0);
  return section(width + (most > 20 ? " scroll" : ""), "Threads", `since the reading before, ${time(state.tick.since_ms)} ago; % of that time` +
    (all > rows.length ? `; the busiest ${rows.length} of ${all}` : ""), table(heads, rows));
}
const HEAD_L = [{t: "line"}, {t: "program"}, {t: "of memory"}, {t: "samples", n: true}, {t: "accesses", n: true}, {t: "latency", n: true},
  {t: "last used by"}, {t: "threads: samples (stores)", wrap: true}];
function linesSection(width) {
  const l = state.tick.lines, rows = l.of.map((x) => cells(HEAD_L, ["0x" + x.address, state.names.get(x.pid), x.region, x.samples, count(x.accesses),
    x.latency_cycles + " cycles", x.function + (x.source_line ? ` ${x.file}:${x.source_line}` : ""),
    x.users.slice(0, 12).map(([tid, n, s]) => `${tid}: ${n} (${s})`).join(", ")]));
  return section(width + " scroll", "Contended lines", `sampled accesses that another chip's cache served, ${l.line_bytes} bytes each; ` +
    `${l.lost} samples lost${l.forgotten ? ", " + l.forgotten + " rare lines forgotten" : ""}`,
  rows.length ? table(HEAD_L, rows) : empty(l.why || "No line is seen to travel between chips."));
}
const HEAD_E = [{t: "event"}, {t: "since the reading before", n: true}, {t: "since counting began", n: true}, {t: "unit"}, {t: "95 % interval of that"},
  {t: ""}, {t: "counted", n: true}];
const SURE = {unseen: "never counted", short: "too short for an interval", none: "nothing was seen", beyond: "too large", published: "no interval"};
function interval(e) {
  if (e.value == null || !e.sure) return ["none for a ratio", ""];
  if (e.sure === "exact") return ["exact", ""];
  if (e.sure !== "interval") return [SURE[e.sure], ""];
  const span = (e.high - e.low) || 1, from = Math.max(0, e.low - span / 2), to = e.high + span / 2, at = (v) => 100 * (v - from) / (to - from);
  return [`${count(e.low)} to ${count(e.high)}`, el("div", {class: "whisker", title: `${e.low} to ${e.high}`},
    el("i", {style: {left: at(e.low) + "%", width: at(e.high) - at(e.low) + "%"}}), el("b", {style: {left: at(e.value) + "%"}}))];
}
function eventsSection(width) {
  const rows = state.tick.events.map((e) => cells(HEAD_E, [e.name, count(e.now.value), count(e.total.value), e.unit || "events",
    ...interval(e.total), (e.total.seen_permille / 10).toFixed(1) + " % of the time"]));
  return section(width, "Events", `of the machine; the reading before was ${time(state.tick.since_ms)} ago`,
    rows.length ? table(HEAD_E, rows) : empty(state.tick.events_why || "None are counted: set watch.events under Knobs."));
}
const HEAD_P = [{t: "program"}, {t: "pid", n: true}, {t: "resident", n: true}, {t: "swapped out", n: true}, {t: "limit", n: true}, {t: "pool", n: true},
  {t: "planned", n: true}, {t: "faults", n: true}, {t: "waited for a disk", n: true}, {t: "pages in", n: true}, {t: "pages out", n: true},
  {t: "prefetched, used", n: true}, {t: "threads waited", n: true}, {t: "policy"}];
function memorySection(width) {
  const rows = state.tick.processes.map((p) => {
    const m = p.memory;
    return cells(HEAD_P, [p.name, p.pid, bytes(m.resident), bytes(m.swapped), m.limit ? bytes(m.limit) : "none", m.pool ? bytes(m.pool) : "none",
      m.planned ? bytes(m.planned) : "-", m.faults, m.major, m.page_ins, m.page_outs, m.prefetched ? percent(m.prefetch_used, m.prefetched) : "-",
      time(m.waited_us / 1000), (m.policy || "-") + (m.in_force && m.in_force !== m.policy ? ` (${m.in_force})` : "") + (m.prefetch ? ", prefetch " + m.prefetch : "")]);
  });
  return section(width, "Memory", "faults, pages and waiting: since the reading before", el("div", {style: {overflowX: "auto"}}, table(HEAD_P, rows)));
}
function poolsSection(width) {
  const all = state.tick.processes.filter((p) => p.memory.pool);
  const most = Math.max(1, ...all.map((p) => Math.max(p.memory.pool, p.memory.limit && p.memory.limit < 2 ** 50 ? p.memory.limit : 0)));
  return section(width, "Pools", "resident memory of each pool; the mark: what the division of memory plans", all.length ? all.map((p) => el("div", {class: "row"},
    el("span", {style: {width: "9em"}}, p.name), el("div", {class: "whisker", style: {flex: 1, height: "18px"}},
      el("i", {style: {left: 0, width: 100 * p.memory.resident / most + "%", opacity: 0.75}}),
      p.memory.planned ? el("b", {style: {left: 100 * Math.min(1, p.memory.planned / most) + "%"}}) : ""), bytes(p.memory.resident)))
    : empty("No program has a pool: memory is not limited, and there is no swap disk."));
}
function curvesSection(width) {
  const all = state.tick.processes.filter((p) => p.curve && p.curve.lru.length);
  if (!all.length) return section(width, "Miss-rate curves", "", empty("No curve: a tracker must watch (mem.track=always mem.curves=on), or memory be short."));
  const n = 16, xs = [...new Set(all.flatMap((p) => p.curve.lru.map((v, i) => (p.curve.pages * (i + 1) / n) * 4096 / 2 ** 20)))].sort((a, b) => a - b);
  const series = [{}], data = [xs];
  all.forEach((p, k) => {
    const c = p.curve, at = new Map(c.lru.map((v, i) => [(c.pages * (i + 1) / n) * 4096 / 2 ** 20, 100 * v / Math.max(1, c.accesses - c.first_uses)]));
    series.push({label: p.name, stroke: CLUSTER_COLOR[k % 8], width: 2, spanGaps: true, points: {show: true, size: 5}});
    data.push(xs.map((x) => at.get(x) ?? null));
  });
  return section(width, "Miss-rate curves", "share of the tracked accesses that would miss under LRU, by memory; first uses not counted",
    chart("curves" + all.map((p) => p.pid).join(), 260, {series, scales: {x: {time: false}, y: {range: (u, lo, hi) => [0, Math.max(1, hi * 1.1)]}},
      axes: [axis({values: (u, v) => v.map((x) => x.toFixed(1) + " MiB")}), axis({size: 60, values: (u, v) => v.map((x) => x + " %")})]}, data),
    el("div", {class: "legend"}, all.map((p, k) => el("span", {}, el("i", {style: {background: CLUSTER_COLOR[k % 8]}}), `${p.name} (${p.pid})`,
      el("b", {}, `${count(p.curve.pages)} pages`)))));
}
function selfSection(width) {
  const s = state.tick.self, p = state.tick.processes.find((x) => x.pid === s.pid), all = state.tick.b.cycles;
  const heads = [{t: "what"}, {t: "", n: true}], row = (a, b) => cells(heads, [a, b]);
  return section(width, "The page itself", "what watching costs, and what was lost", table(heads, [
    row("its part of the busy cycles", p && all ? percent(p.b.cycles, all) : "-"), row("time to make a reading", time(s.took_us / 1000)),
    row("interval between readings", s.interval_ms + " ms"), row("readers of the stream", s.readers), row("requests answered", s.requests),
    row("requests refused", s.refused), row("snapshots left out for slow readers", s.snapshots_dropped),
    row("snapshots this page missed", state.lost.snapshots + state.lost.gaps), row("decisions lost", state.tick.decisions_lost)]));
}

// ---- Network ----
// What happened a second of the machine's time, lately.
function rate(of) {
  const h = state.network.slice(-10), first = h[0], last = h[h.length - 1];
  return h.length > 1 && last.ms > first.ms ? 1000 * (of(last.net) - of(first.net)) / (last.ms - first.ms) : 0;
}
function faceOf(net, name) { return net.interfaces.find((i) => i.name === name) || {received_bytes: 0, sent_bytes: 0, received: 0, sent: 0}; }
const BINARY = Array.from({length: 50}, (x, i) => 2 ** i); // steps of an axis
function trafficSection(width) {
  const faces = state.tick.network.interfaces, h = state.network, series = [{}], data = [h.slice(1).map((x) => x.ms / 1000)];
  const lines = faces.flatMap((f, i) => [[f.name, "received", "received_bytes", i], [f.name, "sent", "sent_bytes", i]]);
  lines.forEach(([name, way, key], k) => {
    series.push({label: name + " " + way, stroke: CLUSTER_COLOR[k % 8], width: 2, points: {show: false}});
    data.push(h.slice(1).map((x, i) => 1000 * Math.max(0, faceOf(x.net, name)[key] - faceOf(h[i].net, name)[key]) / Math.max(1e-6, x.ms - h[i].ms)));
  });
  return section(width, "Traffic", "bytes a second of the machine's time", h.length > 1
    ? chart("traffic" + faces.map((f) => f.name).join(), 345, {series, scales: {x: {time: false}, y: {range: (u, lo, hi) => [0, Math.max(1, hi * 1.1)]}},
      axes: [axis({values: seconds}), axis({size: 90, incrs: BINARY, values: (u, v) => v.map((x) => bytes(x) + "/s")})]}, data)
    : empty("Nothing was counted yet."),
  el("div", {class: "legend"}, lines.map(([name, way, key], k) => el("span", {}, el("i", {style: {background: CLUSTER_COLOR[k % 8]}}), `${name} ${way}`,
    el("b", {}, bytes(Math.round(rate((n) => faceOf(n, name)[key]))) + "/s")))));
}
const HEAD_I = [{t: "interface"}, {t: "received", n: true}, {t: "frames", n: true}, {t: "frames / s", n: true}, {t: "dropped", n: true},
  {t: "sent", n: true}, {t: "frames", n: true}, {t: "frames / s", n: true}, {t: "dropped", n: true}];
function interfacesSection(width) {
  const rows = state.tick.network.interfaces.map((i) => cells(HEAD_I, [i.name, bytes(i.received_bytes), i.received,
    count(Math.round(rate((n) => faceOf(n, i.name).received))), i.received_dropped, bytes(i.sent_bytes), i.sent,
    count(Math.round(rate((n) => faceOf(n, i.name).sent))), i.sent_dropped]));
  return section(width, "Interfaces", "since boot", table(HEAD_I, rows));
}
const HEAD_C = [{t: "what"}, {t: "number", n: true}, {t: "a second", n: true}];
function connectionsSection(width) {
  const n = state.tick.network, now = (what, v) => cells(HEAD_C, [what, v, ""]);
  const since = (what, key) => cells(HEAD_C, [what, count(n[key]), count(Math.round(rate((x) => x[key])))]);
  return section(width, "Connections", "sockets and connections: now; from \"opened\" on: since boot", table(HEAD_C, [now("sockets of TCP", n.tcp), now("sockets of UDP", n.udp),
    now("sockets of all kinds", n.sockets), now("closed, in TIME_WAIT", n.time_wait),
    now("connections without a socket", n.orphans), since("opened", "opened"), since("accepted", "accepted"), since("failed", "failed"),
    since("segments received", "segments_in"), since("segments sent", "segments_out"), since("segments sent again", "segments_again"),
    since("datagrams received", "datagrams_in"), since("datagrams sent", "datagrams_out")]));
}
const HEAD_R = [{t: "reason"}, {t: "frames", n: true}];
function dropsSection(width) {
  const n = state.tick.network, part = n.memory_limit ? 100 * n.memory / n.memory_limit : 0;
  return section(width, "Memory and drops", "of the network", el("div", {class: "row"}, el("span", {style: {width: "9em"}}, "memory"),
    el("div", {class: "whisker", style: {flex: 1, height: "18px"}}, el("i", {style: {left: 0, width: Math.min(100, part) + "%", opacity: 0.75}})),
    `${bytes(n.memory)} of ${bytes(n.memory_limit)}`, n.memory_refused ? `; ${n.memory_refused} requests refused` : ""),
  n.drops.length ? table(HEAD_R, n.drops.map((d) => cells(HEAD_R, [d.reason, d.frames]))) : empty("No frame was dropped."));
}

// ---- Knobs ----
const said = new Map();
async function post(path, body) {
  try {
    const r = await fetch(path, {method: "POST", headers: {"X-Vigil-Token": ui.token}, body});
    return [r.ok, (await r.text()).trim()];
  } catch (e) { return [false, "no answer: " + e.message]; }
}
async function turn(name, value) {
  const [ok, text] = await post("/api/knob", name + "=" + value);
  await readState();
  said.set(name, {ok, text: ok ? "set" : text});
  render(true);
}
const HEAD_K = [{t: "knob"}, {t: "value"}, {t: ""}, {t: "takes effect"}, {t: "accepted", wrap: true}, {t: "meaning", wrap: true}];
function knobRow(k) {
  const input = el("input", {value: k.value, "aria-label": k.name, disabled: !ui.token, onkeydown: (e) => { if (e.key === "Enter") turn(k.name, input.value); }});
  const s = said.get(k.name);
  return cells(HEAD_K, [el("b", {}, k.name), input, el("span", {class: "knob"}, el("button", {disabled: !ui.token, onclick: () => turn(k.name, input.value)}, "set"),
    s ? el("div", {class: "said" + (s.ok ? " ok" : "")}, s.text) : ""), k.live === "now" ? "at once" : "next program", k.accepts, k.help]);
}
function knobsView() {
  const input = el("input", {type: "password", value: ui.token, placeholder: "token", "aria-label": "token", autocomplete: "off",
    onchange: () => { ui.token = input.value.trim(); render(true); }});
  const command = el("input", {style: {width: "34em"}, value: ui.command, "aria-label": "program to start", oninput: () => { ui.command = command.value; }});
  const start = async (path, body) => { const [ok, text] = await post(path, body); await readState(); said.set("run", {ok, text}); render(true); };
  const s = said.get("run"), live = state.knobs.filter((k) => k.live !== "boot");
  const mine = [{name: "watch.interval_ms", value: String(state.tick.self.interval_ms), live: "now", accepts: "a number from 1 to 3600000", help: "milliseconds between readings"},
    {name: "watch.events", value: state.tick.events.map((e) => e.name).join(","), live: "now", accepts: "names as hpmstat takes them, with commas", help: "events counted beside the breakdown"}];
  return [section("w12", "Token", state.tick.self.knobs ? "the console shows it at the start; it stays in this tab only" : "read only: watchd was started with token=none",
    el("div", {class: "row"}, input, el("span", {class: "dim"}, ui.token ? "knobs can be turned" : "without it nothing can be changed"))),
  section("w12", "Next program", state.program ? `${state.program.command}: ${state.program.running ? "runs, pid " + state.program.pid : "ended with " + state.program.status}` : "none was started here",
    el("div", {class: "row"}, command, el("button", {disabled: !ui.token, onclick: () => start("/api/run", ui.command)}, "start"),
      el("button", {disabled: !ui.token, onclick: () => start("/api/stop", "")}, "stop"),
      s ? el("span", {class: "knob"}, el("span", {class: "said" + (s.ok ? " ok" : "")}, s.text)) : "")),
  section("w12 scroll", "Knobs", "arguments that can change while programs run, or for programs that start later", table(HEAD_K, [...mine, ...live].map(knobRow)),
    live.length ? "" : empty("The boot arguments are being read from the machine."))];
}

const VIEWS = [
  ["Overview", () => [cyclesSection("w7", 250), topologySection("w5"), mapSection("w7", 17), threadsSection("w5", 12, true)]],
  ["Sharing", () => [mapSection("w8", 22), topologySection("w4"), decisionsSection("w8"), movesSection("w4"), linesSection("w12")]],
  ["Cycles", () => [cyclesSection("w12", 420), threadsSection("w12", 12)]],
  ["Threads", () => [threadsSection("w12", 400), movesSection("w12")]],
  ["Memory", () => [memorySection("w12"), poolsSection("w6"), curvesSection("w6")]],
  ["Events", () => [eventsSection("w12"), selfSection("w6")]],
  ["Network", () => [trafficSection("w7"), connectionsSection("w5"), interfacesSection("w7"), dropsSection("w5")]],
  ["Knobs", knobsView],
];
const KNOBS = VIEWS.length - 1;
