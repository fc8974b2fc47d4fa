// Dead letters: groups by cause, one letter with its failures and body, edit with a diff, replay with a dry run and a pace, discard.

import { get, may, query } from "../api.mjs";
import { Act, ActionForm, bytes, Card, CopyText, Dialog, Diff, Empty, Field, Further, go, html, Id, indent, Loaded, number, Page, Problem, State, Table, Time, toast, useApi, useEffect, usePages, usePreview, useRef, useState } from "../ui.mjs";

const filterOf = search => Object.fromEntries(["endpoint", "code", "subject", "key", "messageId", "text", "job"].filter(name => search[name]).map(name => [name, search[name]]));

function Groups({ search }) {
  const groups = useApi(`/api/dead-letters/groups${query({ by: "cause", state: search.state })}`, { on: ["dead-letter"], every: 30000 });
  return html`<${Card} title="By cause" flush><${Loaded} of=${groups} empty=${html`<${Empty} title="No dead letters">Every message was delivered, or is still being tried.<//>`}>${data => html`<${Table} label="Groups of dead letters" rows=${data.items} keyOf=${row => row.endpoint + row.code + row.cause} open=${row => go(`/dead-letters${query({ endpoint: row.endpoint, code: row.code })}`)} columns=${[
    ["Count", row => html`<strong>${number(row.count)}</strong>`, "right"], ["Endpoint", row => row.endpoint], ["Code", row => html`<code>${row.code}</code>`], ["Cause", row => html`<span class="clip">${row.cause ?? ""}</span>`], ["Oldest", row => html`<${Time} at=${row.oldest} ago />`], ["Newest", row => html`<${Time} at=${row.newest} ago />`, "wide-only"]]} />`}<//><//>`;
}

export function ReplayDialog({ selection, title, close, edit }) {
  const [form, set] = useState({ rate: "", batchSize: "", firstBatch: "", batchPause: "", stopAtFailureShare: "0.5", limit: "", redirect: "", outOfOrder: false, reason: "" });
  const value = text => text === "" ? undefined : Number(text);
  const isOne = selection.ids?.length === 1;
  const body = { ...selection, rate: value(form.rate), batchSize: value(form.batchSize), firstBatch: form.batchSize ? value(form.firstBatch) : undefined, batchPause: form.batchSize && form.batchPause ? form.batchPause : undefined, stopAtFailureShare: isOne ? undefined : value(form.stopAtFailureShare), limit: value(form.limit), redirect: form.redirect || undefined, outOfOrder: form.outOfOrder || undefined, reason: form.reason || undefined, edit };
  const input = name => event => set({ ...form, [name]: event.target.value });
  const path = isOne ? `/api/dead-letters/${selection.ids[0]}/replay` : "/api/replays";
  const sent = isOne ? { ...body, ids: undefined, filter: undefined } : body;
  const preview = usePreview({ method: "POST", path: "/api/replays/preview", body: { ...selection, limit: value(form.limit), redirect: form.redirect || undefined, outOfOrder: form.outOfOrder || undefined, edit } });
  return html`<${Dialog} title=${title} close=${close}><${ActionForm} action="Replay" request=${{ method: "POST", path, body: sent }} cancel=${close} done=${job => { toast("The replay has begun"); close(); go(`/dead-letters/jobs/${job.id}`); }}>
    <${Problem} error=${preview.error} />${preview.data && html`<div class=${`banner ${preview.data.obstacles.length ? "bad" : "calm"}`}><strong>${number(preview.data.count)} ${preview.data.count === 1 ? "message" : "messages"}</strong> would be sent${preview.data.groups.length > 0 && ` (${preview.data.groups.slice(0, 4).map(group => `${group.count} at ${group.endpoint}`).join(", ")})`}.${preview.data.obstacles.map(one => html`<div>${one}</div>`)}</div>`}
    <div class="fields">${!isOne && html`<${Field} label="Rate" hint="messages per second; empty: no limit"><input type="number" min="0.01" step="any" value=${form.rate} onInput=${input("rate")} /><//>
      <${Field} label="Stop at failure share" hint="0.5: half of them fail again"><input type="number" min="0.001" max="1" step="any" value=${form.stopAtFailureShare} onInput=${input("stopAtFailureShare")} /><//>
      <${Field} label="Batch size" hint="the ramp begins with the first batch"><input type="number" min="1" value=${form.batchSize} onInput=${input("batchSize")} /><//><${Field} label="First batch"><input type="number" min="1" value=${form.firstBatch} disabled=${!form.batchSize} onInput=${input("firstBatch")} /><//>
      <${Field} label="Pause between batches"><input placeholder="5s" value=${form.batchPause} disabled=${!form.batchSize} onInput=${input("batchPause")} /><//><${Field} label="At most"><input type="number" min="1" value=${form.limit} onInput=${input("limit")} /><//>`}
      <${Field} label="To another endpoint" hint="empty: where it failed"><input value=${form.redirect} onChange=${input("redirect")} /><//><${Field} label="Reason"><input value=${form.reason} onInput=${input("reason")} /><//></div>
    <label class="check"><input type="checkbox" checked=${form.outOfOrder} onChange=${event => set({ ...form, outOfOrder: event.target.checked })} /> May arrive behind later messages of an ordered endpoint</label><//><//>`;
}

