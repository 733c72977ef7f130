// The page: views, keys, and the stream of events.
"use strict";
const ui = {view: 0, scope: "machine", token: sessionStorage.token || "", command: "sched.policy=cluster warehouse ms=500", pending: false};
const $ = (id) => document.getElementById(id);

// ---- Drawing ----
function lostText() {
  const t = state.tick, parts = [];
  const say = (n, what) => { if (n) parts.push(`${n} ${what}${n > 1 ? "s" : ""}`); };
  say(state.lost.snapshots + state.lost.gaps, "snapshot");
  say(t && t.decisions_lost, "decision");
  say(t && t.lines.lost, "sample");
  say(t && t.threads_left_out, "thread");
  return parts.join(", ");
}
function drawHead() {
  const t = state.tick, a = state.about, lost = lostText();
  $("live").className = "dot " + (state.online === "live" ? "on" : state.online === "lost" ? "off" : "");
  $("link").textContent = state.paused ? "paused" : state.online;
  if (t) $("clock").textContent = time(t.ms) + (a.model_time ? " of the machine's time" : " since boot");
  if (a) $("machine").textContent = `${a.arch}, ${a.chips} chip${a.chips > 1 ? "s" : ""}, ${a.cpus.length} CPUs` + (a.counters ? "" : ", no counters");
  $("lost").hidden = !lost;
  $("lost").textContent = "lost: " + lost;
  $("pause").textContent = state.paused ? "go on" : "pause";
  $("theme").textContent = light() ? "dark" : "light";
  document.title = (lost ? "! " : "") + "Vigil" + (t ? " " + time(t.ms) : "");
}
function drawScopes() {
  const wanted = ["machine", ...(state.tick ? state.tick.processes.map((p) => String(p.pid)) : [])];
  if (!wanted.includes(ui.scope)) wanted.push(ui.scope);
  const key = wanted.join();
  if ($("scope").dataset.key === key) return;
  $("scope").dataset.key = key;
  $("scope").replaceChildren(...wanted.map((w) => el("option", {value: w, selected: w === ui.scope}, w === "machine" ? "all programs"
    : `${state.names.get(Number(w)) || "?"} (${w})`)));
}
function editing() {
  const a = document.activeElement;
  return a && a.tagName === "INPUT" && $("view").contains(a);
}
function render(now) {
  drawHead();
  drawScopes();
  [...$("tabs").children].forEach((b, i) => b.setAttribute("aria-selected", i === ui.view));
  drawVerdict();
  if (!state.tick || (editing() && !now)) return;
  const scrolled = [...document.querySelectorAll(".scroll, .log")].map((e) => e.scrollTop);
  hideTip();
  $("view").replaceChildren(...VIEWS[ui.view][1]());
  document.querySelectorAll(".scroll, .log").forEach((e, i) => { e.scrollTop = scrolled[i] || 0; });
}
function drawVerdict() {
  const stale = state.online === "lost" && state.tick;
  $("stale").hidden = !stale;
  if (stale) $("stale").textContent = `The machine does not answer. All figures are of ${time(state.tick.ms)}, the last reading.`;
  $("verdict").replaceChildren(...verdict());
}
let drawn = 0;
function later() {
  if (ui.pending || state.paused) return;
  ui.pending = true;
  setTimeout(() => { ui.pending = false; drawn = performance.now(); if (state.paused) drawHead(); else if (ui.view !== KNOBS) render(); else if ($("view").children.length) { drawHead(); drawVerdict(); } else show(KNOBS); },
    Math.max(0, 200 - (performance.now() - drawn)));
}

// ---- Doing ----
function show(view) {
  ui.view = view;
  charts.clear();
  location.hash = VIEWS[view][0].toLowerCase();
  if (view === KNOBS) readState().then(() => { if (!editing()) render(true); });
  render(true);
}
function theme() {
  document.documentElement.classList.toggle("light");
  localStorage.theme = light() ? "light" : "dark";
  charts.clear();
  render(true);
}
function pause() { state.paused = !state.paused; if (state.paused) drawHead(); else render(true); }
function nextScope() {
  const o = $("scope"), n = (o.selectedIndex + 1) % o.options.length;
  o.selectedIndex = n;
  ui.scope = o.value;
  charts.clear();
  render(true);
}
let asked = 0;
async function readState() {
  const number = ++asked;
  try {
    const s = await (await fetch("/api/state")).json();
    if (number !== asked) return; // a later answer is on its way
    state.knobs = s.knobs;
    state.program = s.program;
  } catch (e) { /* the stream says whether it is connected */ }
}
const KEYS = [["1-8", "views"], ["space", "pause, and go on"], ["s", "cycles of the next program"], ["d", "dark or light"], ["?", "these keys"], ["Esc", "leave a field"]];

function key(e) {
  if (e.target.tagName === "INPUT") { if (e.key === "Escape") e.target.blur(); return; }
  if (e.ctrlKey || e.altKey || e.metaKey) return;
  const n = Number(e.key);
  if (n >= 1 && n <= VIEWS.length) show(n - 1);
  else if (e.key === " ") { e.preventDefault(); pause(); }
  else if (e.key === "d") theme();
  else if (e.key === "s") nextScope();
  else if (e.key === "?") { if ($("keys").open) $("keys").close(); else $("keys").showModal(); }
}

// ---- The start ----
function connect() {
  const source = new EventSource("/events");
  const on = (name, f) => source.addEventListener(name, (e) => { f(JSON.parse(e.data)); state.online = "live"; later(); });
  on("about", (a) => { state.about = a; });
  on("past", past);
  on("tick", take);
  on("lost", (l) => { state.lost.snapshots += l.snapshots; });
  source.onerror = () => { state.online = "lost"; drawHead(); drawVerdict(); };
}
function start() {
  const wanted = localStorage.theme || (matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark");
  document.documentElement.classList.toggle("light", wanted === "light");
  $("tabs").append(...VIEWS.map(([name], i) => el("button", {role: "tab", onclick: () => show(i)}, el("kbd", {}, String(i + 1)), name)));
  $("keys").append(el("h2", {}, "Keys"), ...KEYS.map(([k, t]) => el("p", {}, el("kbd", {}, k), " ", t)));
  $("pause").onclick = pause;
  $("theme").onclick = theme;
  $("help").onclick = () => $("keys").showModal();
  $("keys").onclick = () => $("keys").close();
  $("scope").onchange = () => { ui.scope = $("scope").value; charts.clear(); render(true); $("scope").blur(); };
  addEventListener("keydown", key);
  addEventListener("resize", () => { charts.clear(); render(true); });
  const view = VIEWS.findIndex(([n]) => "#" + n.toLowerCase() === location.hash);
  ui.view = Math.max(0, view);
  connect();
  drawHead();
}
start();
