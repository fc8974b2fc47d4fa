// Search of recorded messages, and the journey of one: its tree, its events in time, the steps of its process, its bodies.

import { get, may, query } from "../api.mjs";
import { Recorded } from "../recorded.mjs";
import { Painted } from "../trace.mjs";
import { ActionForm, Body, bytes, Card, CopyText, Dialog, duration, Empty, Field, Further, go, html, Icon, Id, Loaded, Page, State, Table, Time, toast, useApi, usePages, useState, words } from "../ui.mjs";

const names = ["id", "field", "endpoint", "process", "kind", "party", "trace", "from", "to", "failed"];
const kinds = ["received", "refused", "filtered", "published", "delivered", "failed", "dead-lettered", "parked", "expired", "discarded", "replied", "recorded", "replayed", "duplicate", "aborted", "completed", "step-ended"];
const utc = text => text ? new Date(text).toISOString() : undefined;

function pathOf(search, after) {
  const { field, from, to, ...rest } = search;
  return `/api/messages${query({ ...rest, where: field ? field.split(",").map(one => one.trim()) : undefined, from: utc(from), to: utc(to), after, limit: 100 })}`;
}

function Search({ search }) {
  const submit = event => {
    event.preventDefault();
    const form = new FormData(event.target);
    const text = form.get("any").trim();
    const asked = Object.fromEntries(names.map(name => [name, form.get(name) || undefined]).filter(([, value]) => value));
    if (/^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i.test(text)) return go(`/messages/${text}`);
    if (/^[0-9a-f]{32}$/.test(text)) asked.trace = text;
    else if (text.includes("=")) asked.field = text;
    else if (text) asked.endpoint = text;
    go(`/messages${query(asked)}`);
  };
  return html`<form class="search card" onSubmit=${submit}><div class="searchline"><${Icon} name="search" /><input name="any" aria-label="Search" placeholder="Message id, trace, endpoint, or field=value such as orderId=4711" defaultValue=${search.field ?? ""} /><button class="primary">Search</button></div>
    <details open=${names.some(name => name !== "failed" && search[name])}><summary>More criteria</summary><div class="fields">
      <${Field} label="Endpoint"><input name="endpoint" defaultValue=${search.endpoint} /><//><${Field} label="Process"><input name="process" defaultValue=${search.process} /><//><${Field} label="Party"><input name="party" defaultValue=${search.party} /><//>
      <${Field} label="What happened"><select name="kind"><option value="">anything</option>${kinds.map(kind => html`<option value=${kind} selected=${kind === search.kind}>${words(kind)}</option>`)}</select><//>
      <${Field} label="From"><input name="from" type="datetime-local" defaultValue=${search.from} /><//><${Field} label="To"><input name="to" type="datetime-local" defaultValue=${search.to} /><//>
      <label class="check"><input name="failed" type="checkbox" value="true" defaultChecked=${search.failed === "true"} /> Failures only</label></div></details></form>`;
}

function List({ search }) {
  const pages = usePages(after => pathOf(search, after));
  return html`<${Page} title="Messages" hint="Every recorded event of every message, newest first." actions=${html`<button onClick=${() => pages.first.reload()}><${Icon} name="refresh" />Refresh</button>`} />
    <${Search} key=${pathOf(search)} search=${search} /><${Card} flush><${Loaded} of=${pages.first} empty=${html`<${Empty} title="Nothing is recorded that fits">Try fewer criteria, or look whether the endpoint's audit records it.<//>`}>${() => html`<${Table} label="Recorded events" rows=${pages.items} open=${row => go(`/messages/${row.messageId}`)} columns=${[
      ["Time", row => html`<${Time} at=${row.time} />`], ["What", row => html`<${State} of=${row.kind} />`], ["Message", row => html`<${Id} id=${row.messageId} href=${`#/messages/${row.messageId}`} />`],
      ["Where", row => row.endpoint ?? row.process ?? "–"], ["Subject", row => row.subject ?? "–", "wide-only"], ["Party", row => row.party ?? "–", "wide-only"],
      ["Fields", row => Object.keys(row.fields).length === 0 ? "–" : html`<span class="fieldlist">${Object.entries(row.fields).slice(0, 4).map(([name, value]) => html`<span><em>${name}</em> ${value}</span>`)}</span>`, "wide-only"], ["Reason", row => !row.code ? "–" : html`<span class="clip">${row.code} ${row.reason ?? ""}</span>`]]} />
      <${Further} pages=${pages} label="Older events" />`}<//><//>`;
}

