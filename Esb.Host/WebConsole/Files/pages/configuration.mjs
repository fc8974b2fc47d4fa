// The configuration: its text with errors at their places, what a reload would change, reload, and where each value comes from.

import { may, post } from "../api.mjs";
import { Card, CopyCurl, Empty, html, Loaded, Page, Problem, Table, toast, useApi, useEffect, useRef, useState } from "../ui.mjs";

function Editor({ text, errors, change, isFixed }) {
  const area = useRef();
  const gutter = useRef();
  const lines = text.split("\n").length;
  const byLine = Object.groupBy ? Object.groupBy(errors, one => one.line ?? 1) : errors.reduce((all, one) => ({ ...all, [one.line ?? 1]: [...(all[one.line ?? 1] ?? []), one] }), {});
  return html`<div class="source"><pre class="gutter" ref=${gutter} aria-hidden="true">${Array.from({ length: lines }, (_, index) => html`<span class=${byLine[index + 1] ? "bad" : ""} title=${byLine[index + 1]?.map(one => `${one.code}: ${one.expected}`).join("\n")}>${index + 1}\n</span>`)}</pre>
    <textarea ref=${area} class="code" aria-label="Text of the file" spellcheck="false" wrap="off" readOnly=${isFixed} value=${text} onInput=${event => change(event.target.value)} onScroll=${event => { gutter.current.scrollTop = event.target.scrollTop; }}></textarea></div>`;
}

function Errors({ result, open }) {
  if (!result) return null;
  if (result.isValid) return html`<div class="banner good" role="status">Valid: ${result.name}, revision <code>${result.revision}</code>.${result.warnings.map(one => html`<div>${one.code} ${one.path}: ${one.expected}</div>`)}</div>`;
  return html`<div class="problem" role="alert"><strong>${result.errors.length} ${result.errors.length === 1 ? "error" : "errors"}</strong><ul>${result.errors.map(one => html`<li><button type="button" class="link" onClick=${() => open(one)}>${one.file ?? ""}${one.line ? `:${one.line}` : ""}</button> <code>${one.code}</code> ${one.path}${one.value ? ` = ${one.value}` : ""}: ${one.expected}</li>`)}</ul></div>`;
}

function Plan({ plan }) {
  if (!plan) return null;
  return html`<${Card} title="What a reload with these files would do"><p>From revision <code>${plan.running}</code> to <code>${plan.wanted}</code>.</p>
    ${plan.refused.length > 0 && html`<div class="problem"><strong>It would be refused</strong><ul>${plan.refused.map(line => html`<li>${line}</li>`)}</ul></div>`}
    ${plan.changes.length + plan.outside.length === 0 ? html`<p class="quiet">Nothing changes.</p>` : html`<ul class="changes">${plan.changes.map(line => html`<li>${line}</li>`)}${plan.outside.map(one => html`<li><strong>${one.kind}</strong> ${one.object} <span class="quiet">${one.detail}</span></li>`)}</ul>`}<//>`;
}

function Files() {
  const files = useApi("/api/configuration/files", { on: ["configuration"] });
  const [texts, setTexts] = useState({});
  const [name, choose] = useState(null);
  const [state, set] = useState({ busy: "", result: null, plan: null, error: null });
  useEffect(() => { if (files.data) setTexts(files.data.files); }, [files.data]);
  const names = Object.keys(texts);
  const shown = name && texts[name] !== undefined ? name : names[0];
  const body = { files: texts };
  const run = async (verb, apply) => {
    set(before => ({ ...before, busy: verb, error: null }));
    try { const answer = await post(`/api/configuration/${verb}`, body); set(before => ({ ...before, busy: "", ...apply(answer) })); } catch (error) { set(before => ({ ...before, busy: "", error })); }
  };
  const isChanged = files.data && JSON.stringify(texts) !== JSON.stringify(files.data.files);
  return html`<${Loaded} of=${files}>${() => html`<${Card} flush title=${html`<span class="tabs" role="tablist">${names.map(one => html`<button role="tab" aria-selected=${one === shown} onClick=${() => choose(one)}>${one}${texts[one] !== files.data.files[one] ? " •" : ""}</button>`)}</span>`}
      actions=${html`${isChanged && html`<button class="ghost" onClick=${() => setTexts(files.data.files)}>Drop changes</button>`}<${CopyCurl} method="POST" path="/api/configuration/validate" body=${body} /><button disabled=${state.busy} onClick=${() => run("validate", result => ({ result, plan: null }))}>${state.busy === "validate" ? "Checking…" : "Check"}</button><button disabled=${state.busy} onClick=${() => run("plan", plan => ({ plan, result: null }))}>${state.busy === "plan" ? "Planning…" : "Plan"}</button>`}>
      ${shown !== undefined && html`<${Editor} text=${texts[shown]} errors=${(state.result?.errors ?? []).filter(one => one.file === shown)} change=${text => setTexts({ ...texts, [shown]: text })} />`}<//>
      <${Problem} error=${state.error} /><${Errors} result=${state.result} open=${one => choose(one.file)} /><${Plan} plan=${state.plan} />
      <p class="quiet note">Checking and planning change nothing. A reload reads the files of the host.</p>`}<//>`;
}

function Values() {
  const values = useApi("/api/configuration", { on: ["configuration"] });
  const [text, filter] = useState("");
  return html`<${Card} title="Values and their origin" flush actions=${html`<input type="search" class="quick" placeholder="Filter" aria-label="Filter values" value=${text} onInput=${event => filter(event.target.value)} />`}><${Loaded} of=${values}>${data => {
    const rows = data.values.filter(one => one.path.toLowerCase().includes(text.toLowerCase()) || one.origin.includes(text));
    return rows.length === 0 ? html`<${Empty} title="No value fits" />` : html`<${Table} label="Values" rows=${rows} keyOf=${row => row.path} columns=${[["Path", row => html`<code>${row.path}</code>`], ["Value", row => html`<span class="clip">${row.value}</span>`], ["Origin", row => html`<span class=${row.origin === "default" ? "quiet" : ""}>${row.origin}</span>`]]} />`;
  }}<//><//>`;
}

export default function Configuration({ rest }) {
  const view = rest[0] ?? (may("administrator") ? "text" : "values");
  const running = useApi("/api/configuration", { on: ["configuration"] });
  const reload = async () => {
    try { const done = await post("/api/configuration/reload"); toast(done.changes.length ? `Revision ${done.after} is in service: ${done.changes.length} changes` : "Nothing has changed"); } catch (error) { toast(`${error.code}: ${error.message.split("\n")[0]}`, "bad"); }
  };
  return html`<${Page} title="Configuration" hint=${running.data && html`<strong>${running.data.name}</strong> runs revision <code>${running.data.revision}</code>`} actions=${html`<a class="button" href="/api/schema" download="esb.schema.json">JSON Schema</a>${may("administrator") && html`<button class="primary" onClick=${reload}>Reload files</button>`}`} />
    <div class="tabs" role="tablist">${[["text", "Text", may("administrator")], ["values", "Values", true]].filter(([, , shown]) => shown).map(([name, title]) => html`<button role="tab" aria-selected=${name === view} onClick=${() => { location.hash = `/configuration/${name}`; }}>${title}</button>`)}</div>
    ${view === "text" ? html`<${Files} />` : html`<${Values} />`}`;
}
