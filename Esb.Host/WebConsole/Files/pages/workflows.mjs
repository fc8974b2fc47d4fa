// Workflows: instances by state, key and step; one instance with its history, variables and place; what operators do with one or many.

import { get, may, query } from "../api.mjs";
import { Act, ActionForm, Body, Card, CopyText, Dialog, duration, Empty, Field, Further, go, html, Id, Loaded, number, Page, Problem, State, Table, Time, toast, useApi, useEffect, useEvent, usePages, usePreview, useRef, useState, words } from "../ui.mjs";

const states = ["running", "waiting", "suspended", "completed", "terminated", "compensating", "compensated", "compensation-failed"];
const stopped = ["suspended", "compensation-failed"];
const ended = ["completed", "terminated", "compensated"];
const names = ["name", "state", "key", "step", "code"];
const pathOf = id => `/api/workflows/${encodeURIComponent(id)}`;
const filterOf = search => Object.fromEntries(names.filter(name => search[name]).map(name => [name, search[name]]));
const text = value => value === "" ? undefined : value;
const figure = value => value === "" ? undefined : Number(value);

const Keys = ({ of }) => html`<span class="fieldlist">${Object.entries(of).map(([name, value]) => html`<span><em>${name}</em> ${value}</span>`)}</span>`;

function Definitions({ definitions }) {
  return html`<${Card} title="Definitions" flush><${Loaded} of=${definitions} empty=${html`<${Empty} title="No workflows are configured">A workflow waits in the store between messages; the section <code>workflows</code> describes it.<//>`}>${data => html`<${Table} label="Definitions" rows=${data.items} keyOf=${row => row.workflow + row.hash} open=${row => go(`/workflows${query({ name: row.workflow })}`)} columns=${[
    ["Workflow", row => html`<strong>${row.workflow}</strong>`], ["Definition", row => html`<code title=${row.hash}>${row.hash.slice(0, 12)}</code>`], ["", row => row.isCurrent ? html`<${State} of="current" title="New instances begin with it" />` : html`<span class="quiet">earlier</span>`], ["Steps", row => html`<span class="clip" title=${row.description}>${row.description}</span>`, "wide-only"],
    ["Instances at", row => Object.keys(row.instances).length === 0 ? html`<span class="quiet">none</span>` : html`<span class="fieldlist">${Object.entries(row.instances).map(([step, count]) => html`<span><a href=${`#/workflows${query({ name: row.workflow, step })}`}>${step}</a> <em>${number(count)}</em></span>`)}</span>`]]} />`}<//><//>`;
}

function Migrate({ definitions, name, close, done }) {
  const workflows = [...new Set(definitions.map(one => one.workflow))];
  const [form, set] = useState({ workflow: name && workflows.includes(name) ? name : workflows[0], to: "", reason: "" });
  const body = { workflow: form.workflow, to: text(form.to) };
  const preview = usePreview({ method: "POST", path: "/api/workflows/migrations", body: { ...body, dryRun: true } });
  const blocked = preview.data?.obstacles.length > 0;
  return html`<${Dialog} title="Migrate instances" close=${close}><${ActionForm} action="Migrate" disabled=${!preview.data || blocked || preview.data.movable === 0} request=${{ method: "POST", path: "/api/workflows/migrations", body: { ...body, reason: form.reason } }} cancel=${close} done=${answer => { toast(`${number(answer.moved)} ${answer.moved === 1 ? "instance" : "instances"} moved`); close(); done(); }}>
    <p>Living instances go on with another definition, all or none. A step with an <code>id</code> is found by it, one without at the same path.</p>
    <div class="fields"><${Field} label="Workflow"><select value=${form.workflow} onChange=${event => set({ ...form, workflow: event.target.value, to: "" })}>${workflows.map(one => html`<option>${one}</option>`)}</select><//><${Field} label="To the definition"><select value=${form.to} onChange=${event => set({ ...form, to: event.target.value })}><option value="">that starts instances</option>${definitions.filter(one => one.workflow === form.workflow && !one.isCurrent).map(one => html`<option value=${one.hash}>${one.hash.slice(0, 12)}</option>`)}</select><//></div>
    <${Problem} error=${preview.error} />${preview.data && html`<div class=${`banner ${blocked ? "bad" : "calm"}`} role="status"><strong>${number(preview.data.movable)} ${preview.data.movable === 1 ? "instance" : "instances"}</strong> can move to <code>${preview.data.to.slice(0, 12)}</code>.${preview.data.obstacles.map(one => html`<div>${number(one.instances)} of ${one.from.slice(0, 12)} cannot: ${one.reason}</div>`)}</div>`}
    <${Field} label="Reason"><input required value=${form.reason} onInput=${event => set({ ...form, reason: event.target.value })} /><//><//><//>`;
}

