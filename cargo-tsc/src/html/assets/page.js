// The lines above the table, what the figures rest on, and the start of everything.
"use strict";

/** Local time to the second, with its zone. */
function localTime(text) {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? "" : at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" });
}

function showHeader() {
  const { process, clock } = report;
  const [program, ...rest] = process.argv;
  byId("program").textContent = program || "a report";
  byId("arguments").textContent = rest.join(" ");
  const meta = Object.entries(report.meta).map(([key, value]) => `${key}=${value}`).join(", ");
  const many = report.processes > 1 ? `${report.processes} processes` : "";
  byId("run").textContent = [many, localTime(process.started), process.host, meta].filter(Boolean).join(" · ");
  const untimed = report.tick_clock?.no_times_because;
  const warnings = [...clock.warnings, ...(clock.distrusted ? ["The counter does not measure time here."] : []),
    ...(untimed ? [`Light functions have no times: ${untimed}`] : [])];
  byId("warnings").hidden = warnings.length === 0;
  byId("warnings").append(...warnings.map((warning) => element("li", {}, warning)));
}

/** The program in a few figures. */
function showFacts() {
  const { callsites, process } = report;
  const [probes, blocked, waiting] = facts;
  const cpu = known(process.cpu_ns) && hertz ? process.cpu_ns / 1e9 * hertz : null;
  const wall = ["wall time", nanoseconds(process.duration_ns)];
  const shown = [
    // Of several processes, the time from start to end is only that of the first.
    ...(report.processes > 1 ? [] : [wall]),
    ["on the CPU", time(cpu)],
    ["blocked", time(blocked)],
    ["waiting for a CPU", time(waiting)],
    ["probes", `${percent(probes)} of the CPU time`],
    ["calls", count(sumOf(callsites.map((row) => row.calls)))],
  ];
  byId("facts").replaceChildren(...shown.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

function showMachine() {
  const { clock, machine } = report;
  const rate = clock.hz ? `${(clock.hz / 1e6).toFixed(3)} MHz${known(clock.ppm) ? ` ± ${atMost(clock.ppm)} ppm` : ""}` : "rate not known";
  byId("machine-summary").textContent = "Machine: " +
    `${clock.cpu ?? machine.arch ?? "unknown CPU"}${clock.hypervisor ? ` under ${clock.hypervisor}` : ""}; ${clock.source} at ${rate}`;
  const fact = (name, value) => byId("machine").append(element("dt", {}, name), element("dd", {}, String(value)));
  for (const doubt of clock.doubtful) fact("doubtful", doubt);
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
  for (const [key, value] of Object.entries(machine)) if (known(value)) fact(key, value);
}

function show() {
  showFacts();
  showRows();
  showFlame();
}

document.querySelectorAll("form").forEach((form) => form.addEventListener("submit", (event) => event.preventDefault()));
byId("row-filter").addEventListener("input", showRows);
byId("unit").value = unit;
byId("unit").querySelector("[value=ns]").disabled = !hertz;
byId("unit").addEventListener("change", (event) => { unit = event.target.value; show(); });
document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "Escape" && typing) event.target.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const field = { "/": "row-filter", f: "flame-search" }[event.key];
  if (field) { event.preventDefault(); byId(field).focus(); }
});
let resizing;
window.addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(showFlame, 100); });
showHeader();
showMachine();
heading();
showMarks();
show();
