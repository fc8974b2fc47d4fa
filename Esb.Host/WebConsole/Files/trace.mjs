// Traces of an endpoint, and a message painted on the processes that it ran.

import { may } from "./api.mjs";
import { Act, ActionForm, Body, Card, Dialog, Diff, duration, Empty, Field, html, Id, Loaded, number, State, Table, Time, toast, useApi, useState } from "./ui.mjs";

export const pagePath = (trace, pass) => `#/messages/trace/${trace}/${pass}`;

export function StartTrace({ endpoint, close, done }) {
  const [form, set] = useState({ for: "5m", count: 20, where: "", reason: "" });
  const input = name => event => set({ ...form, [name]: event.target.value });
  const body = { endpoint, for: form.for, count: Number(form.count), where: form.where.split(",").map(one => one.trim()).filter(Boolean), reason: form.reason || undefined };
  return html`<${Dialog} title=${`Trace ${endpoint}`} close=${close}><${ActionForm} action="Trace" request=${{ method: "POST", path: "/api/traces", body }} cancel=${close} done=${() => { toast("The trace records, and ends by itself"); close(); done(); }}>
    <p>Each step of the messages that pass from now on is recorded on every host, with the body before and after it, masked as the audit masks. What is recorded stays in memory, and you stand in the audit for it.</p>
    <div class="fields"><${Field} label="For" hint="up to 1h"><input required value=${form.for} onInput=${input("for")} /><//><${Field} label="Messages" hint="on each host"><input type="number" min="1" max="1000" required value=${form.count} onInput=${input("count")} /><//></div>
    <${Field} label="Only with" hint="name=value, separated by commas: a field of the audit, header.NAME, property.NAME, subject, party, key, id"><input placeholder="orderId=4711" value=${form.where} onInput=${input("where")} /><//><${Field} label="Reason"><input value=${form.reason} onInput=${input("reason")} /><//><//><//>`;
}

export function Traces({ endpoint, traces }) {
  const own = traces.data?.items.filter(one => one.endpoint === endpoint) ?? [];
  if (own.length === 0) return null;
  return html`${own.map(trace => html`<${Card} key=${trace.id} flush title=${html`Trace <${State} of=${trace.state} />`} actions=${trace.state === "running" && may("operator") && html`<${Act} action="End the trace" style="small" request=${{ method: "DELETE", path: `/api/traces/${trace.id}` }} done=${traces.reload} />`}>
    <p class="quiet note inset">By ${trace.by} since <${Time} at=${trace.startedAt} />, until <${Time} at=${trace.endsAt} /> or ${trace.count} messages on each host${trace.where.length > 0 && html`, only with <code>${trace.where.join(", ")}</code>`}${trace.reason && `: ${trace.reason}`}</p>
    ${trace.messages.length === 0 ? html`<${Empty} title=${trace.state === "running" ? "No message has passed yet" : "No message passed"} />` : html`<${Table} label="Traced messages" rows=${[...trace.messages].reverse()} open=${row => { location.hash = pagePath(trace.id, row.id).slice(1); }} columns=${[["Time", row => html`<${Time} at=${row.startedAt} />`], ["Message", row => html`<${Id} id=${row.messageId} href=${pagePath(trace.id, row.id)} />`], ["Process", row => html`<${State} of=${row.outcome} />`], ["Took", row => duration(row.seconds), "right"], ["Attempt", row => row.attempt > 1 ? row.attempt : "–", "right"], ["Failure", row => row.code ? html`<span class="clip">${row.code} ${row.reason ?? ""}</span>` : "–"], ["Host", row => html`<span class="quiet">${row.host}</span>`, "wide-only"]]} />`}<//>`)}`;
}

const why = { withheld: "a mask withholds it", binary: "it is no text", streaming: "it was not in memory", "over-limit": "the trace had as many bytes as it may have" };

