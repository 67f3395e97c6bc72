// The data of the page and how figures are written. The other scripts use what is defined here. `docs/dump.md` describes the data.
"use strict";

const dataOf = (id) => JSON.parse(document.getElementById(id).textContent);
const report = dataOf("report");
/** The report to compare with, or `null`. */
const base = dataOf("base");
const byId = (id) => document.getElementById(id);

/** A new element; `content` is text or elements. */
function element(tag, attributes = {}, ...content) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
}

const known = (value) => value !== null && value !== undefined;
const sumOf = (values) => values.reduce((sum, value) => sum + value, 0);

/** Three digits with a suffix: 1.23 M. */
function short(value, suffixes = ["", " k", " M", " G", " T"]) {
  if (!known(value)) return "–";
  let size = Math.abs(value), step = 0;
  while (size >= 999.5 && step < suffixes.length - 1) { size /= 1000; step += 1; }
  const digits = step === 0 && Number.isInteger(value) || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return unsignedZero((value < 0 ? "−" : "") + size.toFixed(digits)) + suffixes[step];
}

const unsignedZero = (text) => /[1-9]/.test(text) ? text : text.replace("−", "");

/** A bound with one digit: it is never less, and not 0. */
const atMost = (bound) => (Math.ceil(bound * 10) / 10).toFixed(1);

const hertz = report.clock.hz;
let unit = hertz ? "ns" : "ticks";

/** A time in the unit that is chosen. */
function time(ticks) {
  if (!known(ticks)) return "–";
  return unit === "ticks" ? short(ticks) : nanoseconds(ticks / hertz * 1e9);
}

const nanoseconds = (value) => short(value, [" ns", " µs", " ms", " s"]);

/** A whole number with a thin space at each thousand. */
const count = (value) => known(value) ? String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f") : "–";

function percent(share) {
  if (!known(share) || !Number.isFinite(share)) return "–";
  return unsignedZero((100 * share).toFixed(1).replace("-", "−")) + " %";
}

/** The figures that the text has, too: of the program, and of each row; the ticks from which on calls are resolved; and a name. */
const { facts, rows: rowFigures, resolved_ticks: resolvedTicks, other } = dataOf("figures");
const figuresOf = new Map(rowFigures.map((figures, index) => [report.callsites[index], figures]));
const selfOf = (row) => figuresOf.get(row).self;
const selfSum = sumOf(report.callsites.map(selfOf));
const blockedOf = (row) => figuresOf.get(row).blocked;
const selfError = (row) => figuresOf.get(row).error;
/** `[character, explanation]`, or `null`. */
const markOf = (row) => figuresOf.get(row).mark;

/** A time by ticks of the clock, unless none of them has found the function. */
const found = (row, ticks) => known(row.clock_ticks) && ticks === 0 ? null : ticks;

/** A time of single calls, of which a shorter timed one cannot be distinguished from an empty one. A single call is all there is to know. */
function ofCall(row, ticks) {
  const one = ticks ?? (row.calls === 1 ? found(row, row.mean_ticks) : null);
  return known(one) && one < resolvedTicks && row.probe !== "light" ? `<${time(resolvedTicks)}` : time(one);
}
