// The configuration: its text with errors at their places, what a reload would change, reload, and where each value comes from.

import { may } from "../api.mjs";
import { Act, ActionForm, Card, Dialog, Empty, Field, html, Loaded, Page, Problem, State, Table, Time, toast, useApi, useRef, useState } from "../ui.mjs";

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

function Files({ hasVersions }) {
  const files = useApi("/api/configuration/files", { on: ["configuration"] });
  const [edits, edit] = useState(null); // with the files that they were made of: other ones may come into service meanwhile
  const [name, choose] = useState(null);
  const [state, set] = useState({ result: null, plan: null });
  const base = edits?.base ?? files.data;
  const texts = edits?.files ?? files.data?.files ?? {};
  const names = Object.keys(texts);
  const shown = name && texts[name] !== undefined ? name : names[0];
  const body = { files: texts };
  const [applies, apply] = useState(false);
  const isChanged = base && JSON.stringify(texts) !== JSON.stringify(base.files);
  const isLate = isChanged && base.version !== files.data?.version;
  return html`<${Loaded} of=${files}>${() => html`<${Card} flush title=${html`<span class="tabs" role="tablist">${names.map(one => html`<button role="tab" aria-selected=${one === shown} onClick=${() => choose(one)}>${one}${texts[one] !== base.files[one] ? " •" : ""}</button>`)}</span>`}
      actions=${html`${isChanged && html`<button class="ghost" onClick=${() => edit(null)}>Drop changes</button>`}<${Act} action="Check" busyText="Checking…" asks request=${{ method: "POST", path: "/api/configuration/validate", body }} done=${result => set({ result, plan: null })} /><${Act} action="Plan" busyText="Planning…" asks request=${{ method: "POST", path: "/api/configuration/plan", body }} done=${plan => set({ plan, result: null })} />${hasVersions && html`<button class="primary" disabled=${!isChanged} onClick=${() => apply(true)}>Apply…</button>`}`}>
      ${isLate && html`<div class="banner warn" role="status">Version ${files.data.version} came into service since you began; these changes are of version ${base.version ?? "–"}, and will be refused. See <em>Versions</em> for what it changed, and drop yours to begin anew.</div>`}
      ${shown !== undefined && html`<${Editor} text=${texts[shown]} errors=${(state.result?.errors ?? []).filter(one => one.file === shown)} change=${text => edit({ base, files: { ...texts, [shown]: text } })} />`}<//>
      ${applies && html`<${Apply} files=${texts} number=${base.version} close=${() => apply(false)} done=${() => { edit(null); files.reload(); }} />`}<${Errors} result=${state.result} open=${one => choose(one.file)} /><${Plan} plan=${state.plan} />
      <p class="quiet note">Checking and planning change nothing. ${hasVersions && html`<em>Apply</em> makes a version of a configuration in the store. `}A reload reads the files of the host.</p>`}<//>`;
}

function Change({ lines }) {
  if (lines.length === 0) return html`<p class="quiet">Nothing differs.</p>`;
  return html`<pre class="code diff" tabIndex="0">${lines.map(line => html`<span class=${line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "quiet"}>${line}\n</span>`)}</pre>`;
}

// The contents, such as maps, are those of the version that the files were made of.
function Apply({ files, number, close, done }) {
  const [reason, set] = useState("");
  const base = useApi(number ? `/api/configuration/versions/${number}` : null);
  const body = { files, contents: base.data?.contents ?? {}, basedOn: number ?? undefined, reason: reason || undefined };
  const path = "/api/configuration/apply";
  return html`<${Dialog} title="Apply" close=${close}>${base.error ? html`<${Problem} error=${base.error} />` : html`<${ActionForm} action=${base.loading ? "Reading…" : "Apply on every host"} request=${{ method: "POST", path, body }} cancel=${close} done=${result => { toast(`Revision ${result.after} is in service`); close(); done(); }}>
    <p>The files become a version and go into service on all hosts, or on none. Messages under way end on the version on which they began.</p><${Field} label="Reason"><input required value=${reason} onInput=${event => set(event.target.value)} /><//><//>`}<//>`;
}