function Change({ run, bodies }) {
  const [before, after] = [bodies[run.before], bodies[run.after]];
  if (run.after === undefined) return html`<p class="quiet">${run.seconds === undefined ? "The step had not ended: what it left was not recorded." : "The body was not recorded at this step."}</p>`;
  if (run.before === run.after) return html`<p class="quiet">The body is unchanged.</p>${before?.text !== undefined && html`<details><summary>The body</summary><${Body} text=${before.text} bytes=${before.bytes} type=${before.contentType} /></details>`}`;
  const missing = [["before", before], ["after", after]].filter(([, body]) => body?.text === undefined);
  return html`${missing.map(([when, body]) => html`<p class="quiet">The body ${when} the step was not recorded: ${why[body?.state] ?? "unknown"}.</p>`)}
    ${[before, after].some(body => body?.state === "truncated") && html`<p class="quiet">Only the first 64 KiB of a body are recorded.</p>`}
    ${missing.length === 0 ? html`<h3>What the step changed</h3><${Diff} before=${before.text} after=${after.text} />` : after?.text !== undefined && html`<${Body} text=${after.text} bytes=${after.bytes} type=${after.contentType} />`}`;
}

const mostRuns = 20;

function Run({ run, bodies }) {
  return html`<div class="stepbody">${run.part && html`<p class="quiet">With part <${Id} id=${run.part} />, ${duration(run.seconds)}</p>`}${run.code && html`<p><code class="badtext">${run.code}</code> ${run.reason ?? ""}</p>`}<${Change} run=${run} bodies=${bodies} /></div>`;
}

function Planned({ step, runs, bodies, of, none }) {
  const [isOpen, open] = useState(false);
  const failed = runs.find(run => run.code);
  const seconds = runs.reduce((sum, run) => sum + (run.seconds ?? 0), 0);
  return html`<li class=${runs.length === 0 ? "idle" : failed ? "bad" : "good"}><button type="button" class="step" aria-expanded=${isOpen} disabled=${runs.length === 0} onClick=${() => open(!isOpen)}><strong>${step.description.startsWith(step.kind) ? step.description : `${step.kind} ${step.description}`}</strong><span class="place">${step.place.replace(/^processes\./, "")}</span>${runs.length > 1 && html`<em>${number(runs.length)} times</em>`}<span class="spring"></span>${failed && html`<code>${failed.code}</code>`}${runs.some(run => run.before !== run.after && run.after !== undefined) && html`<em>changed the body</em>`}<span>${runs.length === 0 ? none : duration(seconds)}</span></button>
    ${isOpen && html`${runs.slice(0, mostRuns).map(run => html`<${Run} run=${run} bodies=${bodies} />`)}${runs.length > mostRuns && html`<p class="quiet">${number(runs.length - mostRuns)} further runs are in the download.</p>`}`}
    ${step.lists.map((list, index) => { const ran = list.some(one => of(one).length > 0); return list.length > 0 && html`<div class=${`branch ${ran ? "taken" : ""}`}>${step.lists.length > 1 && html`<small>branch ${index + 1}${ran ? ", taken" : none === "did not run" ? ", not taken" : ""}</small>`}<ol class="steps">${list.map(one => html`<${Planned} key=${one.place} step=${one} runs=${of(one)} bodies=${bodies} of=${of} none=${none} />`)}</ol></div>`; })}</li>`;
}

// A process with what ran of it. None: what is said of a step without a run.
export function PaintedProcess({ process, runs, bodies, none = "did not run" }) {
  const of = step => runs.filter(run => run.place === step.place && run.process === process.name);
  return html`<h3>Process ${process.name}</h3><ol class="steps painted" aria-label=${`Steps of ${process.name}`}>${process.steps.map(step => html`<${Planned} key=${step.place} step=${step} runs=${of(step)} bodies=${bodies} of=${of} none=${none} />`)}</ol>`;
}

export function Painted({ trace, pass }) {
  const traced = useApi(`/api/traces/${encodeURIComponent(trace)}/messages/${encodeURIComponent(pass)}`);
  return html`<${Loaded} of=${traced}>${({ pass: { startedAt, seconds, outcome, code, reason, host }, processes, steps, bodies, furtherSteps }) => {
    const unrecorded = bodies.filter(body => body.text === undefined).length;
    return html`<p><${State} of=${outcome} /> in ${duration(seconds)} on ${host}, <${Time} at=${startedAt} />${code && html`: <code>${code}</code> ${reason ?? ""}`}</p>
      ${processes.map(process => html`<${PaintedProcess} process=${process} runs=${steps} bodies=${bodies} />`)}
      <p class="quiet note">Recorded by a trace; times include the steps within a step. ${furtherSteps > 0 && `${number(furtherSteps)} further steps ran and were not recorded. `}${unrecorded > 0 && `${number(unrecorded)} of ${number(bodies.length)} bodies were not recorded; the steps say why. `}Steps of workflows, and what other endpoints do with the message, are not part of it.</p>`;
  }}<//>`;
}