function Discard({ selection, count, close, done }) {
  const [reason, set] = useState("");
  const body = { ...selection, reason };
  return html`<${Dialog} title="Discard dead letters" close=${close}><${ActionForm} action="Discard" danger request=${{ method: "POST", path: "/api/dead-letters/discard", body }} cancel=${close} done=${answer => { toast(`${number(answer.discarded)} discarded`); close(); done(); }}>
    <p>${count} will not be delivered. The letters stay in the store, with your name and reason.</p><${Field} label="Reason"><input required autofocus value=${reason} onInput=${event => set(event.target.value)} /><//><//><//>`;
}

function List({ search }) {
  const path = after => `/api/dead-letters${query({ ...filterOf(search), state: search.state ?? "open", after, limit: 100 })}`;
  const pages = usePages(path, { on: ["dead-letter"] });
  const { first: letters, items } = pages;
  const [chosen, choose] = useState(new Set());
  const [dialog, open] = useState(null);
  useEffect(() => choose(new Set()), [path(), letters.data]);
  const filtered = Object.keys(filterOf(search)).length > 0;
  const selection = chosen.size ? { ids: [...chosen] } : { filter: filterOf(search) };
  const what = chosen.size ? `${chosen.size} chosen` : filtered ? "all that match" : "all open letters";
  const submit = event => { event.preventDefault(); const form = new FormData(event.target); go(`/dead-letters${query(Object.fromEntries([...form]))}`); };
  const toggle = id => choose(before => { const after = new Set(before); if (!after.delete(id)) after.add(id); return after; });
  return html`<${Page} title="Dead letters" hint="Messages that were given up after their last attempt." actions=${html`<a class="button" href="#/dead-letters/jobs">Replays</a>${may("operator") && html`<button disabled=${!items.length} onClick=${() => open("discard")}>Discard ${what}…</button><button class="primary" disabled=${!items.length} onClick=${() => open("replay")}>Replay ${what}…</button>`}`} />
    ${!filtered && html`<${Groups} search=${search} />`}
    <form class="filters card" onSubmit=${submit} key=${JSON.stringify(search)}>${[["endpoint", "Endpoint"], ["code", "Code"], ["key", "Order key"], ["text", "Text of the reason"]].map(([name, label]) => html`<${Field} label=${label}><input name=${name} defaultValue=${search[name]} /><//>`)}
      <${Field} label="State"><select name="state">${["open", "replaying", "replayed", "discarded"].map(state => html`<option selected=${state === (search.state ?? "open")}>${state}</option>`)}</select><//><button>Filter</button>${filtered && html`<a class="button" href="#/dead-letters">Clear</a>`}</form>
    <${Card} title="Letters" flush><${Loaded} of=${letters} empty=${html`<${Empty} title="No letter fits" />`}>${() => html`<${Table} label="Dead letters" rows=${items} open=${row => go(`/dead-letters/${row.id}`)} columns=${[
      [html`<span class="hidden">Chosen</span>`, row => html`<input type="checkbox" aria-label=${`Choose ${row.messageId}`} checked=${chosen.has(row.id)} onChange=${() => toggle(row.id)} />`], ["Last attempt", row => html`<${Time} at=${row.lastAttempt} />`], ["Endpoint", row => row.endpoint], ["Code", row => html`<code>${row.code}</code>`], ["Reason", row => html`<span class="clip">${row.reason}</span>`], ["Key", row => row.key ?? "–", "wide-only"], ["Attempts", row => row.attempts, "right"], ["Size", row => bytes(row.bodyBytes), "right wide-only"], ["State", row => html`<${State} of=${row.state} />`]]} />
      <${Further} pages=${pages} label="Older letters" />`}<//><//>
    ${dialog === "replay" && html`<${ReplayDialog} title=${`Replay ${what}`} selection=${selection} close=${() => open(null)} />`}${dialog === "discard" && html`<${Discard} selection=${selection} count=${what} close=${() => open(null)} done=${letters.reload} />`}`;
}

async function readBodies(path, isEdited) {
  const [own, kept] = await Promise.all([get(path, { binary: true }), isEdited ? get(`${path}?edited=true`, { binary: true }) : null]);
  const textOf = buffer => new TextDecoder("utf-8", { fatal: true }).decode(buffer);
  try { return { text: textOf(own), kept: kept && textOf(kept), error: null }; } catch { return { text: null, kept: null, error: null, binary: own.byteLength }; }
}

// Keeps an edit at the letter, unless another operator was faster.
function Keep({ path, body, expected, close, done }) {
  const [reason, set] = useState("");
  return html`<${Dialog} title="Keep the edit" close=${close}><${ActionForm} action="Keep" request=${{ method: "PUT", path, body: { body, expected, reason: reason || undefined } }} cancel=${close} done=${() => { toast("Replays of this letter send the edited body"); close(); done(); }}>
    <p>Replays of this letter send the edited body, under an id of its own. The letter keeps the body as it came; the audit records you and the digests of both.</p><${Field} label="Reason"><input value=${reason} onInput=${event => set(event.target.value)} /><//><//><//>`;
}

