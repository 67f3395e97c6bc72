// The table of functions, and what is shown of one that is selected.
"use strict";

/** What a row has in common with that of the same function in another report. Several of one name are numbered in the order of their lines. */
function identities(rows) {
  const seen = new Map();
  const inOrder = [...rows].sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line));
  return inOrder.map((row) => {
    const name = [row.module, row.name, row.probe, row.fence].join("\u0000");
    seen.set(name, (seen.get(name) ?? 0) + 1);
    return [row, `${name}\u0000${seen.get(name)}`];
  });
}

const identityOf = new Map([...identities(report.callsites), ...identities(base?.callsites ?? [])]);
const identity = (row) => identityOf.get(row);
const baseRows = new Map((base?.callsites ?? []).map((row) => [identity(row), row]));

const FEWEST = 5;

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

/** The 97.5 % quantile of Student's distribution, by the first terms of its expansion in 1 / freedom (Abramowitz and Stegun, 26.7.5). */
function quantile975(freedom) {
  const z = 1.959964;
  return z + (z ** 3 + z) / (4 * freedom) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2);
}

/** A cell with a bar that is as long as `value` is large, compared with the greatest value of its column. */
function bar(value, greatest, kind, text) {
  const length = greatest > 0 && value > 0 ? 100 * value / greatest : 0;
  const line = element("i", { class: `bar ${kind}`, "aria-hidden": "true" });
  line.append(element("b", { style: `width:${length}%` }));
  return [line, element("span", { class: "figure" }, text)];
}

const greatestSelf = Math.max(...report.callsites.map(selfOf), 0);
const greatestBlocked = Math.max(...report.callsites.map(blockedOf), 0);

const columns = [
  { key: "name", label: "function", value: (row) => row.name },
  { key: "self", label: "self %", title: "share of the time on the CPU outside of annotated callees", value: selfOf,
    show: (row) => bar(selfOf(row), greatestSelf, "on-cpu", percent(selfSum > 0 ? selfOf(row) / selfSum : null)) },
  { key: "self-time", label: "self", title: "time on the CPU outside of annotated callees", value: selfOf, show: (row) => time(found(row, selfOf(row))) },
  { key: "error", label: "±", title: "error of self, as a share of it, at 95 %", value: selfError, show: (row) => percent(selfError(row)) },
  { key: "blocked", label: "blocked", title: "time outside of annotated callees in which the thread had given up the CPU: sleep, input, output, locks",
    value: blockedOf, show: (row) => bar(blockedOf(row), greatestBlocked, "blocked", time(blockedOf(row))) },
  { key: "total", label: "total", title: "on the CPU and blocked, callees included", value: (row) => row.total_ticks, show: (row) => time(found(row, Math.max(0, row.total_ticks))) },
  { key: "wall", label: "wall", title: "the same, and waiting for a CPU", value: (row) => row.wall_ticks, show: (row) => time(found(row, Math.max(0, row.wall_ticks))) },
  { key: "calls", label: "calls", value: (row) => row.calls, show: (row) => count(row.calls) },
  { key: "mean", label: "mean", value: (row) => row.mean_ticks, show: (row) => ofCall(row, found(row, row.mean_ticks)) },
  { key: "change", label: "change of mean", value: (row) => change(row)?.ratio ?? null, show: changeCell },
  { key: "p50", label: "p50", title: "median of the calls", value: (row) => row.p50_ticks, show: (row) => ofCall(row, row.p50_ticks) },
  { key: "p99", label: "p99", title: "99 % of the calls are not longer", value: (row) => row.p99_ticks, show: (row) => ofCall(row, row.p99_ticks) },
  { key: "max", label: "max", value: (row) => row.max_ticks, show: (row) => ofCall(row, row.max_ticks) },
].filter(({ key }) => (key !== "change" || base) && (key !== "blocked" || greatestBlocked > 0));

const changeText = ({ ratio, resolved }) => (ratio >= 1 ? "+" : "−") + percent(Math.abs(ratio - 1)) + (resolved ? "" : " (not resolved)");

function changeCell(row) {
  const found = change(row);
  if (!found) return baseRows.has(identity(row)) ? "–" : "new";
  if (!found.resolved) return changeText(found);
  return element("span", { class: found.ratio > 1 ? "slower" : "faster" }, changeText(found));
}

const sorting = { key: "self", descending: true };
let opened = null;

function heading() {
  const cells = columns.map(({ key, label, title }) => {
    const button = element("button", { type: "button", ...(title ? { title } : {}) }, label);
    button.addEventListener("click", () => {
      sorting.descending = sorting.key === key ? !sorting.descending : key !== "name";
      sorting.key = key;
      showRows();
    });
    return element("th", { scope: "col", "data-key": key }, button);
  });
  byId("rows").tHead.rows[0].replaceChildren(...cells);
}

