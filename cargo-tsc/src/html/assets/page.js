// Shows the dump in #report, and how it differs from the one in #base if there is one. `docs/dump.md` describes the data.
"use strict";

const report = JSON.parse(document.getElementById("report").textContent);
const base = JSON.parse(document.getElementById("base").textContent);
const byId = (id) => document.getElementById(id);

/** A new element; `content` is text or elements. */
function element(tag, attributes = {}, ...content) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
}

// ---- Numbers ----

const known = (value) => value !== null && value !== undefined;
const hertz = report.clock.hz;
let unit = "ticks";

/** Three to four digits with a suffix: 1.234 M. */
function short(value, suffixes = ["", " k", " M", " G", " T"]) {
  if (!known(value)) return "–";
  let size = Math.abs(value), step = 0;
  while (size >= 999.5 && step < suffixes.length - 1) { size /= 1000; step += 1; }
  const digits = step === 0 && Number.isInteger(value) ? 0 : size < 10 ? 2 : size < 100 ? 1 : 0;
  return (value < 0 ? "−" : "") + size.toFixed(digits) + suffixes[step];
}

function ticks(value) {
  if (!known(value)) return "–";
  if (unit === "ticks" || !hertz) return short(value);
  return short(value / hertz * 1e9, [" ns", " µs", " ms", " s"]);
}

const percent = (share) => known(share) ? (100 * share).toFixed(1) + " %" : "–";

// ---- Rows ----

/** Self ticks by which rows are ranked: on the CPU where that is known. */
const selfOf = (row) => row.self_on_cpu_ticks ?? row.self_ticks;
const identity = (row) => [row.module, row.name, row.file, row.line, row.fence, row.unit].join("\u0000");
const selfSum = report.callsites.reduce((sum, row) => sum + Math.max(0, selfOf(row)), 0);
const baseRows = new Map((base?.callsites ?? []).map((row) => [identity(row), row]));

/**
 * The ratio of a row's mean to the base's, and its 95 % interval: within these two runs only. `null` where either is not known.
 * The standard error is of the logarithm of the ratio, widened by both systematic errors. Of fewer than FEWEST calls in either run, no
 * standard error can be trusted, and no change is resolved.
 */
function change(row) {
  const before = baseRows.get(identity(row));
  if (!before || !(row.mean_ticks > 0) || !(before.mean_ticks > 0)) return null;
  const ratio = row.mean_ticks / before.mean_ticks;
  const fewest = Math.min(row.clean ?? row.calls, before.clean ?? before.calls);
  if (fewest < FEWEST || !known(row.std_error_ticks) || !known(before.std_error_ticks)) return { ratio, resolved: false };
  const relative = (one) => one.std_error_ticks / one.mean_ticks;
  const systematic = (one) => (one.systematic_error_ticks ?? 0) / one.mean_ticks;
  const reach = quantile975(fewest - 1) * Math.hypot(relative(row), relative(before)) + systematic(row) + systematic(before);
  return { ratio, resolved: Math.abs(Math.log(ratio)) > reach };
}

const FEWEST = 5;

/** The 97.5 % quantile of Student's distribution, by the first terms of its expansion in 1 / freedom (Abramowitz and Stegun, 26.7.5). */
function quantile975(freedom) {
  const z = 1.959964;
  return z + (z ** 3 + z) / (4 * freedom) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2);
}