function Letter({ id }) {
  const path = `/api/dead-letters/${encodeURIComponent(id)}`;
  const letter = useApi(path, { on: ["dead-letter"] });
  const [body, setBody] = useState({ text: null, kept: null, error: null });
  const [edited, edit] = useState(null);
  const [dialog, open] = useState(null);
  const begun = useRef(null); // the digest of the body that is being edited: another operator may keep an edit meanwhile
  const keptEdit = letter.data?.edit;
  useEffect(() => {
    if (!may("administrator") || !letter.data) return;
    const digest = keptEdit?.digest ?? letter.data.bodyDigest;
    readBodies(`${path}/body`, Boolean(keptEdit)).then(read => setBody({ ...read, digest }), error => setBody({ text: null, kept: null, error }));
  }, [id, Boolean(letter.data), keptEdit?.digest]);
  const current = body.kept ?? body.text;
  const isOpen = letter.data?.state !== "replaying";
  return html`<${Page} title="Dead letter" hint=${html`<code>${id}</code> <${CopyText} text=${id} label="Copy the id" />`} actions=${html`<a class="button" href="#/dead-letters">All letters</a>${letter.data && html`<a class="button" href=${`#/messages/${letter.data.messageId}`}>Journey</a>`}${may("operator") && html`<button disabled=${!isOpen} onClick=${() => open("discard")}>Discard…</button><button class="primary" disabled=${!isOpen} onClick=${() => open("replay")}>${edited !== null && edited !== current ? "Replay edited…" : "Replay…"}</button>`}`} />
    <${Loaded} of=${letter}>${data => html`<div class="columns"><${Card} title="What failed"><dl class="facts">${[["State", html`<${State} of=${data.state} />`], ["Endpoint", html`<a href=${`#/endpoints/${encodeURIComponent(data.endpoint)}`}>${data.endpoint}</a>`], ["Subject", data.subject], ["Order key", data.key], ["Code", html`<code>${data.code}</code>`], ["Reason", data.reason], ["Exception", data.exceptionType], ["Attempts", data.attempts], ["First attempt", html`<${Time} at=${data.firstAttempt} />`], ["Last attempt", html`<${Time} at=${data.lastAttempt} />`], ["Party", data.party], ["Content type", data.contentType], ["Changed", data.changedAt && html`<${Time} at=${data.changedAt} /> by ${data.changedBy}`], ["Note", data.note], ["Replays", data.replays || null]].filter(([, value]) => value).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl><//>
      <${Card} title="Attempts"><ol class="attempts">${(data.failures ?? []).map(failure => html`<li><${Time} at=${failure.at} /><code>${failure.code}</code><span>${failure.reason}</span></li>`)}</ol>
      ${Object.keys(data.headers ?? {}).length > 0 && html`<h3>Headers</h3><dl class="facts">${Object.entries(data.headers).map(([name, value]) => html`<dt class="given">${name}</dt><dd>${value}</dd>`)}</dl>`}<//></div>
      <${Card} title="Body" actions=${body.text !== null && may("operator") && (edited === null ? html`${keptEdit && html`<${Act} action="Take the edit back" request=${{ method: "DELETE", path: `${path}/body`, body: { expected: keptEdit.digest } }} done=${() => { toast("Replays send the body as it came"); letter.reload(); }} />`}<button disabled=${!isOpen} onClick=${() => { begun.current = body.digest; edit(current); }}>Edit…</button>` : html`<button class="ghost" onClick=${() => edit(indent(edited) ?? edited)}>Indent</button><button onClick=${() => edit(null)}>Drop the edit</button><button disabled=${edited === current} onClick=${() => open("keep")}>Keep the edit…</button>`)}>
        <${Problem} error=${body.error} />${keptEdit && html`<div class="banner calm">Edited by ${keptEdit.by}, <${Time} at=${keptEdit.at} />${keptEdit.reason && `: ${keptEdit.reason}`}. Replays send the edited body, ${bytes(keptEdit.bytes)}.</div>`}${!may("administrator") ? html`<p class="quiet">The body as it came is shown to administrators; the journey shows what the audit recorded.</p>` : body.binary !== undefined ? html`<p class="quiet">Binary, ${bytes(body.binary)}. <a href=${`/api/dead-letters/${id}/body`} download>Download</a></p>` : edited === null ? html`<pre class="code" tabIndex="0">${indent(current ?? "") ?? current}</pre>${body.kept !== null && html`<h3>Change since it came</h3><${Diff} before=${body.text} after=${body.kept} />`}`
          : html`<textarea class="code editor" aria-label="Edited body" rows="14" spellcheck="false" value=${edited} onInput=${event => edit(event.target.value)}></textarea><h3>Change</h3><${Diff} before=${body.text} after=${edited} />`}<//>
      ${dialog === "replay" && html`<${ReplayDialog} title="Replay this letter" selection=${{ ids: [data.id] }} edit=${edited !== null && edited !== current ? { body: edited } : undefined} close=${() => open(null)} />`}${dialog === "keep" && html`<${Keep} path=${`${path}/body`} body=${edited} expected=${begun.current} close=${() => open(null)} done=${() => { edit(null); letter.reload(); }} />`}${dialog === "discard" && html`<${Discard} selection=${{ ids: [data.id] }} count="This letter" close=${() => open(null)} done=${letter.reload} />`}`}<//>`;
}

const percent = (part, whole) => whole ? Math.round(part / whole * 100) : 0;

function Progress({ job }) {
  return html`<span class="progress" title=${`${job.replayed} of ${job.total} sent, ${job.failed} failed again`}><progress max=${job.total || 1} value=${job.replayed} aria-label="Progress"></progress> ${percent(job.replayed, job.total)} %</span>`;
}

function Jobs() {
  const pages = usePages(after => `/api/replays${query({ after })}`, { every: 3000 });
  return html`<${Page} title="Replays" hint="Jobs that send dead letters again." actions=${html`<a class="button" href="#/dead-letters">Dead letters</a>`} /><${Card} flush><${Loaded} of=${pages.first} empty=${html`<${Empty} title="Nothing was replayed yet" />`}>${() => html`<${Table} label="Replay jobs" rows=${pages.items} open=${row => go(`/dead-letters/jobs/${row.id}`)} columns=${[["Created", row => html`<${Time} at=${row.createdAt} />`], ["State", row => html`<${State} of=${row.state} />`], ["Progress", row => html`<${Progress} job=${row} />`], ["Failed again", row => number(row.failed), "right"], ["By", row => row.createdBy], ["Reason", row => row.reason ?? "–", "wide-only"]]} /><${Further} pages=${pages} label="Older replays" />`}<//><//>`;
}

function Job({ id }) {
  const job = useApi(`/api/replays/${encodeURIComponent(id)}`, { every: 1000, on: ["dead-letter"] });
  const outcomes = usePages(after => `/api/dead-letters${query({ job: id, after, limit: 200 })}`, { every: 3000 });
  const change = (verb, action, style) => html`<${Act} action=${action} style=${style} request=${{ method: "POST", path: `/api/replays/${id}/${verb}`, body: {} }} done=${job.reload} />`;
  return html`<${Page} title="Replay" hint=${html`<code>${id}</code>`} actions=${html`<a class="button" href="#/dead-letters/jobs">All replays</a>${may("operator") && job.data && html`${job.data.state === "running" && change("pause", "Pause")}${["paused", "stopped"].includes(job.data.state) && change("resume", "Resume", "primary")}${!["completed", "cancelled"].includes(job.data.state) && change("cancel", "Cancel", "danger")}`}`} />
    <${Loaded} of=${job}>${data => html`<div class="tiles"><div class="tile"><span>State</span><strong><${State} of=${data.state} /></strong></div><div class="tile"><span>Sent</span><strong>${number(data.replayed)}</strong><small>of ${number(data.total)}</small></div><div class=${`tile ${data.failed ? "bad" : ""}`}><span>Failed again</span><strong>${number(data.failed)}</strong><small>${percent(data.failed, data.replayed)} %</small></div><div class="tile"><span>Pace</span><strong class="small">${data.rate ? `${data.rate}/s` : "no limit"}</strong><small>${data.stopAtFailureShare ? `stops at ${data.stopAtFailureShare * 100} % failures` : ""}</small></div></div>${data.trouble && html`<div class="banner warn">${data.trouble}</div>`}<${Card}><${Progress} job=${data} /><//>`}<//>
    <${Card} title="Outcome of each" flush><${Loaded} of=${outcomes.first} empty=${html`<${Empty} title="No letters" />`}>${() => html`<${Table} label="Letters of the job" rows=${outcomes.items} open=${row => go(`/messages/${row.replayedAs ?? row.messageId}`)} columns=${[["State", row => html`<${State} of=${row.state} />`], ["Message", row => html`<${Id} id=${row.messageId} />`], ["Endpoint", row => row.endpoint], ["Replays", row => row.replays, "right"], ["Reason", row => html`<span class="clip">${row.reason}</span>`]]} /><${Further} pages=${outcomes} label="Older letters" />`}<//><//>`;
}

export default function DeadLetters({ rest, search }) {
  if (rest[0] === "jobs") return rest[1] ? html`<${Job} key=${rest[1]} id=${rest[1]} />` : html`<${Jobs} />`;
  return rest.length ? html`<${Letter} key=${rest[0]} id=${rest[0]} />` : html`<${List} search=${search} />`;
}
