// Pieces of pages: elements, figures with units, the picture of the topology, shMaps, charts.
"use strict";
function el(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes || {})) {
    if (k === "style") Object.assign(e.style, v);
    else if (k.startsWith("on")) e[k] = v;
    else if (v !== false && v != null) e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...children.flat().filter((c) => c != null));
  return e;
}
function css(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

// ---- Figures ----
function percent(part, all) {
  if (!all) return "-";
  const p = 100 * part / all;
  return (p >= 10 ? p.toFixed(0) : p >= 0.1 || p === 0 ? p.toFixed(1) : "<0.1") + " %";
}
function count(n) {
  if (n == null) return "-";
  const units = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
  for (const [u, s] of units) if (Math.abs(n) >= u) return (n / u).toFixed(2) + " " + s;
  return Number.isInteger(n) ? String(n) : n.toFixed(3);
}
function bytes(n) {
  const units = [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]];
  for (const [u, s] of units) if (n >= u) return (n / u).toFixed(n >= 10 * u ? 0 : 1) + " " + s;
  return n + " B";
}
function time(ms) {
  if (ms >= 1000) return (ms / 1000).toFixed(3) + " s";
  return ms >= 1 ? ms.toFixed(1) + " ms" : (ms * 1000).toFixed(0) + " µs";
}
function clusterColor(tid, pid) {
  const c = state.color && state.color.get(tid + "/" + pid);
  return c == null ? null : CLUSTER_COLOR[c % CLUSTER_COLOR.length];
}
function ink(color) {
  const n = parseInt(color.slice(1), 16);
  return (n >> 16) * 0.3 + (n >> 8 & 255) * 0.59 + (n & 255) * 0.11 > 140 ? "#10151b" : "#ffffff";
}

function section(width, title, small, ...body) {
  return el("section", {class: width}, el("h2", {}, title, el("small", {}, small || "")), ...body);
}
function empty(text) { return el("div", {class: "empty"}, text); }
function table(heads, rows) {
  return el("table", {}, el("thead", {}, el("tr", {}, heads.map((h) =>
    el("th", {class: h.n ? "n" : null, scope: "col"}, h.t ?? h)))),
  el("tbody", {}, rows));
}
function cells(heads, values, cls) {
  return el("tr", {class: cls}, values.map((v, i) => el("td", {class: heads[i].n ? "n" : heads[i].wrap ? "wrap" : null}, v ?? "-")));
}
function bar(part, all) {
  return el("div", {class: "bar", role: "img", "aria-label": CAUSES.filter((c) => part[c] > all * 0.01)
    .map((c) => CAUSE_NAME[c] + " " + percent(part[c], all)).join(", ")},
  CAUSES.filter((c) => part[c] > 0 && all).map((c) => el("i", {title: CAUSE_NAME[c] + ": " + percent(part[c], all),
    style: {width: 100 * part[c] / all + "%", background: CAUSE_COLOR[c]}})));
}

// ---- Topology ----
function threadTag(t) {
  const color = clusterColor(t.tid, t.pid);
  const moved = state.tick.reading - (state.moved.get(t.tid) ?? -99) < 3;
  return el("span", {class: "thread " + t.state + (moved ? " moved" : ""),
    title: `thread ${t.tid} of ${state.names.get(t.pid)} (${t.pid}): ${t.state}, ran ${time(t.run_us / 1000)}, ` +
      `waited ${time(t.wait_us / 1000)} for a CPU, ${t.moves} moves` + (t.home >= 0 ? `, placed on chip ${t.home}` : ""),
    style: color ? {background: color, color: ink(color)} : {}}, String(t.tid));
}
function topology(t) {
  const chips = new Map();
  state.about.cpus.forEach((c, cpu) => {
    if (!chips.has(c.chip)) chips.set(c.chip, new Map());
    const cores = chips.get(c.chip);
    if (!cores.has(c.core)) cores.set(c.core, []);
    cores.get(c.core).push(cpu);
  });
  const on = new Map();
  t.threads.forEach((x) => { if (!on.has(x.cpu)) on.set(x.cpu, []); on.get(x.cpu).push(x); });
  return el("div", {class: "chips"}, [...chips].map(([chip, cores]) => {
    const threads = [...cores.values()].flat().flatMap((c) => on.get(c) || []);
    return el("div", {class: "chip"}, el("b", {}, `chip ${chip}`, el("small", {class: "dim"}, `${threads.length} thread${threads.length === 1 ? "" : "s"}`)),
      el("div", {class: "cores"}, [...cores].map(([core, cpus]) => el("div", {class: "core"}, cpus.map((cpu) => {
        const [busy, idle] = t.cpus[cpu] || [0, 0];
        return el("div", {class: "cpu"}, el("small", {}, `CPU ${cpu}`, el("span", {}, busy + idle ? percent(busy, busy + idle) + " busy" : "")),
          (on.get(cpu) || []).map(threadTag));
      })))));
  }));
}