function showRows() {
  const wanted = byId("row-filter").value.toLowerCase();
  const rows = report.callsites.filter((row) => `${row.module}::${row.name}`.toLowerCase().includes(wanted));
  const { key, descending } = sorting;
  const { value } = columns.find((column) => column.key === key);
  rows.sort((one, other) => {
    const [first, second] = [value(one), value(other)];
    // What is not known comes last in both directions.
    if (!known(first) || !known(second)) return known(second) - known(first);
    const order = typeof first === "string" ? first.localeCompare(second) : first - second;
    return descending ? -order : order;
  });
  for (const cell of byId("rows").tHead.rows[0].cells) {
    const direction = descending ? "descending" : "ascending";
    cell.setAttribute("aria-sort", cell.dataset.key === key ? direction : "none");
  }
  byId("row-count").value = `${rows.length} of ${report.callsites.length} functions`;
  byId("rows").tBodies[0].replaceChildren(...rows.flatMap(rowElements));
}

function rowElements(row) {
  const isOpen = opened === row;
  const toggle = () => {
    opened = isOpen ? null : row;
    showRows();
    [...byId("rows").querySelectorAll("tr.row button")].find((one) => one.title === place(row))?.focus();
  };
  const name = element("button", { type: "button", title: place(row), "aria-expanded": String(isOpen) }, row.name);
  const cells = columns.map(({ key, show }) => key === "name"
    ? element("th", { scope: "row" }, name, ...markElements(row))
    : element("td", { "data-key": key }, ...[show(row)].flat()));
  const shown = element("tr", { class: "row" }, ...cells);
  shown.addEventListener("click", toggle);
  shown.addEventListener("keydown", (event) => moveFocus(event, shown));
  return isOpen ? [shown, detail(row)] : [shown];
}

const place = (row) => `${row.module}::${row.name}\n${row.file}:${row.line}`;

function markElements(row) {
  const mark = markOf(row);
  return mark ? [" ", element("abbr", { class: "mark", title: mark[1] }, mark[0])] : [];
}

/** The arrow keys go from row to row. */
function moveFocus(event, row) {
  const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
  if (!step) return;
  event.preventDefault();
  let next = row[step];
  while (next && !next.classList.contains("row")) next = next[step];
  next?.querySelector("button").focus();
}

/** What the marks mean that occur. */
function showMarks() {
  const explained = new Map(report.callsites.map(markOf).filter(Boolean));
  byId("marks").append(...[...explained].map(([mark, words]) => element("li", {}, element("abbr", { class: "mark" }, mark), ` ${words}`)));
}

function detail(row) {
  const list = element("dl");
  const fact = (name, value) => list.append(element("dt", {}, name), element("dd", {}, value));
  const mark = markOf(row);
  if (mark) fact(`mark ${mark[0]}`, mark[1]);
  fact("function", `${row.module}::${row.name}`);
  fact("source", `${row.file}:${row.line}`);
  const isTimed = row.probe !== "light";
  fact("calls", count(row.calls) + (isTimed ? `, of which ${count(row.samples)} are in the histogram` : ", counted by a light probe"));
  const error = (value, name) => known(value) ? ` ± ${time(value)} (${name})` : "";
  fact("mean", time(row.mean_ticks) + error(row.std_error_ticks, "standard error") + error(row.systematic_error_ticks, "systematic"));
  if (known(row.min_ticks)) fact("min, p90, p99.9", [row.min_ticks, row.p90_ticks, row.p999_ticks].map((ticks) => ofCall(row, ticks)).join(", "));
  if (known(row.first_ticks)) fact("first call", ofCall(row, row.first_ticks));
  const parts = [["on the CPU", row.on_cpu_ticks], ["blocked", row.blocked_ticks], ["waiting for a CPU", row.waiting_ticks]];
  const places = parts.filter(([, ticks]) => known(ticks)).map(([name, ticks]) => `${time(ticks)} ${name}`);
  if (places.length) fact("all calls", places.join(", "));
  if (row.interrupted) fact("interrupted", `${count(row.interrupted)} calls, mean ${time(row.interrupted_mean_ticks)}`);
  if (known(row.units)) fact(row.unit, `${short(row.units)}, ${short(row.ticks_per_unit)} ticks each`);
  const before = baseRows.get(identity(row));
  if (before) fact("mean before", `${time(before.mean_ticks)} in ${count(before.calls)} calls`);
  return element("tr", { class: "detail" }, element("td", { colspan: String(columns.length) }, element("div", {}, list, histogram(row), ...slowCalls(row))));
}

/** A list of the row's slowest calls with their callers, or nothing. */
function slowCalls(row) {
  const calls = row.slowest;
  if (!calls.length) return [];
  const line = (call) => {
    const parts = [["on the CPU", call.on_cpu_ticks], ["blocked", call.blocked_ticks], ["waiting", call.waiting_ticks]]
      .filter(([, value]) => value > 0).map(([name, value]) => `${time(value)} ${name}`);
    const place = `thread ${call.thread_name ?? ""} ${call.thread}${known(call.cpu) ? `, CPU ${call.cpu}` : ""}`;
    const many = report.processes > 1 ? ` of process ${call.pid}` : "";
    const path = call.path.slice(1).map((index) => report.callsites[index].name);
    return element("li", {}, element("strong", {}, time(call.ticks)), ` at ${(call.begin_ns / 1e9).toFixed(6)} s`,
      known(call.value) ? `, recorded ${call.value}` : "", `: ${[...parts, place + many].join(", ")}`,
      call.panicked ? ", panicked" : "", path.length ? `; called by ${path.join(" ← ")}` : "");
  };
  return [element("h3", {}, "Slowest calls"), element("ol", { class: "slowest" }, ...calls.map(line))];
}