const verbs = { retry: "Retry", skip: "Skip the failed step", terminate: "Terminate", fire: "End the wait" };

function Batch({ filter, close }) {
  const [form, set] = useState({ action: "retry", rate: "", stopAtFailureShare: "0.5", compensate: false, reason: "" });
  const input = name => event => set({ ...form, [name]: event.target.value });
  const order = { action: form.action, ...filter, compensate: form.action === "terminate" && form.compensate ? true : undefined };
  const preview = usePreview({ method: "POST", path: "/api/workflows/batches/preview", body: order });
  const count = preview.data?.items.reduce((sum, group) => sum + group.instances, 0);
  const body = { ...order, rate: figure(form.rate), stopAtFailureShare: figure(form.stopAtFailureShare), reason: form.reason };
  return html`<${Dialog} title="Act on all that match" close=${close} wide><${ActionForm} action=${verbs[form.action]} danger=${form.action === "terminate"} disabled=${!count} request=${{ method: "POST", path: "/api/workflows/batches", body }} cancel=${close} done=${() => { toast("The action has begun"); close(); go("/workflows/batches"); }}>
    <p>${Object.keys(filter).length ? html`Instances with <${Keys} of=${filter} />.` : "Instances of every workflow."} The host works through them in the background.</p>
    <div class="fields"><${Field} label="Action"><select value=${form.action} onChange=${input("action")}>${Object.entries(verbs).map(([verb, title]) => html`<option value=${verb}>${title}</option>`)}</select><//><${Field} label="Rate" hint="instances per second; empty: no limit"><input type="number" min="0.01" max="10000" step="any" value=${form.rate} onInput=${input("rate")} /><//><${Field} label="Stop at failure share" hint="0.5: half of them fail again"><input type="number" min="0.001" max="1" step="any" value=${form.stopAtFailureShare} onInput=${input("stopAtFailureShare")} /><//></div>
    ${form.action === "terminate" && html`<label class="check"><input type="checkbox" checked=${form.compensate} onChange=${event => set({ ...form, compensate: event.target.checked })} /> Undo completed scopes</label>`}
    <${Problem} error=${preview.error} />${preview.data && html`<div class="banner calm" role="status"><strong>${number(count)} ${count === 1 ? "instance" : "instances"}</strong> would be changed.${preview.data.items.slice(0, 10).map(group => html`<div>${number(group.instances)} of ${group.workflow}, ${words(group.state)} at ${group.step || "–"}${group.code ? `, ${group.code}` : ""}</div>`)}</div>`}
    <${Field} label="Reason"><input required value=${form.reason} onInput=${input("reason")} /><//><//><//>`;
}