const columns = [
  { key: "name", label: "function", value: (row) => row.name, show: (row) => row.name, text: true },
  { key: "self", label: "self %", value: selfOf, show: (row) => percent(selfSum > 0 ? selfOf(row) / selfSum : null) },
  { key: "total", label: "total", value: (row) => row.total_ticks, show: (row) => ticks(row.total_ticks) },
  { key: "calls", label: "calls", value: (row) => row.calls, show: (row) => short(row.calls) },
  { key: "mean", label: "mean", value: (row) => row.mean_ticks, show: (row) => ticks(row.mean_ticks) },
  { key: "p50", label: "p50", value: (row) => row.p50_ticks, show: (row) => ticks(row.p50_ticks) },
  { key: "p99", label: "p99", value: (row) => row.p99_ticks, show: (row) => ticks(row.p99_ticks) },
  { key: "max", label: "max", value: (row) => row.max_ticks, show: (row) => ticks(row.max_ticks) },
  { key: "clean", label: "clean", value: (row) => row.clean, show: (row) => known(row.clean) ? short(row.clean) : "?" },
  { key: "place", label: "on CPU · blocked · waiting", value: (row) => (row.blocked_ticks ?? 0) + (row.waiting_ticks ?? 0), show: placeBar },
];
if (base) {
  columns.splice(5, 0, {
    key: "change", label: "change of mean", value: (row) => change(row)?.ratio ?? null, show: changeCell,
  });
}

function changeCell(row) {
  const found = change(row);
  if (!found) return baseRows.has(identity(row)) ? "–" : "new";
  const text = (found.ratio >= 1 ? "+" : "−") + Math.abs(100 * (found.ratio - 1)).toFixed(1) + " %";
  if (!found.resolved) return text + " (not resolved)";
  return element("span", { class: found.ratio > 1 ? "slower" : "faster" }, text);
}

function placeBar(row) {
  const bar = element("span", { class: "bar", role: "img" });
  const total = row.wall_ticks;
  const parts = known(row.on_cpu_ticks)
    ? [["on-cpu", row.on_cpu_ticks], ["blocked", row.blocked_ticks ?? 0], ["waiting", row.waiting_ticks ?? 0]]
    : [["unknown", total]];
  const labels = parts.map(([part, value]) => `${part.replace("-", " ")} ${percent(total > 0 ? value / total : null)}`);
  bar.setAttribute("aria-label", labels.join(", "));
  bar.title = labels.join(", ");
  for (const [part, value] of parts) {
    bar.append(element("i", { class: part, style: `width:${total > 0 ? Math.max(0, 100 * value / total) : 0}%` }));
  }
  return bar;
}

const sorting = { column: columns[1], descending: true };
let opened = null;

function heading() {
  const cells = columns.map((column) => {
    const button = element("button", { type: "button" }, column.label);
    button.addEventListener("click", () => {
      const same = sorting.column === column;
      sorting.descending = same ? !sorting.descending : !column.text;
      sorting.column = column;
      showRows();
    });
    return element("th", { scope: "col", "data-key": column.key }, button);
  });
  byId("rows").tHead.rows[0].replaceChildren(...cells);
}

function showRows() {
  const wanted = byId("row-filter").value.toLowerCase();
  const matches = (row) => `${row.module}::${row.name}`.toLowerCase().includes(wanted);
  const rows = report.callsites.filter(matches);
  const { column, descending } = sorting;
  const sign = descending ? -1 : 1;
  rows.sort((one, other) => {
    const [a, b] = [column.value(one), column.value(other)];
    if (!known(a) || !known(b)) return known(a) ? -1 : known(b) ? 1 : 0;
    return sign * (column.text ? a.localeCompare(b) : a - b);
  });
  for (const cell of byId("rows").tHead.rows[0].cells) {
    const sorted = cell.dataset.key === column.key;
    cell.setAttribute("aria-sort", sorted ? (descending ? "descending" : "ascending") : "none");
  }
  byId("row-count").value = `${rows.length} of ${report.callsites.length} functions`;
  byId("rows").tBodies[0].replaceChildren(...rows.flatMap(rowElements));
}

