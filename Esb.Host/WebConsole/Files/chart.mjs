// A chart over time by uPlot, loaded when the first one is shown.

import { html, useEffect, useRef } from "./ui.mjs";

let loading = null;
function load() {
  return loading ??= new Promise((done, failed) => {
    const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/console/vendor/uPlot.min.css" });
    const script = Object.assign(document.createElement("script"), { src: "/console/vendor/uPlot.iife.min.js", onload: () => done(window.uPlot), onerror: () => failed(new Error("The chart could not be loaded.")) });
    document.head.append(style, script);
  });
}

const color = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// series: [{ label, color: "--accent", width? }]; data: [seconds, values…]; at least `least` seconds are shown.
export function Chart({ series, data, label, height = 180, least = 60 }) {
  const element = useRef();
  const plot = useRef();
  const latest = useRef(data);
  latest.current = data;
  useEffect(() => {
    let isHere = true;
    let watch;
    load().then(uPlot => {
      const place = element.current;
      if (!isHere || !place) return;
      const axis = { stroke: color("--quiet"), grid: { stroke: color("--line"), width: 1 }, ticks: { stroke: color("--line"), width: 1 }, font: "11px system-ui" };
      plot.current = new uPlot({ width: place.clientWidth, height, cursor: { y: false }, legend: { live: true }, axes: [axis, { ...axis, size: 56 }], scales: { x: { range: (_, first, last) => [Math.min(first ?? 0, (last ?? 0) - least), last ?? 1] }, y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
        series: [{}, ...series.map(one => ({ label: one.label, stroke: color(one.color), width: 2, fill: one.fill && `${color(one.color)}22`, value: (_, value) => value === null ? "–" : value.toFixed(1) }))] }, latest.current, place);
      watch = new ResizeObserver(() => plot.current?.setSize({ width: place.clientWidth, height }));
      watch.observe(place);
    }, () => {});
    return () => { isHere = false; watch?.disconnect(); plot.current?.destroy(); plot.current = null; };
  }, []);
  useEffect(() => { plot.current?.setData(data); }, [data]);
  return html`<div class="chart" ref=${element} role="img" aria-label=${label}></div>`;
}