// Events change the rows that are shown at once; the first page is asked anew, unless somebody has gone on to older ones.
function List({ search }) {
  const path = after => `/api/workflows${query({ ...filterOf(search), after, limit: 100 })}`;
  const pages = usePages(path);
  const { first } = pages;
  const definitions = useApi("/api/workflows/definitions", { every: 15000, on: ["configuration"] });
  const [changed, setChanged] = useState(new Map());
  const [dialog, open] = useState(null);
  const soon = useRef(0);
  useEffect(() => setChanged(new Map()), [path(), first.data]);
  useEffect(() => () => clearTimeout(soon.current), []);
  useEvent("workflow", event => {
    if (search.name && search.name !== event.workflow) return;
    setChanged(before => new Map([...before, ...event.instances.map(one => [one.id, one])].slice(-1000)));
    if (!pages.isFurther) soon.current ||= setTimeout(() => { soon.current = 0; first.reload(true); definitions.reload(true); }, 500);
  });
  const items = pages.items.map(row => { const now = changed.get(row.id); return now && now.version > row.version ? { ...row, ...now } : row; });
  const submit = event => { event.preventDefault(); go(`/workflows${query(Object.fromEntries([...new FormData(event.target)]))}`); };
  const filter = filterOf(search);
  const filtered = Object.keys(filter).length > 0;
  return html`<${Page} title="Workflows" hint="Instances, newest first." actions=${html`<a class="button" href="#/workflows/batches">Batches</a>${may("operator") && definitions.data?.items.length > 0 && html`<button onClick=${() => open("migrate")}>Migrate…</button><button disabled=${!items.length} onClick=${() => open("batch")}>Act on all that match…</button>`}`} />
    <${Definitions} definitions=${definitions} />
    <form class="filters card" onSubmit=${submit} key=${JSON.stringify(filter)}><${Field} label="Workflow"><input name="name" list="workflows" defaultValue=${search.name} /><datalist id="workflows">${[...new Set(definitions.data?.items.map(one => one.workflow) ?? [])].map(name => html`<option value=${name} />`)}</datalist><//>
      <${Field} label="State"><select name="state"><option value="">any</option>${states.map(state => html`<option value=${state} selected=${state === search.state}>${words(state)}</option>`)}</select><//>${[["key", "Business key", "order=4711"], ["step", "Step"], ["code", "Code"]].map(([name, label, example]) => html`<${Field} label=${label}><input name=${name} placeholder=${example} defaultValue=${search[name]} /><//>`)}<button>Filter</button>${filtered && html`<a class="button" href="#/workflows">Clear</a>`}</form>
    <${Card} title="Instances" flush>${pages.isFurther && changed.size > 0 && html`<div class="banner calm" role="status">Instances have changed. <button type="button" class="link" onClick=${() => first.reload()}>Show the newest</button></div>`}<${Loaded} of=${first} empty=${html`<${Empty} title=${filtered ? "No instance fits" : "No instance has started yet"} />`}>${() => html`<${Table} label="Instances" rows=${items} open=${row => go(`/workflows/${row.id}`)} columns=${[
      ["State", row => html`<${State} of=${row.state} title=${row.reason} />`], ["Workflow", row => html`<strong>${row.workflow}</strong>`], ["Keys", row => Object.keys(row.keys).length ? html`<${Keys} of=${row.keys} />` : "–"], ["Step", row => row.step ? html`<code>${row.step}</code>` : "–"], ["Started", row => html`<${Time} at=${row.startedAt} />`], ["Changed", row => html`<${Time} at=${row.changedAt} ago />`, "wide-only"], ["Instance", row => html`<${Id} id=${row.id} href=${`#/workflows/${row.id}`} />`, "wide-only"], ["Failure", row => row.code ? html`<span class="clip">${row.code} ${row.reason ?? ""}</span>` : "–"]]} />
      <${Further} pages=${pages} label="Older instances" />`}<//><//>
    ${dialog === "migrate" && html`<${Migrate} definitions=${definitions.data.items} name=${search.name} close=${() => open(null)} done=${() => { first.reload(); definitions.reload(); }} />`}${dialog === "batch" && html`<${Batch} filter=${filter} close=${() => open(null)} />`}`;
}

function Batches() {
  const batches = useApi("/api/workflows/batches", { every: 1000 });
  return html`<${Page} title="Batches" hint="Actions on many instances that run on this host, and the last that ended." actions=${html`<a class="button" href="#/workflows">Workflows</a>`} /><${Card} flush><${Loaded} of=${batches} empty=${html`<${Empty} title="No action on many instances has begun" />`}>${data => html`<${Table} label="Batches" rows=${data.items} columns=${[["Began", row => html`<${Time} at=${row.startedAt} />`], ["Action", row => words(row.action)], ["State", row => html`<${State} of=${row.state} title=${row.reason} />`], ["Changed", row => number(row.done), "right"], ["Failed", row => row.failed ? html`<span class="badtext">${number(row.failed)}</span>` : "0", "right"], ["Reason", row => row.reason ?? "–"], ["", row => may("operator") && row.state === "running" && html`<${Act} action="Stop" style="small" request=${{ method: "POST", path: `/api/workflows/batches/${row.id}/stop`, body: {} }} done=${batches.reload} />`, "right"]]} />`}<//><//>`;
}