function rowElements(row) {
  const cells = columns.map((column) => element("td", {}, column.show(row)));
  cells[0].title = `${row.module}::${row.name}\n${row.file}:${row.line}`;
  const shown = element("tr", { class: "row", tabindex: "0", "aria-expanded": String(opened === row) }, ...cells);
  const toggle = () => {
    opened = opened === row ? null : row;
    showRows();
    byId("rows").querySelector("[aria-expanded=true]")?.focus();
  };
  shown.addEventListener("click", toggle);
  shown.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); toggle(); }
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (!step) return;
    event.preventDefault();
    let next = shown[step];
    while (next && !next.classList.contains("row")) next = next[step];
    next?.focus();
  });
  return opened === row ? [shown, detail(row)] : [shown];
}

function detail(row) {
  const list = element("dl");
  const fact = (name, value) => list.append(element("dt", {}, name), element("dd", {}, value));
  fact("function", `${row.module}::${row.name}`);
  fact("source", `${row.file}:${row.line}`);
  fact("calls", `${row.calls}, of which ${row.samples} are in the histogram`);
  const error = (value, name) => known(value) ? ` ± ${ticks(value)} (${name})` : "";
  fact("mean", ticks(row.mean_ticks) + error(row.std_error_ticks, "standard error") + error(row.systematic_error_ticks, "systematic"));
  fact("first call", ticks(row.first_ticks));
  if (row.interrupted) fact("interrupted", `${row.interrupted} calls, mean ${ticks(row.interrupted_mean_ticks)}`);
  if (known(row.units)) fact(row.unit, `${short(row.units)}, ${short(row.ticks_per_unit)} ticks each`);
  const before = baseRows.get(identity(row));
  if (before) fact("mean before", `${ticks(before.mean_ticks)} in ${before.calls} calls`);
  return element("tr", { class: "detail" }, element("td", { colspan: String(columns.length) }, list, histogram(row), ...slowCalls(row)));
}

// ---- Histograms ----

const nextOctave = (from) => from === 0 ? 1 : 2 * from;
/** Where the bucket ends that begins at `from`: 32 to an octave from 64 on, below that one for each number. */
const bucketEnd = (from) => from < 64 ? from + 1 : from + 2 ** (Math.floor(Math.log2(from)) - 5);

