// Endpoints: states, counters as charts, pools, tuning, pause.

import { may } from "../api.mjs";
import { Chart } from "../chart.mjs";
import { StartTrace, Traces } from "../trace.mjs";
import { Act, ActionForm, Card, Dialog, duration, Empty, Field, go, html, Loaded, number, Page, rate, State, Table, Time, toast, useApi, useEvent, useRef, useState } from "../ui.mjs";

const pathOf = name => `/api/endpoints/${encodeURIComponent(name)}`;
const isOutbound = endpoint => endpoint.pool !== undefined;

function Use({ used, most, peak }) {
  if (!most) return html`<span class="quiet">–</span>`;
  return html`<span class="use" title=${`${used} of ${most} in use${peak === undefined ? "" : `, at most ${peak} so far`}`}><meter min="0" max=${most} high=${most * 0.8} optimum="0" value=${used} aria-label="In use"></meter> ${used}/${most}</span>`;
}

const isPaused = endpoint => ["paused-by-operator", "quarantined"].includes(endpoint.state);

function Pause({ endpoint, small, done }) {
  const paused = !isPaused(endpoint);
  return html`<${Act} action=${paused ? "Pause" : "Resume"} style=${small ? "small" : paused ? "" : "primary"} disabled=${endpoint.state === "disabled"} request=${{ method: "PATCH", path: pathOf(endpoint.name), body: { paused } }} done=${() => { toast(`${endpoint.name} ${paused ? "is paused" : "runs again"}`); done(); }} />`;
}

function List() {
  const endpoints = useApi("/api/endpoints", { every: 10000, on: ["endpoint", "configuration"] });
  const [rates, setRates] = useState({ endpoints: {}, busy: {}, waiting: {} });
  const [text, filter] = useState("");
  useEvent("rates", setRates);
  return html`<${Page} title="Endpoints" hint="Where messages come in and go out." actions=${html`<input type="search" class="quick" placeholder="Filter by name, type or state" aria-label="Filter" value=${text} onInput=${event => filter(event.target.value)} />`} />
    <${Card} flush><${Loaded} of=${endpoints} empty=${html`<${Empty} title="No endpoints are configured" />`}>${data => html`<${Table} label="Endpoints" keyOf=${row => row.name} rows=${data.items.filter(row => `${row.name} ${row.type} ${row.state}`.includes(text.toLowerCase()))} open=${row => go(`/endpoints/${encodeURIComponent(row.name)}`)} columns=${[
      ["Endpoint", row => html`<strong>${row.name}</strong>`], ["Type", row => html`<span class="quiet">${row.type}</span>`], ["State", row => html`<${State} of=${row.state} title=${row.reason} />`], ["Rate", row => { const live = rates.endpoints[row.name]; return html`${rate(live ? Math.max(live.in, live.out) : 0)}/s`; }, "right"], ["Waiting", row => rates.waiting[row.name] ? number(rates.waiting[row.name]) : "–", "right"],
      ["In flight", row => html`<${Use} used=${rates.busy[row.name]?.inFlight ?? row.inFlight} most=${row.maxInFlight} peak=${row.peakInFlight} />`, "wide-only"], ["Pool", row => row.pool ? html`<${Use} used=${rates.busy[row.name]?.inUse ?? row.pool.inUse} most=${row.pool.maximum} peak=${row.pool.peak} />` : "–", "wide-only"], ["Messages", row => number(row.messages), "right"], ["Failures", row => row.failures ? html`<span class="badtext">${number(row.failures)}</span>` : "0", "right"], ["Last", row => html`<${Time} at=${row.lastMessageAt} ago />`, "wide-only"],
      ["", row => may("operator") && html`<${Pause} endpoint=${row} small done=${endpoints.reload} />`, "right"]]} />`}<//><//>`;
}

function hint(endpoint) {
  const { pool, processingThreads: threads, current } = endpoint;
  if (!pool) return null;
  if (endpoint.sizing) return endpoint.sizing;
  if (pool.waiting > 0) return `${pool.waiting} callers wait for an instance: a larger pool size would let them in.`;
  if (current && pool.maximum < threads) return `Only ${pool.maximum} of ${threads} threads can work at once: the pool size bounds them.`;
  if (endpoint.inFlight >= threads && threads < pool.maximum) return `All ${threads} threads work, and instances are free: more threads would deliver more at once.`;
  if (pool.maximum > 4 && pool.peak <= pool.maximum / 4) return `At most ${pool.peak} of ${pool.maximum} instances were in use so far: a smaller pool would do.`;
  return null;
}

function Tune({ endpoint, close, done }) {
  const [form, set] = useState({ poolSize: endpoint.current.poolSize, processingThreads: endpoint.current.processingThreads, prefetch: endpoint.current.prefetch });
  const body = Object.fromEntries(Object.entries(form).map(([name, value]) => [name, Number(value)]).filter(([name, value]) => value && value !== endpoint.current[name]));
  const field = (name, label, most) => html`<${Field} label=${label} hint=${`configured: ${endpoint.configured?.[name] ?? "–"}`}><input type="number" min="1" max=${most} value=${form[name]} onInput=${event => set({ ...form, [name]: event.target.value })} /><//>`;
  return html`<${Dialog} title=${`Tune ${endpoint.name}`} close=${close}><${ActionForm} action="Apply to every host" request=${{ method: "PATCH", path: pathOf(endpoint.name), body }} cancel=${close} done=${answer => { toast(`Applied on ${answer.hosts.join(", ")}`); close(); done(); }}>
    <p>It holds on every host, also after a restart, until it is taken back. No message is lost, doubled or overtaken.</p>${hint(endpoint) && html`<div class="banner calm">${hint(endpoint)}</div>`}<div class="fields">${field("poolSize", "Pool size", 1000)}${field("processingThreads", "Processing threads", 1000)}${field("prefetch", "Prefetch", 10000)}</div><//><//>`;
}