// ---- shMaps ----
let tip = null;
function hideTip() { if (tip) { tip.remove(); tip = null; } }
function showTip(x, y, text) {
  hideTip();
  tip = el("div", {class: "tip", style: {left: Math.min(x + 14, innerWidth - 350) + "px", top: y + 14 + "px"}}, text);
  document.body.append(tip);
}
function shmap(m, rowHeight) {
  const canvas = el("canvas", {class: "map", role: "img", "aria-label": `shMap: ${m.rows.length} threads, ${m.shown.length} lines`});
  const left = 88, right = 62, ratio = devicePixelRatio || 1;
  const most = Math.max(1, ...m.rows.map((r) => Math.max(0, ...r.counts)));
  let width = 0;
  const rowAt = (i) => i * rowHeight + gaps(i) * 5;
  const gaps = (i) => m.rows.slice(1, i + 1).filter((r, k) => r.cluster !== m.rows[k].cluster).length;
  const height = rowAt(m.rows.length - 1) + rowHeight + 2;
  function draw() {
    width = canvas.parentElement ? canvas.parentElement.clientWidth - 24 : 0;
    if (width < 50) return;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.height = height + "px";
    const g = canvas.getContext("2d"), cell = (width - left - right) / Math.max(1, m.shown.length);
    g.scale(ratio, ratio);
    g.font = "12px system-ui, sans-serif";
    g.textBaseline = "middle";
    m.rows.forEach((r, i) => {
      const y = rowAt(i), color = clusterColor(r.tid, m.pid) || css("--dim");
      g.globalAlpha = 1;
      g.fillStyle = r.cluster >= 0 ? color : "transparent";
      g.fillRect(0, y, 8, rowHeight);
      g.fillStyle = css("--text");
      g.fillText("thread " + r.tid, 14, y + rowHeight / 2);
      g.fillStyle = css("--dim");
      if (r.cluster < 0) g.fillText(r.why, width - right + 8, y + rowHeight / 2);
      g.fillStyle = css("--grid");
      g.fillRect(left, y, width - left - right, rowHeight - 1);
      g.fillStyle = color;
      r.counts.forEach((n, c) => {
        if (!n) return;
        g.globalAlpha = 0.4 + 0.6 * Math.log1p(n) / Math.log1p(most);
        g.fillRect(left + c * cell, y, Math.max(1, cell - 0.5), rowHeight - 1);
      });
    });
  }
  canvas.onmousemove = (e) => {
    const box = canvas.getBoundingClientRect(), y = e.clientY - box.top;
    const c = Math.floor((e.clientX - box.left - left) / ((width - left - right) / m.shown.length));
    const i = m.rows.findIndex((r, k) => y >= rowAt(k) && y < rowAt(k) + rowHeight);
    if (i < 0 || c < 0 || c >= m.shown.length) hideTip();
    else showTip(e.clientX, e.clientY, `thread ${m.rows[i].tid}: ${m.rows[i].counts[c]} samples of line 0x${m.shown[c]}`);
  };
  canvas.onmouseleave = hideTip;
  queueMicrotask(draw);
  return canvas;
}

// ---- Charts ----
const charts = new Map(); // by id: {plot, host}, kept while their view is shown
function axis(more) {
  return {stroke: css("--dim"), grid: {stroke: css("--grid"), width: 1}, ticks: {stroke: css("--grid")},
    font: "12px system-ui, sans-serif", ...more};
}
// Times of an axis, with the digits that tell them apart.
function seconds(u, v) {
  const digits = v.length > 1 ? Math.min(6, Math.max(0, Math.ceil(-Math.log10(v[1] - v[0]) - 1e-9))) : 2;
  return v.map((x) => x.toFixed(digits) + " s");
}
function chart(id, height, options, data) {
  if (typeof uPlot === "undefined") return empty("This build has no charts: npm was missing when it was made.");
  let c = charts.get(id);
  if (!c) {
    c = {host: el("div", {id})};
    charts.set(id, c);
  }
  queueMicrotask(() => {
    const width = c.host.clientWidth;
    if (!width) return;
    if (c.plot && c.width === width && c.series === options.series.length && c.light === light()) {
      c.plot.setData(data);
      return;
    }
    if (c.plot) c.plot.destroy();
    c.width = width;
    c.series = options.series.length;
    c.light = light();
    c.plot = new uPlot({width, height, legend: {show: false}, ...options}, data, c.host);
  });
  return c.host;
}
function light() { return document.documentElement.classList.contains("light"); }

// Where cycles went over time: each cause on top of those before it.
function cyclesChart(id, height, key) {
  const h = state.history.get(key) || [], used = CAUSES.filter((c) => h.some((x) => x.part[c] > 0));
  const tops = used.map(() => []);
  h.forEach((x) => {
    let s = 0;
    used.forEach((c, i) => { s += x.part[c]; tops[i].push(x.cycles ? 100 * s / x.cycles : null); });
  });
  const series = [{}], data = [h.map((x) => x.ms / 1000)];
  for (let i = used.length - 1; i >= 0; i--) { // the highest first: the others are drawn over it
    series.push({stroke: CAUSE_COLOR[used[i]], fill: CAUSE_COLOR[used[i]], width: 0, points: {show: false}});
    data.push(tops[i]);
  }
  const options = {
    series, cursor: {drag: {x: false, y: false}, points: {show: false}},
    scales: {x: {time: false}, y: {range: [0, 100]}},
    axes: [axis({values: seconds}), axis({size: 54, values: (u, v) => v.map((x) => x + " %")})],
  };
  return h.length ? chart(id + used.join(), height, options, data) : empty("Nothing was counted yet.");
}
function cyclesLegend(key) {
  const h = state.history.get(key) || [], last = h.slice(-10), all = last.reduce((s, x) => s + x.cycles, 0);
  return el("div", {class: "legend"}, CAUSES.filter((c) => h.some((x) => x.part[c] > 0)).map((c) => {
    const part = last.reduce((s, x) => s + x.part[c], 0);
    return el("span", {}, el("i", {style: {background: CAUSE_COLOR[c]}}), CAUSE_NAME[c], el("b", {}, percent(part, all)));
  }));
}