/** Both histograms of a row over a logarithmic axis, in bars of equal width. */
function histogram(row) {
  const [width, height, left, right, bottom, top] = [900, 204, 46, 34, 34, 40];
  const bars = [
    ["interrupted", row.interrupted_histogram, nextOctave],
    ["samples", row.histogram, bucketEnd],
  ].filter(([, buckets]) => buckets.length > 0);
  if (bars.length === 0) return element("p", { class: "note" }, "No call is in the histogram.");
  const visible = row.calls > 0 ? row.visible_overhead_ticks / row.calls : 0;
  const firstGross = known(row.first_ticks) ? row.first_ticks + visible : null;
  const froms = bars.flatMap(([, buckets]) => buckets.map((bucket) => bucket.from_ticks));
  const ends = bars.flatMap(([, buckets, end]) => buckets.map((bucket) => end(bucket.from_ticks)));
  const low = Math.log2(Math.max(1, Math.min(...froms, firstGross ?? Infinity)));
  const high = Math.max(Math.log2(Math.max(...ends, firstGross ?? 0)), low + 1);
  const x = (value) => left + (width - left - right) * (Math.log2(Math.max(1, value)) - low) / (high - low);
  const count = 120;
  const counts = bars.map(([name, buckets, end]) => {
    const slots = new Array(count).fill(0);
    for (const bucket of buckets) {
      // A bucket wider than a bar is spread over the bars that it covers.
      const begin = count * (Math.log2(Math.max(1, bucket.from_ticks)) - low) / (high - low);
      const stop = Math.max(count * (Math.log2(Math.max(1, end(bucket.from_ticks))) - low) / (high - low), begin + 1e-9);
      for (let slot = Math.max(0, Math.floor(begin)); slot < Math.min(count, Math.ceil(stop)); slot += 1) {
        const covered = Math.min(stop, slot + 1) - Math.max(begin, slot);
        slots[slot] += bucket.calls * covered / (stop - begin);
      }
    }
    return [name, slots];
  });
  const most = Math.max(...counts.flatMap(([, slots]) => slots));
  // A logarithmic height, so that few slow calls are seen beside many fast ones.
  const y = (calls) => (height - bottom - top) * Math.log1p(calls) / Math.log1p(most);
  const svg = d3.create("svg").attr("class", "histogram").attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img")
    .attr("aria-label", `Histogram of ${row.name}`);
  const bar = (width - left - right) / count;
  for (const [name, slots] of counts) {
    svg.append("g").attr("class", name).selectAll("rect").data(slots).join("rect")
      .attr("x", (_, slot) => left + slot * bar).attr("width", Math.max(1, bar - 1))
      .attr("y", (calls) => height - bottom - y(calls)).attr("height", y)
      .append("title").text((calls) => `${calls.toFixed(0)} calls (${name})`);
  }
  // Some four marks at least and twelve at most, at powers of two or of one of its roots.
  const step = high - low >= 4 ? Math.ceil((high - low) / 12) : high - low >= 2 ? 0.5 : 0.25;
  for (let octave = Math.ceil(low / step) * step; octave <= high; octave += step) {
    svg.append("line").attr("x1", x(2 ** octave)).attr("x2", x(2 ** octave)).attr("y1", height - bottom).attr("y2", height - bottom + 4);
    svg.append("text").attr("x", x(2 ** octave)).attr("y", height - bottom + 16).attr("text-anchor", "middle").text(ticks(2 ** octave));
  }
  svg.append("text").attr("x", 2).attr("y", top + 8).text(short(most < 1 ? most : Math.round(most)));
  svg.append("text").attr("x", 2).attr("y", height - 4)
    .text("calls (logarithmic) by gross " + (unit === "ticks" ? "ticks" : "time") + (row.interrupted_histogram.length ? "; the yellow bars are interrupted calls" : ""));
  for (const [label, value] of [["first", firstGross], ["p50", row.p50_ticks], ["p99", row.p99_ticks]]) {
    if (!known(value)) continue;
    const at = x(label === "first" ? value : value + visible);
    svg.append("line").attr("class", "mark").attr("x1", at).attr("x2", at).attr("y1", 4).attr("y2", height - bottom);
    // One above the other, for they may be near each other.
    svg.append("text").attr("class", "mark-label").attr("x", at + 3).attr("y", { first: 35, p50: 11, p99: 23 }[label]).text(label);
  }
  return svg.node();
}

// ---- Slowest calls ----

/** A list of the row's slowest calls with their callers, or nothing. */
function slowCalls(row) {
  const calls = row.slowest ?? [];
  if (!calls.length) return [];
  const line = (call) => {
    const parts = [["on the CPU", call.on_cpu_ticks], ["blocked", call.blocked_ticks], ["waiting", call.waiting_ticks]]
      .filter(([, value]) => value > 0).map(([name, value]) => `${ticks(value)} ${name}`);
    const place = `thread ${call.thread_name ?? ""} ${call.thread}${known(call.cpu) ? `, CPU ${call.cpu}` : ""}`;
    const many = report.processes > 1 ? ` of process ${call.pid}` : "";
    const path = call.path.slice(1).map((index) => report.callsites[index].name);
    return element("li", {}, element("strong", {}, ticks(call.ticks)), ` at ${(call.begin_ns / 1e9).toFixed(6)} s`,
      known(call.value) ? `, recorded ${call.value}` : "", `: ${[...parts, place + many].join(", ")}`,
      call.panicked ? ", panicked" : "", path.length ? `; called by ${path.join(" ← ")}` : "");
  };
  return [element("h3", {}, "Slowest calls"), element("ol", { class: "slowest" }, ...calls.map(line))];
}

// ---- Flame graph ----

const metrics = [
  { label: "time on the CPU", of: (context) => context.on_cpu_ticks ?? context.total_ticks },
  { label: "time on the CPU and blocked", of: (context) => context.total_ticks },
  { label: "calls", of: (context) => context.calls },
];