function Tuned({ endpoint, done }) {
  return html`<${Card} title="Tuned by operators" flush><${Table} label="Tuned settings" rows=${endpoint.tuned} keyOf=${row => row.setting} columns=${[["Setting", row => html`<code>${row.setting}</code>`], ["Value", row => html`<code>${row.value}</code>`], ["By", row => row.by ?? "–"], ["Since", row => html`<${Time} at=${row.at} />`], ["", row => may("operator") && html`<${Act} action="Take back" style="small" request=${{ method: "DELETE", path: `${pathOf(endpoint.name)}/tuning/${encodeURIComponent(row.setting)}` }} done=${() => { toast(`${row.setting} is as configured again`); done(); }} />`, "right"]]} /><//>`;
}

const points = 300;

function One({ name }) {
  const endpoint = useApi(pathOf(name), { every: 5000, on: ["endpoint", "configuration"] });
  const metrics = useApi("/api/metrics", { every: 5000 });
  const traces = useApi(may("operator") ? "/api/traces" : null, { every: 2000 });
  const [dialog, open] = useState(null);
  const history = useRef([[], [], [], []]);
  const [data, setData] = useState(history.current);
  useEvent("rates", rates => {
    const [live, busy] = [rates.endpoints[name], rates.busy[name]];
    const next = history.current.map((values, index) => [...values.slice(1 - points), [new Date(rates.time) / 1000, live?.in ?? 0, live?.out ?? 0, busy?.inFlight ?? 0][index]]);
    history.current = next;
    setData(next);
  });
  const measured = metrics.data?.endpoints.find(one => one.name === name);
  const latencies = [["In: hand-over to confirm", measured?.inboundLatency], ["Request to answer", measured?.requestResponseLatency], ["Out: queue to sent", measured?.outboundLatency], ["Adapter, each attempt", measured?.outboundAdapterLatency]].filter(([, value]) => value);
  return html`<${Page} title=${name} hint=${endpoint.data && html`<${State} of=${endpoint.data.state} /> ${endpoint.data.type}`} actions=${html`<a class="button" href="#/endpoints">All endpoints</a><a class="button" href=${`#/messages?endpoint=${encodeURIComponent(name)}`}>Messages</a>${may("operator") && endpoint.data && html`<button onClick=${() => open("trace")}>Trace…</button>${endpoint.data.current && isOutbound(endpoint.data) && html`<button onClick=${() => open("tune")}>Tune…</button>`}<${Pause} endpoint=${endpoint.data} done=${endpoint.reload} />`}`} />
    <${Loaded} of=${endpoint}>${one => html`${one.reason && html`<div class="banner warn">${one.reason}</div>`}${one.standsAt && html`<div class="banner bad">It stands at message <a href=${`#/messages/${one.standsAt.messageId}`}>${one.standsAt.messageId}</a> since <${Time} at=${one.standsAt.since} />: ${one.standsAt.failure.code} ${one.standsAt.failure.reason} <a href=${`#/parked/${encodeURIComponent(name)}/*`}>Release or discard</a></div>`}${hint(one) && html`<div class="banner calm">${hint(one)}</div>`}
      <div class="tiles"><div class="tile"><span>Messages</span><strong>${number(one.messages)}</strong><small>since the start</small></div><div class=${`tile ${one.failures ? "warn" : ""}`}><span>Failed attempts</span><strong>${number(one.failures)}</strong><small>${one.stuck ? `${one.stuck} stuck` : ""}</small></div><div class="tile"><span>In flight</span><strong>${one.inFlight}</strong><small>${one.maxInFlight ? `of ${one.maxInFlight}, peak ${one.peakInFlight}` : ""}</small></div>${one.pool && html`<div class="tile"><span>Pool</span><strong>${one.pool.inUse}</strong><small>of ${one.pool.maximum}, peak ${one.pool.peak}, ${one.pool.waiting} wait</small></div>`}<div class="tile"><span>Last message</span><strong class="small"><${Time} at=${one.lastMessageAt} ago /></strong></div></div>
      <${Card} title="Messages per second"><${Chart} label=${`Rates of ${name} over the last minutes`} data=${[data[0], data[1], data[2]]} series=${[{ label: "in", color: "--accent", fill: true }, { label: "out", color: "--good", fill: true }]} /><//><${Card} title="In flight"><${Chart} height=${130} label=${`Messages in flight at ${name}`} data=${[data[0], data[3]]} series=${[{ label: "in flight", color: "--accent", fill: true }]} /><//>
      ${one.tuned?.length > 0 && html`<${Tuned} endpoint=${one} done=${endpoint.reload} />`}
      ${latencies.length > 0 && html`<${Card} title="Latency, last five minutes" flush><${Table} label="Latencies" rows=${latencies} keyOf=${row => row[0]} columns=${[["", row => row[0]], ["Count", row => number(row[1].recent), "right"], ["Mean", row => duration(row[1].mean), "right"], ["p50", row => duration(row[1].p50), "right"], ["p95", row => duration(row[1].p95), "right"], ["p99", row => duration(row[1].p99), "right"], ["Longest", row => duration(row[1].max), "right"]]} /><//>`}<${Traces} endpoint=${name} traces=${traces} />${dialog === "tune" && html`<${Tune} endpoint=${one} close=${() => open(null)} done=${endpoint.reload} />`}${dialog === "trace" && html`<${StartTrace} endpoint=${name} close=${() => open(null)} done=${traces.reload} />`}`}<//>`;
}

export default function Endpoints({ rest }) {
  return rest.length ? html`<${One} key=${rest[0]} name=${rest[0]} />` : html`<${List} />`;
}