const acts = {
  retry: { title: "Retry", action: "Retry", says: "The instance runs on from the step that failed." },
  skip: { title: "Skip the failed step", action: "Skip", says: "The instance runs on behind the step that failed; what the step should have done is not done." },
  fire: { title: "End the wait", action: "End the wait", says: "The times for which the instance waits end now, as if they were over." },
  terminate: { title: "Terminate", action: "Terminate", says: "The instance ends, with the instances that it runs.", danger: true },
};

function Decide({ id, verb, close, done }) {
  const [form, set] = useState({ reason: "", compensate: false });
  const { title, action, says, danger } = acts[verb];
  const body = { reason: text(form.reason), compensate: form.compensate || undefined };
  return html`<${Dialog} title=${title} close=${close}><${ActionForm} action=${action} danger=${danger} request=${{ method: "POST", path: `${pathOf(id)}/${verb}`, body }} cancel=${close} done=${answer => { toast(`The instance is ${words(answer.state)}`); close(); done(); }}>
    <p>${says}</p><${Field} label="Reason"><input required=${verb === "terminate"} autofocus value=${form.reason} onInput=${event => set({ ...form, reason: event.target.value })} /><//>${verb === "terminate" && html`<label class="check"><input type="checkbox" checked=${form.compensate} onChange=${event => set({ ...form, compensate: event.target.checked })} /> Undo completed scopes</label>`}<//><//>`;
}

// A number or a flag where JSON would write it the same way; otherwise text, such as an id of 20 digits, 007 and null.
function valueOf(written) {
  try {
    const read = JSON.parse(written);
    return ["number", "boolean"].includes(typeof read) && JSON.stringify(read) === written ? read : written;
  } catch {
    return written;
  }
}

function SetVariable({ id, name, value, close, done }) {
  const [form, set] = useState({ name: name ?? "", value: value ?? "", removes: false, reason: "" });
  const input = field => event => set({ ...form, [field]: event.target.value });
  const body = { variables: form.name ? { [form.name]: form.removes ? null : valueOf(form.value) } : {}, reason: form.reason };
  return html`<${Dialog} title="Set a variable" close=${close}><${ActionForm} action="Set" request=${{ method: "PATCH", path: `${pathOf(id)}/variables`, body }} cancel=${close} done=${() => { toast(`${form.name} is set`); close(); done(); }}>
    <${Field} label="Name"><input required value=${form.name} onInput=${input("name")} /><//><${Field} label="Value" hint="a number, true, false, or a text"><input disabled=${form.removes} value=${form.value} onInput=${input("value")} /><//>
    <label class="check"><input type="checkbox" checked=${form.removes} onChange=${event => set({ ...form, removes: event.target.checked })} /> Remove it</label><${Field} label="Reason"><input required value=${form.reason} onInput=${input("reason")} /><//><//><//>`;
}