const nameOf = (dump, context) => known(context.callsite) ? dump.callsites[context.callsite].name : "<other>";

/** The contexts as d3-flame-graph wants them: nested, each at least as wide as its children together. */
function nested(metric) {
  const nodes = report.contexts.map((context, index) => ({
    name: nameOf(report, context), context, index, children: [], value: Math.max(0, metric.of(context)),
  }));
  const root = { name: "all", children: [], value: 0 };
  nodes.forEach((node) => {
    const parent = known(node.context.parent) ? nodes[node.context.parent] : root;
    parent.children.push(node);
  });
  // Corrected figures may be a little less than those of their children, and calls much.
  const widen = (node) => {
    node.value = Math.max(node.value, node.children.map(widen).reduce((sum, value) => sum + value, 0));
    return node.value;
  };
  widen(root);
  return root;
}

function flameTip(node) {
  const { context, name } = node.data;
  if (!context) return `all: ${report.contexts.length} contexts`;
  const parts = [`${name}: ${short(context.calls)} calls, ${ticks(context.total_ticks)} on the CPU and blocked`];
  if (known(context.on_cpu_ticks)) parts.push(`${ticks(context.on_cpu_ticks)} on the CPU`);
  parts.push(`${ticks(context.self_ticks)} self`);
  const found = known(context.callsite) && base ? change(report.callsites[context.callsite]) : null;
  if (found) parts.push(`mean ${((found.ratio - 1) * 100).toFixed(1)} %${found.resolved ? "" : " (not resolved)"}`);
  return parts.join(", ");
}

/** By change if there is a base: red is slower, blue faster, grey not resolved. Else by name, so that a function keeps its colour. */
function flameColour(node) {
  if (node.highlight) return "#e600e6";
  const { context, name } = node.data;
  if (base) {
    const found = context && known(context.callsite) ? change(report.callsites[context.callsite]) : null;
    if (!found || !found.resolved) return "#c8c8c8";
    const strength = Math.min(1, Math.abs(Math.log2(found.ratio)));
    return found.ratio > 1 ? d3.interpolateReds(0.25 + 0.5 * strength) : d3.interpolateBlues(0.25 + 0.5 * strength);
  }
  let hash = 0;
  for (const letter of name) hash = (hash * 31 + letter.codePointAt(0)) >>> 0;
  return `hsl(${10 + hash % 45} 85% ${62 + (hash >>> 8) % 12}%)`;
}

// Boxes are at their places at once, not after some frames: what a transition leads to is done in its place.
for (const step of ["transition", "duration", "delay", "ease"]) d3.selection.prototype[step] = function () { return this; };

/** The keyboard reaches the boxes that were just drawn. */
function makeFocusable() {
  d3.selectAll("#flame g.frame").attr("tabindex", 0).attr("role", "button").attr("aria-label", flameTip);
}

function showFlame() {
  const hasTree = report.contexts.length > 0;
  byId("no-tree").hidden = hasTree;
  byId("flame-controls").hidden = !hasTree;
  if (!hasTree) return;
  const make = flamegraph.default ?? flamegraph;
  const metric = metrics[byId("flame-metric").value] ?? metrics[0];
  const chart = make().width(Math.max(300, byId("flame").clientWidth)).cellHeight(19).inverted(true).sort(true)
    .minFrameSize(1).onClick(makeFocusable).setColorMapper(flameColour).setLabelHandler(flameTip).tooltip(false)
    .setDetailsElement(byId("flame-details")).setDetailsHandler((text) => { byId("flame-details").value = text ?? ""; })
    .onHover((node) => { byId("flame-details").value = flameTip(node); });
  byId("flame").replaceChildren();
  d3.select("#flame").datum(nested(metric)).call(chart);
  makeFocusable();
  byId("flame-legend").textContent = base
    ? "Red is slower than in the other dump, blue faster, grey not resolved within these two runs. Click a box to zoom."
    : "A box is as wide as its ticks; what it calls stands below it. Click a box to zoom.";
  byId("flame-search").oninput = (event) => event.target.value ? chart.search(event.target.value) : chart.clear();
  byId("flame-reset").onclick = () => { chart.resetZoom(); makeFocusable(); };
}

