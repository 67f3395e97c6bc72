// The call tree as a flame graph. A box is as wide as the self ticks of its context and of those below it.
"use strict";

const nameOf = (context) => known(context.callsite) ? report.callsites[context.callsite].name : other;

/** The contexts as d3-flame-graph wants them: nested, each with its own value. In a recursion, inclusive ticks of contexts do not add up. */
function nested() {
  const root = { name: "all", children: [], value: 0 };
  const nodes = report.contexts.map((context) => (
    { name: nameOf(context), context, children: [], value: Math.max(0, context.self_ticks) }
  ));
  for (const node of nodes) (known(node.context.parent) ? nodes[node.context.parent] : root).children.push(node);
  return root;
}

const flameSum = sumOf(report.contexts.map((context) => Math.max(0, context.self_ticks)));

function flameTip(node) {
  const { context, name } = node.data;
  if (!context) return `all: ${time(flameSum)} on the CPU in ${report.contexts.length} contexts`;
  const parts = [`${name}: ${percent(node.value / flameSum)}, ${time(node.value)} on the CPU`, `${time(context.self_ticks)} self`];
  if (known(context.calls)) parts.push(`${count(context.calls)} calls`);
  const found = known(context.callsite) && base ? change(report.callsites[context.callsite]) : null;
  if (found) parts.push(`mean ${changeText(found)}`);
  return parts.join(", ");
}

/** By change if there is a base: red is slower, blue faster, grey not resolved. Else by name, so that a function keeps its colour. */
function flameColour(node) {
  if (node.highlight) return "#e600e6";
  const { context, name } = node.data;
  if (base) {
    const found = context && known(context.callsite) ? change(report.callsites[context.callsite]) : null;
    if (!found?.resolved) return "#c8c8c8";
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
  byId("tree").hidden = !hasTree;
  if (!hasTree) return;
  const details = (text) => { byId("flame-details").value = text || "\u00a0"; };
  const make = flamegraph.default ?? flamegraph;
  const chart = make().width(Math.max(300, byId("flame").clientWidth)).cellHeight(20).inverted(true).sort(true).selfValue(true)
    .minFrameSize(1).onClick(makeFocusable).setColorMapper(flameColour).setLabelHandler(flameTip).tooltip(false)
    .setDetailsElement(byId("flame-details")).setDetailsHandler(details).onHover((node) => details(flameTip(node)));
  byId("flame").replaceChildren();
  d3.select("#flame").datum(nested()).call(chart);
  makeFocusable();
  details("");
  byId("flame-legend").textContent = (base
    ? "Red is slower than in the other report, blue faster, grey not resolved within these two runs."
    : "A box is as wide as the time on the CPU in it, and what it calls stands below it.") + " Click a box to zoom.";
  const search = byId("flame-search");
  search.oninput = () => search.value ? chart.search(literal(search.value)) : chart.clear();
  if (search.value) search.oninput();
  byId("flame-reset").onclick = () => { chart.resetZoom(); makeFocusable(); };
}

/** A pattern that matches this text: names of functions have characters that mean something in patterns. */
const literal = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

byId("flame").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  event.target.closest("g.frame")?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
});
byId("flame").addEventListener("focusin", (event) => {
  const frame = event.target.closest("g.frame");
  if (frame) byId("flame-details").value = frame.getAttribute("aria-label");
});