function Message({ message }) {
  const raw = atob(message.body);
  let body = null;
  try { body = new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(raw, one => one.charCodeAt(0))); } catch { /* binary */ }
  return html`<details><summary>message <${Id} id=${message.id} href=${`#/messages/${message.id}`} /> ${message.subject ?? ""}</summary><${Body} text=${body} base64=${body === null ? message.body : undefined} bytes=${raw.length} type=${message.type} /></details>`;
}

function Variable({ of: { text: written, number: figure, flag, message, list } }) {
  if (message) return html`<${Message} message=${message} />`;
  if (list) return list.length === 0 ? html`<span class="quiet">no messages</span>` : html`${list.map(one => html`<${Message} message=${one} />`)}`;
  return html`<code>${String(written ?? figure ?? flag ?? "")}</code>`;
}

// Checkpoints with their steps; the time between two of them, in which no host worked on the instance, is one line.
function History({ id, instance, latest }) {
  const [state, set] = useState({ lines: [], next: null, error: null, loading: true });
  const turn = useRef(0);
  const load = async () => {
    const mine = ++turn.current;
    const after = state.lines.length ? state.lines[state.lines.length - 1].version : undefined;
    try {
      const page = await get(`${pathOf(id)}/history${query({ after, limit: 200 })}`, { background: after !== undefined });
      if (mine === turn.current) set(before => ({ lines: [...before.lines, ...page.items.filter(line => !before.lines.some(one => one.version === line.version))], next: page.next, error: null, loading: false }));
    } catch (error) { if (mine === turn.current) set(before => ({ ...before, error, loading: false })); }
  };
  useEffect(() => { if (!state.next || state.lines.length === 0) load(); }, [latest]);
  if (state.loading) return html`<${Loaded} of=${{ loading: true }} />`;
  const worked = line => line.steps.reduce((sum, step) => sum + (step.ms ?? 0), 0) / 1000;
  const last = state.lines[state.lines.length - 1];
  const idle = (line, index) => index === 0 ? 0 : (new Date(line.at) - new Date(state.lines[index - 1].at)) / 1000 - worked(line);
  return html`<${Problem} error=${state.error} retry=${load} /><ol class="steps history">${state.lines.map((line, index) => html`${idle(line, index) > 1 && html`<li class="idle"><span class="quiet">${duration(idle(line, index))} without work</span></li>`}<li class=${stopped.includes(line.state) ? "bad" : "good"}><div class="treehead"><strong>${line.version}</strong><${Time} at=${line.at} /><${State} of=${line.state} /><span class="spring"></span><span class="quiet">${duration(worked(line))}</span></div>
      ${line.steps.map(step => html`<div class="line"><code>${step.step || "–"}</code><span>${step.kind}</span>${step.branch && html`<span class="quiet">branch ${step.branch}</span>`}${step.note && html`<span class="why">${step.note}</span>`}${step.code && html`<code class="badtext">${step.code}</code>`}<span class="quiet">${duration((step.ms ?? 0) / 1000)}</span></div>`)}</li>`)}
      ${!state.next && last && instance && !ended.includes(instance.state) && instance.state !== "running" && html`<li class="idle"><span class="quiet">${words(instance.state)} since <${Time} at=${last.at} ago /></span></li>`}</ol>
    ${state.next && html`<div class="pager"><button onClick=${load}>Later checkpoints</button></div>`}`;
}

function Diagram({ id, latest, step }) {
  const drawing = useApi(`${pathOf(id)}/diagram?format=svg`, { load: path => get(path, { text: true, background: true }) });
  useEffect(() => { if (latest) drawing.reload(true); }, [latest]);
  if (drawing.error?.status === 404) return html`<p class="quiet">${drawing.error.message}</p>`;
  return html`<${Loaded} of=${drawing}>${svg => html`<div class="diagram" tabIndex="0" role="region" aria-label="Drawing of the workflow; scrolls"><img src=${`data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`} alt=${step ? `The workflow; the instance stands at ${step}` : "The workflow; the instance has ended"} /></div>`}<//>`;
}

