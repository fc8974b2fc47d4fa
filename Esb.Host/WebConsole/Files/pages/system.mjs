// Hosts, health, marks, the log as it is written, keys and roles, and evidence of operators' actions.

import { current, may, query } from "../api.mjs";
import { Act, bytes, Card, Empty, Field, html, Loaded, number, Page, Problem, State, Table, Time, toast, useApi, useEffect, useState } from "../ui.mjs";

const levels = ["trace", "debug", "information", "warning", "error", "critical"];

function Hosts() {
  const hosts = useApi("/api/hosts", { every: 5000, on: ["host", "configuration"] });
  return html`<${Card} title="Hosts of the farm" flush><${Loaded} of=${hosts}>${data => html`<${Table} label="Hosts" rows=${data.items} columns=${[["Host", row => html`<strong>${row.name}</strong>${row.isThis && html` <span class="quiet">answers this page</span>`}`], ["State", row => html`<${State} of=${!row.answers ? "failed" : row.obstacle ?? "ready"} title=${row.obstacle ?? (row.answers ? "" : "It did not answer in time")} />`], ["Revision", row => html`<code>${row.revision ?? "–"}</code>`], ["Version", row => row.version ?? "–"], ["Started", row => html`<${Time} at=${row.startedAt} ago />`], ["Memory", row => bytes(row.workingSet), "right"], ["Heap", row => bytes(row.heapBytes), "right wide-only"], ["Processor time", row => row.processorSeconds === undefined ? "–" : `${number(Math.round(row.processorSeconds))} s`, "right wide-only"], ["System", row => html`<span class="quiet">${row.runtime ?? ""}</span>`, "wide-only"]]} />`}<//><//>`;
}

function Health() {
  const health = useApi("/health/ready", { every: 5000, load: path => fetch(path, { headers: { "X-Esb-Background": "1" } }).then(answer => answer.json()) });
  const metrics = useApi("/api/metrics", { every: 10000 });
  return html`<div class="columns"><${Card} title="Health"><${Loaded} of=${health}>${data => html`<p><${State} of=${data.ready ? "ready" : "failed"} /> ${data.ready ? "Messages are accepted, confirmed and recorded." : "No messages are accepted now."}</p><ul class="changes">${(data.obstacles ?? []).map(one => html`<li><strong>${one.name}</strong> ${one.reason}</li>`)}${(data.notices ?? []).map(one => html`<li>${one}</li>`)}</ul>`}<//><//>
    <${Card} title="Audit queue"><${Loaded} of=${metrics}>${data => data.auditQueue ? html`<dl class="facts"><dt>Waiting facts</dt><dd>${number(data.auditQueue.waiting)}</dd><dt>Age of the oldest</dt><dd>${data.auditQueue.oldestAge === undefined ? "–" : `${data.auditQueue.oldestAge.toFixed(1)} s`}</dd><dt>On disk</dt><dd>${bytes(data.auditQueue.bytes)} of ${bytes(data.auditQueue.maxBytes)}</dd></dl><meter min="0" max=${data.auditQueue.maxBytes} value=${data.auditQueue.bytes} aria-label="Use of the spool"></meter>` : html`<p class="quiet">Facts are stored on this machine directly; there is no queue.</p>`}<//><//></div>`;
}

