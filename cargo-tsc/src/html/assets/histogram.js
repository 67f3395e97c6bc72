// The histogram of a function's calls: net times over a logarithmic axis, in bars of equal width.
"use strict";

const BARS = 120;
const SIZE = { height: 204, left: 46, right: 34, top: 40, bottom: 34 };
/** The narrower the window, the narrower the histogram, so that its words can be read. */
const histogramWidth = () => Math.min(900, Math.max(320, innerWidth - 80));
/** Room for a label at the axis. */
const LABEL = 70;

/** Where the bucket ends that begins at `from`: 32 to an octave from 64 on, below that one for each number. */
const bucketEnd = (from) => from < 64 ? from + 1 : from + 2 ** (Math.floor(Math.log2(from)) - 5);

/** The histograms of a row, each with its buckets as net ticks: `[from, end, calls]`. Buckets are of gross ticks, as they were counted. */
function netHistograms(row) {
  const { sums } = row;
  const probes = sums.polls || sums.samples + sums.firsts + sums.excluded;
  const visible = probes > 0 ? sums.visible_milliticks / 1000 / probes : 0;
  const net = (buckets) => buckets.map(({ from_ticks: from, calls }) => [from - visible, bucketEnd(from) - visible, calls]);
  return [
    ["interrupted", net(row.interrupted_histogram)],
    ["samples", net(row.histogram)],
  ].filter(([, buckets]) => buckets.length > 0);
}

/** How many calls fall into each bar. A bucket that is wider than a bar is spread over the bars that it covers. */
function barsOf(buckets, position) {
  const bars = new Array(BARS).fill(0);
  for (const [from, end, calls] of buckets) {
    const begin = Math.min(BARS * position(from), BARS - 1e-6);
    const stop = Math.max(BARS * position(end), begin + 1e-9);
    for (let bar = Math.floor(begin); bar < Math.min(BARS, Math.ceil(stop)); bar += 1) {
      bars[bar] += calls * (Math.min(stop, bar + 1) - Math.max(begin, bar)) / (stop - begin);
    }
  }
  return bars;
}

function histogram(row) {
  const histograms = netHistograms(row);
  if (histograms.length === 0) {
    const why = row.probe === "light" ? "A light probe counts the calls and does not time each." : "No call is in the histogram.";
    return element("p", { class: "note" }, why);
  }
  const { height, left, right, top, bottom } = SIZE;
  const width = histogramWidth();
  const marks = [["first", row.first_ticks], ["p50", row.p50_ticks], ["p99", row.p99_ticks]].filter(([, value]) => known(value));
  const ticks = histograms.flatMap(([, buckets]) => buckets.flatMap(([from, end]) => [from, end])).concat(marks.map(([, value]) => value));
  const log = (value) => Math.log2(Math.max(1, value));
  const low = log(Math.min(...ticks));
  const high = Math.max(log(Math.max(...ticks)), low + 1);
  const position = (value) => Math.max(0, (log(value) - low) / (high - low));
  const x = (value) => left + (width - left - right) * position(value);
  const counts = histograms.map(([name, buckets]) => [name, barsOf(buckets, position)]);
  const most = Math.max(...counts.flatMap(([, bars]) => bars));
  // A logarithmic height, so that few slow calls are seen beside many fast ones.
  const y = (calls) => (height - bottom - top) * Math.log1p(calls) / Math.log1p(most);

  const svg = d3.create("svg").attr("class", "histogram").attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img")
    .attr("aria-label", `Histogram of ${row.name}: ${marks.map(([label, value]) => `${label} ${time(value)}`).join(", ")}`);
  const line = (x1, y1, x2, y2) => svg.append("line").attr("x1", x1).attr("y1", y1).attr("x2", x2).attr("y2", y2);
  const text = (atX, atY, words) => svg.append("text").attr("x", atX).attr("y", atY).text(words);
  const bar = (width - left - right) / BARS;
  for (const [name, bars] of counts) {
    svg.append("g").attr("class", name).selectAll("rect").data(bars).join("rect")
      .attr("x", (_, index) => left + index * bar).attr("width", Math.max(1, bar - 1))
      .attr("y", (calls) => height - bottom - y(calls)).attr("height", y)
      .append("title").text((calls) => `${calls.toFixed(0)} calls (${name})`);
  }
  // As many labels as have room, at powers of two or of one of its roots.
  const least = (high - low) * LABEL / (width - left - right);
  const step = [0.25, 0.5].find((step) => step >= least) ?? Math.ceil(least);
  for (let octave = Math.ceil(low / step) * step; octave <= high; octave += step) {
    line(x(2 ** octave), height - bottom, x(2 ** octave), height - bottom + 4);
    text(x(2 ** octave), height - bottom + 16, time(2 ** octave)).attr("text-anchor", "middle");
  }
  text(2, top + 8, short(most < 1 ? most : Math.round(most)));
  text(2, height - 4, `calls (logarithmic) by net ${unit === "ticks" ? "ticks" : "time"}` +
    (row.interrupted_histogram.length ? "; yellow: interrupted" : ""));
  for (const [label, value] of marks) {
    line(x(value), 4, x(value), height - bottom).attr("class", "mark");
    // One above the other, for they may be near each other.
    text(x(value) + 3, { first: 35, p50: 11, p99: 23 }[label], label).attr("class", "mark-label");
  }
  return svg.node();
}