function Instance({ id }) {
  const instance = useApi(may("operator") ? pathOf(id) : null, { every: 15000 });
  const [latest, note] = useState(0);
  const [dialog, open] = useState(null);
  useEvent("workflow", event => { if (event.further > 0 || event.instances.some(one => one.id === id)) { instance.reload(true); note(before => before + 1); } });
  const changed = () => { instance.reload(true); note(before => before + 1); };
  const data = instance.data;
  const button = (verb, style) => html`<button class=${style} onClick=${() => open(verb)}>${acts[verb].title}…</button>`;
  const variables = Object.entries(data?.details?.variables ?? {});
  return html`<${Page} title=${data?.workflow ?? "Instance"} hint=${html`<code>${id}</code> <${CopyText} text=${id} label="Copy the id" />`} actions=${html`<a class="button" href="#/workflows">All instances</a>${data && html`<a class="button" href=${`#/messages/${data.startedBy}`}>Journey</a>${stopped.includes(data.state) && html`${button("skip")}${button("retry", "primary")}`}${data.state === "waiting" && button("fire")}${!ended.includes(data.state) && button("terminate", "danger")}`}`} />
    ${!may("operator") && html`<div class="banner calm">The role viewer sees no variables; the history and the drawing follow.</div>`}
    ${may("operator") && html`<${Loaded} of=${instance}>${one => html`${one.code && html`<div class="banner bad" role="status"><strong>${one.code}</strong> ${one.reason ?? ""}</div>`}<div class="columns"><${Card} title="State"><dl class="facts">${[["State", html`<${State} of=${one.state} />`], ["Step", one.step && html`<code>${one.step}</code>`], ["Keys", Object.keys(one.keys).length > 0 && html`<${Keys} of=${one.keys} />`], ["Waits for", one.details?.waits?.length > 0 && one.details.waits.map(wait => `${words(wait.kind).toLowerCase()}${wait.branch ? ` in branch ${wait.branch}` : ""}`).join(", ")], ["Started", html`<${Time} at=${one.startedAt} />`], ["Changed", html`<${Time} at=${one.changedAt} />`], ["Checkpoints", number(one.version)], ["Definition", html`<code title=${one.definition}>${one.definition.slice(0, 12)}</code>`], ["Started by", html`<${Id} id=${one.startedBy} href=${`#/messages/${one.startedBy}`} />`], ["Run by", one.parent && html`<${Id} id=${one.parent} href=${`#/workflows/${one.parent}`} />`], ["End", !one.code && one.reason], ["Can undo", one.details?.undoable > 0 && `${one.details.undoable} scopes`]].filter(([, value]) => value).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl><//>
      <${Card} title="Variables" actions=${[...stopped, "waiting"].includes(one.state) && html`<button class="small" onClick=${() => open({ name: "", value: "" })}>Set…</button>`}>${variables.length === 0 ? html`<p class="quiet">None is set.</p>` : html`<dl class="facts">${variables.map(([name, value]) => html`<dt class="given">${name}</dt><dd><${Variable} of=${value} /></dd>`)}</dl>`}<//></div>`}<//>`}
    <div class="columns"><${Card} title="History"><${History} id=${id} instance=${data} latest=${latest} /><//><${Card} title="Place in the workflow"><${Diagram} id=${id} latest=${latest} step=${data?.step} /><//></div>
    ${typeof dialog === "string" && html`<${Decide} id=${id} verb=${dialog} close=${() => open(null)} done=${changed} />`}${dialog && typeof dialog === "object" && html`<${SetVariable} id=${id} ...${dialog} close=${() => open(null)} done=${changed} />`}`;
}

export default function Workflows({ rest, search }) {
  if (rest[0] === "batches") return html`<${Batches} />`;
  return rest.length ? html`<${Instance} key=${rest[0]} id=${rest[0]} />` : html`<${List} search=${search} />`;
}