function Log() {
  const [least, setLeast] = useState("information");
  const [wanted, setWanted] = useState("debug");
  const [lines, set] = useState([]);
  const [isHeld, hold] = useState(false);
  const [error, fail] = useState(null);
  const old = useApi("/api/log/events?limit=300");
  const add = added => set(before => [...before, ...added.filter(line => line.number > (before[before.length - 1]?.number ?? -1))].slice(-1000));
  useEffect(() => { if (old.data) set(before => [...old.data.items, ...before.filter(line => line.number > (old.data.items[old.data.items.length - 1]?.number ?? -1))]); }, [old.data]);
  useEffect(() => {
    if (isHeld) return undefined;
    const source = new EventSource("/api/events?kinds=log");
    // At most 1,000 lines are in the page, drawn a few times a second, however much is written.
    let [come, soon] = [[], 0];
    const draw = () => { add(come.slice(-1000)); [come, soon] = [[], 0]; };
    source.addEventListener("log", event => { come.push(JSON.parse(event.data)); soon ||= setTimeout(draw, 250); });
    source.onerror = () => fail(source.readyState === EventSource.CLOSED ? { code: "", message: "The log is not followed any more; reload the page." } : null);
    return () => { source.close(); clearTimeout(soon); };
  }, [isHeld]);
  const shown = lines.filter(line => levels.indexOf(line.level) >= levels.indexOf(least)).slice(-500).reverse();
  return html`<${Card} title="Log of this host" flush actions=${html`<label class="inline">Show <select value=${least} onChange=${event => setLeast(event.target.value)}>${levels.map(level => html`<option>${level}</option>`)}</select></label><label class="inline">Write <select value=${wanted} onChange=${event => setWanted(event.target.value)}>${levels.slice(0, 4).map(level => html`<option>${level}</option>`)}</select></label><${Act} action="For 10 min" request=${{ method: "PATCH", path: "/api/log", body: { levels: { default: wanted }, for: "10m" } }} done=${() => toast(`The level is ${wanted} for ten minutes, on every host`)} /><button onClick=${() => hold(!isHeld)}>${isHeld ? "Follow" : "Hold"}</button>`}>
    <${Problem} error=${old.error ?? error} />${shown.length === 0 ? html`<${Empty} title="No lines of this level" />` : html`<div class="log" tabIndex="0" role="log" aria-label="Log">${shown.map(line => html`<div key=${line.number} class=${line.level}><${Time} at=${line.time} /><span class="level">${line.level}</span><span class="quiet">${line.category}</span><span class="text">${line.message}</span></div>`)}</div>`}<//>`;
}

function Marks() {
  const marks = useApi("/api/marks", { on: ["mark"], every: 10000 });
  return html`<${Card} title="Marks of this host" flush><${Loaded} of=${marks} empty=${html`<${Empty} title="Nothing is measured yet" />`}>${data => html`<${Table} label="Marks" rows=${data.items} keyOf=${row => `${row.name} ${row.endpoint ?? ""}`} columns=${[["Load", row => html`${row.name}${row.endpoint && html` <span class="quiet">${row.endpoint}</span>`}`], ["Now", row => `${row.value} ${row.unit}`, "right"], ["High", row => row.high, "right"], ["Low", row => row.low, "right"], ["State", row => row.isCrossed ? html`<${State} of="crossed" />` : "–"], ["Since", row => row.since ? html`<${Time} at=${row.since} />` : "–"], ["Crossings", row => row.crossings, "right"]]} />`}<//><//>`;
}

const rights = { viewer: "sees states, figures and facts, no bodies", operator: "also sees bodies as recorded, tunes, pauses, replays, releases and retries", administrator: "also changes the configuration, erases, and sees bodies as they came" };

function You() {
  const { name, role } = current();
  return html`<${Card} title="You"><dl class="facts"><dt>Key</dt><dd>${name ?? "the key of the first start"}</dd><dt>Role</dt><dd>${role}: ${rights[role]}</dd></dl><//>`;
}

// The facts of what somebody did with a key; the one of the first start has no name.
const didBy = name => `#/messages?field=${encodeURIComponent(`operator=${name ?? "management key"}`)}`;

function Keys() {
  const keys = useApi("/api/keys", { on: ["configuration"] });
  const own = current().name ?? null;
  return html`<${Card} title="Keys and roles" flush><${Loaded} of=${keys}>${data => html`<${Table} label="Keys" rows=${data.items} keyOf=${row => row.name ?? ""} columns=${[["Name", row => html`<a href=${didBy(row.name)} title="What was done with this key"><strong>${row.name ?? "first key"}</strong></a>${(row.name ?? null) === own && html` <span class="quiet">you</span>`}`], ["Role", row => row.role], ["May", row => html`<span class="quiet">${rights[row.role]}</span>`, "wide-only"], ["State", row => html`<${State} of=${row.isExpired ? "expired" : "ready"} />`], ["Expires", row => row.expires ? html`<${Time} at=${row.expires} />` : "–"], ["Keys", row => row.keys > 1 ? html`${row.keys} <span class="quiet">while one replaces another</span>` : row.keys]]} />`}<//><p class="quiet note inset">Keys are set in <code>management.keys</code> of the configuration; the console never sees them. Without that section, the key that the first start wrote opens all.</p><//>`;
}