function Fact({ fact, close }) {
  return html`<${Dialog} title=${`${words(fact.kind)}${fact.endpoint ? ` at ${fact.endpoint}` : ""}`} close=${close} wide><dl class="facts">
      ${[["Time", html`<${Time} at=${fact.time} />`], ["Step", fact.step], ["Process", fact.process], ["Subject", fact.subject], ["Attempt", fact.attempt || null], ["Took", fact.durationSeconds != null ? duration(fact.durationSeconds) : null], ["Code", fact.code], ["Reason", fact.reason], ["Party", fact.party], ["Host", fact.host], ["Revision", fact.revision], ["Trace", fact.traceId]].filter(([, value]) => value).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}
      ${Object.entries(fact.fields).map(([name, value]) => html`<dt class="given">${name}</dt><dd>${value}</dd>`)}</dl>
    ${fact.headers && Object.keys(fact.headers).length > 0 && html`<h3>Headers</h3><dl class="facts">${Object.entries(fact.headers).map(([name, value]) => html`<dt class="given">${name}</dt><dd>${value}</dd>`)}</dl>`}
    <h3>Body</h3><${Body} text=${fact.body} base64=${fact.bodyBase64} bytes=${fact.bodyBytes} state=${fact.bodyState} type=${fact.contentType} /><//>`;
}

// The steps that were recorded, in their order, each with what it changed in the body.
function Tree({ message, depth, total, pick, items }) {
  return html`<li><div class="treehead"><${State} of=${message.state} /><${Id} id=${message.id} /><strong>${message.subject ?? ""}</strong>${message.party && html`<span class="quiet">party ${message.party}</span>`}${message.cause === "derived" && html`<span class="quiet" title="Derived from ids, names and times">derived</span>`}<span class="spring"></span><span class="quiet">${duration(message.durationSeconds)}</span></div>
    ${message.stages.map(stage => html`<div class="stage"><div class="stagehead"><em>${words(stage.kind)}</em> <strong>${stage.endpoint ?? stage.process ?? ""}</strong>${stage.process && stage.endpoint && html` <span class="quiet">process ${stage.process}</span>`} <${State} of=${stage.state} /></div>
      ${stage.events.map(event => html`<button type="button" class="event" onClick=${() => pick(event.fact)}><span class=${`mark ${event.code ? "bad" : ""}`}></span><span class="what">${words(event.kind)}${event.attempt > 1 ? ` (attempt ${event.attempt})` : ""}${event.step ? html` <code title=${event.step}>${event.step.replace(/^processes\./, "")}</code>` : ""}</span><span class="clip quiet">${event.code ? `${event.code} ${event.reason ?? ""}` : event.subject ?? event.name ?? ""}</span>
        <span class="track" aria-hidden="true"><svg viewBox="0 0 100 6" preserveAspectRatio="none"><rect x=${total ? Math.min(99, event.offsetSeconds / total * 100) : 0} width=${total ? Math.max(1, event.durationSeconds / total * 100) : 1} y="0" height="6" /></svg></span><span class="offset">+${duration(event.offsetSeconds)}</span></button>`)}</div>`)}
    ${message.caused.length > 0 && html`<ul>${message.caused.map(one => html`<${Tree} message=${one} depth=${depth + 1} total=${total} pick=${pick} />`)}</ul>`}</li>`;
}

const all = messages => messages.flatMap(message => [message, ...all(message.caused)]);

function Replay({ id, endpoints, close }) {
  const [endpoint, set] = useState(endpoints[0] ?? "");
  const [options, setOptions] = useState({ again: false, outOfOrder: false, reason: "" });
  const path = `/api/messages/${id}/replay`;
  const body = { endpoint, ...options, reason: options.reason || undefined };
  return html`<${Dialog} title="Replay this message" close=${close}><${ActionForm} action="Replay" request=${{ method: "POST", path, body }} cancel=${close} done=${() => { toast("The message is in the queue of the endpoint"); close(); }}>
    <p>The recorded message goes into the queue of one endpoint, under its own id.</p><${Field} label="Endpoint"><input list="endpoints" value=${endpoint} required onInput=${event => set(event.target.value)} /><datalist id="endpoints">${endpoints.map(name => html`<option value=${name} />`)}</datalist><//>
    <${Field} label="Reason"><input value=${options.reason} onInput=${event => setOptions({ ...options, reason: event.target.value })} /><//>
    <label class="check"><input type="checkbox" checked=${options.again} onChange=${event => setOptions({ ...options, again: event.target.checked })} /> Even if it was replayed there before</label>
    <label class="check"><input type="checkbox" checked=${options.outOfOrder} onChange=${event => setOptions({ ...options, outOfOrder: event.target.checked })} /> May arrive behind later messages</label><//><//>`;
}