function RollBack({ version, close, done }) {
  const [reason, set] = useState("");
  const [path, body] = ["/api/configuration/rollback", { number: version.number, reason: reason || undefined }];
  return html`<${Dialog} title=${`Back to version ${version.number}`} close=${close}><${ActionForm} action="Put into service" danger request=${{ method: "POST", path, body }} cancel=${close} done=${result => { toast(`Revision ${result.after} is in service`); close(); done(); }}>
    <p>Version ${version.number}, revision <code>${version.revision}</code>, goes into service on every host.</p><${Field} label="Reason"><input required autofocus value=${reason} onInput=${event => set(event.target.value)} /><//><//><//>`;
}

function Versions() {
  const versions = useApi("/api/configuration/versions", { on: ["configuration"], every: 30000 });
  const [picked, pick] = useState(null);
  const [back, setBack] = useState(null);
  const items = versions.data?.items ?? [];
  const older = picked && items.filter(one => one.number < picked.number).sort((one, other) => other.number - one.number)[0];
  const change = useApi(older && may("administrator") ? `/api/configuration/versions/diff?from=${older.number}&to=${picked.number}` : null);
  if (versions.error?.status === 404) return html`<${Card}><${Empty} title="This host keeps no versions">Its configuration comes from files.<//><//>`;
  return html`<${Card} flush><${Loaded} of=${versions} empty=${html`<${Empty} title="No version is kept yet"><code>esb apply</code>, or <em>Apply</em> in the text, makes the first one.<//>`}>${data => html`<${Table} label="Versions" rows=${data.items} keyOf=${row => row.number} selected=${picked?.number} open=${pick} columns=${[["Version", row => html`<strong>${row.number}</strong>`, "right"], ["Revision", row => html`<code>${row.revision}</code>`], ["State", row => row.isInService ? html`<${State} of="running" />` : "–"], ["By", row => row.by], ["When", row => html`<${Time} at=${row.at} />`], ["Kind", row => row.kind], ["Reason", row => row.reason ?? "–"], ["", row => may("administrator") && !row.isInService && html`<button class="small" onClick=${() => setBack(row)}>Roll back…</button>`, "right"]]} />`}<//><//>
    ${picked && html`<${Card} title=${older ? `What version ${picked.number} changed since ${older.number}` : `Version ${picked.number} is the oldest`}>${older && html`<${Loaded} of=${change}>${data => html`<${Change} lines=${data.lines} />`}<//>`}<//>`}
    ${back && html`<${RollBack} version=${back} close=${() => setBack(null)} done=${versions.reload} />`}`;
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
  const versions = useApi("/api/configuration/versions");
  const hasVersions = versions.data !== null; // a host of an earlier version keeps none
  return html`<${Page} title="Configuration" hint=${running.data && html`<strong>${running.data.name}</strong> runs ${versions.data?.running ? html`version ${versions.data.running}, ` : ""}revision <code>${running.data.revision}</code>`} actions=${html`<a class="button" href="/api/schema" download="esb.schema.json">JSON Schema</a>${may("administrator") && html`<${Act} action="Reload files" style="primary" request=${{ method: "POST", path: "/api/configuration/reload", body: {} }} done=${done => toast(done.changes.length ? `Revision ${done.after} is in service: ${done.changes.length} changes` : "Nothing has changed")} />`}`} />
    <div class="tabs" role="tablist">${[["text", "Text", may("administrator")], ["versions", "Versions", hasVersions], ["values", "Values", true]].filter(([, , shown]) => shown).map(([name, title]) => html`<button role="tab" aria-selected=${name === view} onClick=${() => { location.hash = `/configuration/${name}`; }}>${title}</button>`)}</div>
    ${view === "text" ? html`<${Files} hasVersions=${versions.data?.place === "store"} />` : view === "versions" ? html`<${Versions} />` : html`<${Values} />`}`;
}