// Follows the chains of some days on the host, and says what it found.
function Verification() {
  const today = new Date().toISOString().slice(0, 10);
  const [days, set] = useState({ from: today, to: today, strict: false });
  const [asked, ask] = useState(null);
  const verdict = useApi(asked);
  const input = name => event => set({ ...days, [name]: event.target.value });
  const submit = event => { event.preventDefault(); const next = `/api/evidence${query(days)}`; if (next === asked) verdict.reload(); else ask(next); };
  return html`<form class="filters" onSubmit=${submit}><${Field} label="From (UTC)"><input type="date" required value=${days.from} max=${days.to} onInput=${input("from")} /><//><${Field} label="To (UTC)"><input type="date" required value=${days.to} max=${today} onInput=${input("to")} /><//><label class="check"><input type="checkbox" checked=${days.strict} onChange=${event => set({ ...days, strict: event.target.checked })} /> Strict: believe only what an anchor confirms</label><button disabled=${asked !== null && verdict.loading}>Verify</button></form>
    ${asked && html`<${Loaded} of=${verdict}>${data => html`<div class=${`banner ${data.totalBreaks > 0 ? "bad" : "calm"}`} role="status"><strong>${data.totalBreaks > 0 ? `${number(data.totalBreaks)} breaks` : data.facts > 0 ? "Nothing was changed" : "Nothing was there to be verified"}</strong> ${number(data.facts)} facts in ${number(data.totalChains)} chains, ${number(data.erased)} bodies erased, ${number(data.anchors)} anchors${data.unchained > 0 && `, ${number(data.unchained)} facts of an early version in no chain`}.${data.anchors === 0 && " Without anchors, facts removed at the end of a chain, and chains made anew, are not noticed."}</div>
      ${data.breaks.length > 0 && html`<${Table} label="Breaks" rows=${data.breaks} keyOf=${row => `${row.day} ${row.chain} ${row.from} ${row.problem}`} columns=${[["Day", row => row.day], ["Facts", row => row.from === row.to ? number(row.from) : `${number(row.from)} to ${number(row.to)}`, "right"], ["Problem", row => row.problem], ["Last good anchor", row => row.lastAnchor ? html`<${Time} at=${row.lastAnchor.at} />` : "–"], ["Chain", row => html`<span class="quiet">${row.chain ?? "–"}</span>`, "wide-only"]]} />`}`}<//>`}`;
}

function Evidence() {
  return html`<${Card} title="Audit evidence"><p>Each recorded fact is part of a chain of digests; <code>esb audit verify</code> shows on any machine that nothing was changed, removed or added.</p>${may("operator") && html`<${Verification} />`}<p>What operators did is recorded with their key and reason: <a href="#/messages?kind=replayed">replays</a>, <a href="#/messages?kind=discarded">discards</a>, <a href="#/messages?kind=erased">erasures</a>, <a href="#/messages?kind=recorded">reloads and records</a>, and everything that <a href=${didBy(current().name)}>you did</a>.</p><//>`;
}

export default function System() {
  return html`<${Page} title="System" hint="The hosts that run this configuration, and what they write." actions=${html`<a class="button" href="/api/openapi.json" target="_blank">OpenAPI</a><a class="button" href="/metrics" target="_blank">Metrics</a>`} /><${Hosts} /><${Health} /><${Marks} />${may("operator") && html`<${Log} />`}<${You} />${may("administrator") && html`<${Keys} />`}<${Evidence} />`;
}