function Journey({ id }) {
  const journey = useApi(may("operator") ? `/api/messages/${encodeURIComponent(id)}` : null);
  const [picked, pick] = useState(null);
  const [replays, replay] = useState(false);
  const [view, setView] = useState("tree");
  const traces = useApi(view === "process" && may("operator") ? "/api/traces" : null);
  const passes = message => traces.data?.items.flatMap(trace => trace.messages.filter(pass => pass.messageId === message.id).map(pass => ({ trace, pass }))) ?? [];
  if (!may("operator")) return html`<${Page} title="Message" /><${Empty} title="The role viewer sees no bodies">Ask for a key with the role operator.<//>`;
  return html`<${Page} title="Message" hint=${html`<code>${id}</code> <${CopyText} text=${id} label="Copy the id" />`} actions=${html`<a class="button" href="#/messages">All messages</a><a class="button" href=${`/api/messages/${encodeURIComponent(id)}?format=svg`} download=${`${id}.svg`}>Sequence diagram</a><a class="button" href=${`/api/messages/${encodeURIComponent(id)}`} download=${`${id}.json`}>Download</a><button class="primary" onClick=${() => replay(true)}>Replay…</button>`} />
    <${Loaded} of=${journey}>${data => html`<div class="tiles"><div class="tile"><span>State</span><strong><${State} of=${data.state} /></strong></div><div class="tile"><span>Began</span><strong class="small"><${Time} at=${data.started} /></strong></div><div class="tile"><span>Took</span><strong>${duration(data.durationSeconds)}</strong><small>${duration(data.workingSeconds)} working, ${duration(data.waitingSeconds)} waiting</small></div><div class="tile"><span>Recorded</span><strong>${data.facts}</strong><small>events on ${data.hosts.length} ${data.hosts.length === 1 ? "host" : "hosts"}</small></div></div>
      ${data.remarks.map(remark => html`<div class="banner warn">${remark}</div>`)}
      <div class="tabs" role="tablist">${[["tree", "Journey"], ["process", "Process steps"]].map(([name, title]) => html`<button role="tab" aria-selected=${view === name} onClick=${() => setView(name)}>${title}</button>`)}</div>
      ${view === "tree" ? html`<${Card}><ul class="tree">${data.messages.map(message => html`<${Tree} message=${message} depth=${0} total=${data.durationSeconds} pick=${pick} />`)}</ul><//>`
        : all(data.messages).map(message => html`<${Card} title=${html`${message.subject ?? message.stages[0]?.endpoint ?? "Message"} <${Id} id=${message.id} />`}>${passes(message).length > 0 ? passes(message).map(({ trace, pass }) => html`<h3>At ${trace.endpoint}</h3><${Painted} key=${pass.id} trace=${trace.id} pass=${pass.id} />`) : html`<${Recorded} items=${data.items} message=${message} />`}<//>`)}
      ${picked && html`<${Fact} fact=${data.items.find(fact => fact.id === picked)} close=${() => pick(null)} />`}
      ${replays && html`<${Replay} id=${id} endpoints=${[...new Set(data.items.filter(fact => ["delivered", "failed", "dead-lettered", "parked"].includes(fact.kind)).map(fact => fact.endpoint))]} close=${() => replay(false)} />`}`}<//>`;
}

function Traced({ trace, pass }) {
  const path = `/api/traces/${encodeURIComponent(trace)}/messages/${encodeURIComponent(pass)}`;
  const traced = useApi(may("operator") ? path : null);
  const id = traced.data?.pass.messageId;
  return html`<${Page} title="Traced message" hint=${id && html`<code>${id}</code> <${CopyText} text=${id} label="Copy the id" />`} actions=${html`${id && html`<a class="button" href=${`#/messages/${id}`}>Journey</a>`}<a class="button" href=${path} download=${`${pass}.json`}>Download</a>`} />
    ${may("operator") ? html`<${Card}><${Painted} trace=${trace} pass=${pass} /><//>` : html`<${Empty} title="The role viewer sees no bodies">Ask for a key with the role operator.<//>`}`;
}

export default function Messages({ rest, search }) {
  if (rest[0] === "trace") return html`<${Traced} key=${rest.join("/")} trace=${rest[1]} pass=${rest[2]} />`;
  return rest.length ? html`<${Journey} key=${rest[0]} id=${rest[0]} />` : html`<${List} search=${search} />`;
}