// ---- What the figures rest on ----

function showHeader() {
  const { process, clock, machine } = report;
  byId("program").textContent = process.argv.join(" ") || "a dump";
  const took = known(process.duration_ns) ? `measured for ${(process.duration_ns / 1e9).toFixed(3)} s` : "";
  const many = report.processes > 1 ? `${report.processes} processes` : "";
  const meta = Object.entries(report.meta ?? {}).map(([key, value]) => `${key}=${value}`).join(", ");
  byId("run").textContent = [many, process.host, process.started, took, meta].filter(Boolean).join(" · ");
  const rate = clock.hz ? `${(clock.hz / 1e6).toFixed(3)} MHz${known(clock.ppm) ? ` ± ${clock.ppm.toFixed(1)} ppm` : ""}` : "rate not known";
  byId("trust-summary").textContent =
    `${clock.cpu ?? machine.arch ?? "unknown CPU"}${clock.hypervisor ? ` under ${clock.hypervisor}` : ""}; ${clock.source} at ${rate}` +
    (clock.warnings.length ? `; ${clock.warnings.length} warnings` : "") +
    (clock.doubtful?.length ? `; doubtful: ${clock.doubtful.map((doubt) => doubt.split(":")[0]).join(", ")}` : "");
  const fact = (name, value) => byId("machine").append(element("dt", {}, name), element("dd", {}, String(value)));
  for (const warning of clock.warnings) fact("warning", warning);
  for (const doubt of clock.doubtful ?? []) fact("doubtful", doubt);
  fact("step of the counter", `${clock.resolution_ticks} ticks`);
  if (known(clock.invariant)) fact("invariant", clock.invariant ? "yes" : "no");
  if (clock.clocksource) fact("clocksource", clock.clocksource);
  if (clock.no_interruptions_because) fact("interruptions", `not detected: ${clock.no_interruptions_because}`);
  if (known(clock.core_cycles_per_tick)) {
    fact("core cycles per tick", `${clock.core_cycles_per_tick.toFixed(2)} (${clock.core_cycles_per_tick_min?.toFixed(2)}..${clock.core_cycles_per_tick_max?.toFixed(2)})`);
  }
  for (const cost of clock.overheads) {
    fact(`probe, fence ${cost.fence}`, `${cost.visible_ticks.toFixed(1)} ± ${cost.visible_error_ticks.toFixed(1)} ticks inside the measured span, ${cost.total_ticks.toFixed(1)} per call; both subtracted`);
  }
  for (const [key, value] of Object.entries(machine)) if (known(value) && typeof value !== "object") fact(key, value);
}

// ---- Start ----

metrics.forEach((metric, index) => byId("flame-metric").append(element("option", { value: String(index) }, metric.label)));
document.querySelectorAll("form").forEach((form) => form.addEventListener("submit", (event) => event.preventDefault()));
byId("flame-metric").addEventListener("change", showFlame);
byId("row-filter").addEventListener("input", showRows);
byId("unit").addEventListener("change", (event) => { unit = event.target.value; showRows(); showFlame(); });
document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "Escape" && typing) event.target.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") { event.preventDefault(); byId("row-filter").focus(); }
  if (event.key === "f") { event.preventDefault(); byId("flame-search").focus(); }
});
byId("flame").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  event.target.closest("g.frame")?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
});
byId("flame").addEventListener("focusin", (event) => {
  const frame = event.target.closest("g.frame");
  if (frame) byId("flame-details").value = frame.getAttribute("aria-label");
});
let resizing;
window.addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(showFlame, 100); });
showHeader();
heading();
showRows();
showFlame();
