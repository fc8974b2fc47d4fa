// A message painted on the processes that it ran, from the facts that the audit recorded.

import { PaintedProcess } from "./trace.mjs";
import { Empty, html, Loaded, number, useApi } from "./ui.mjs";

// The runs of steps, with the bodies that were recorded before and after them.
export function runsOf(facts) {
  const bodies = [];
  const keep = fact => {
    if (fact.bodyState === undefined && fact.body === undefined) return undefined;
    bodies.push({ number: bodies.length, state: fact.body === undefined ? fact.bodyState : "whole", contentType: fact.contentType, bytes: fact.bodyBytes, text: fact.body });
    return bodies.length - 1;
  };
  const runs = [];
  let last = facts.find(fact => fact.kind === "received" && fact.body !== undefined);
  let current = last && keep(last);
  for (const fact of facts.filter(one => one.step && one.process)) {
    const open = runs.findLast(run => run.place === fact.step && run.process === fact.process && run.isOpen);
    if (fact.kind === "step-ended" && fact.name === "before") {
      current = keep(fact);
      runs.push({ place: fact.step, process: fact.process, before: current, isOpen: true });
      continue;
    }
    const run = open ?? { place: fact.step, process: fact.process, before: current };
    if (!open) runs.push(run);
    const after = keep(fact);
    Object.assign(run, { isOpen: false, seconds: fact.durationSeconds ?? run.seconds ?? 0, code: fact.code ?? run.code, reason: fact.reason ?? run.reason });
    if (after !== undefined) { run.after = after; if (fact.kind === "step-ended") current = after; }
  }
  return { runs, bodies };
}

function OneProcess({ name, facts }) {
  const plan = useApi(`/api/processes/${encodeURIComponent(name)}`);
  const own = facts.filter(fact => fact.process === name);
  const revisions = [...new Set(own.map(fact => fact.revision).filter(Boolean))];
  const isWhole = own.some(fact => fact.kind === "step-ended" && !fact.code && !fact.name);
  const { runs, bodies } = runsOf(facts);
  if (plan.error?.status === 404) return html`<p class="quiet">The running configuration has no process ${name} any more: its drawing is in an earlier version.</p>`;
  return html`<${Loaded} of=${plan}>${data => html`${revisions.some(revision => revision !== data.revision) && html`<div class="banner warn">The message ran with revision ${revisions.join(", ")}; the drawing is that of ${data.revision}, which runs now.</div>`}
    <${PaintedProcess} process=${data} runs=${runs} bodies=${bodies} none=${isWhole ? "did not run" : "not recorded"} />
    <p class="quiet note">Recorded by the audit. ${isWhole ? "Every step that ended left a fact." : html`Only failures, calls and publishes leave a fact: with <code>"audit": { "steps": true }</code> at the endpoint, every step does.`} ${number(bodies.filter(body => body.text !== undefined).length)} bodies were recorded; a trace records them before and after each step.</p>`}<//>`;
}

export function Recorded({ items, message }) {
  const own = items.filter(fact => fact.messageId === message.id);
  const names = [...new Set(own.filter(fact => fact.step && fact.process).map(fact => fact.process))];
  if (names.length === 0) return html`<${Empty} title="No steps are recorded of this message">A trace of the endpoint records the steps of the next messages with their bodies. With <code>"audit": { "steps": true }</code> at the endpoint, each step leaves a fact; failures are always recorded.<//>`;
  return html`${names.map(name => html`<${OneProcess} key=${name} name=${name} facts=${own} />`)}`;
}
