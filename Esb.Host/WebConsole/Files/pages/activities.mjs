// Activities: how many begin, end and are late, how long the way between milestones takes, and which items wait.

import { query } from "../api.mjs";
import { Chart } from "../chart.mjs";
import { Card, duration, Empty, Further, go, html, Id, Loaded, number, Page, State, Table, Time, useApi, usePages, useState } from "../ui.mjs";

const periods = { "1 hour": [3600, "1m"], "1 day": [86400, "15m"], "7 days": [604800, "2h"], "30 days": [2592000, "12h"] };

function Period({ value, set }) {
  return html`<label class="inline"><span class="hidden">Period</span><select value=${value} onChange=${event => set(event.target.value)}>${Object.keys(periods).map(name => html`<option>${name}</option>`)}</select></label>`;
}

// Rounded to a minute, so that the path does not change with every drawing.
const fromOf = period => new Date(Math.floor((Date.now() - periods[period][0] * 1000) / 60000) * 60000).toISOString();

function List() {
  const [period, set] = useState("1 day");
  const activities = useApi(`/api/activities${query({ from: fromOf(period) })}`, { every: 30000 });
  return html`<${Page} title="Activities" hint="Business activities, followed over the messages that carry them." actions=${html`<${Period} value=${period} set=${set} />`} /><${Card} flush><${Loaded} of=${activities} empty=${html`<${Empty} title="No activities are configured">Name the milestones of a business activity in <code>audit.activities</code>; its funnel and durations appear here.<//>`}>${data => html`<${Table} label="Activities" rows=${data.items} keyOf=${row => row.name} open=${row => go(`/activities/${encodeURIComponent(row.name)}`)} columns=${[
    ["Activity", row => html`<strong>${row.name}</strong>`], ["Began", row => number(row.started), "right"], ["Ended", row => number(row.completed), "right"], ["Late", row => number(row.completedLate), "right"], ["In progress", row => number(row.inProgress), "right"], ["Overdue", row => row.overdue ? html`<span class="badtext">${number(row.overdue)}</span>` : number(row.overdue), "right"], ["Median", row => duration(whole(row)?.p50), "right"], ["p95", row => duration(whole(row)?.p95), "right"]]} />`}<//><//>`;
}

const whole = report => report.durations.find(one => one.from === "start" && one.to === "end");

function Funnel({ report }) {
  const steps = report.durations.filter(one => !(one.from === "start" && one.to === "end"));
  if (!steps.length) return html`<p class="quiet">Nothing passed two milestones in this period.</p>`;
  const most = Math.max(1, report.started, ...steps.map(one => one.count));
  return html`<ol class="funnel"><li><span>began</span><meter min="0" max=${most} value=${report.started} aria-label="began"></meter><strong>${number(report.started)}</strong><span></span></li>${steps.map(one => html`<li><span>${one.from} → ${one.to}</span><meter min="0" max=${most} value=${one.count} aria-label=${one.to}></meter><strong>${number(one.count)}</strong><span class="quiet">median ${duration(one.p50)}, p95 ${duration(one.p95)}</span></li>`)}</ol>`;
}

function One({ name, search }) {
  const [period, set] = useState("1 day");
  const from = fromOf(period);
  const path = `/api/activities/${encodeURIComponent(name)}`;
  const report = useApi(`${path}${query({ from, bucket: periods[period][1] })}`, { every: 30000 });
  const pages = usePages(after => `${path}/items${query({ state: search.state ?? "overdue", after, limit: 100 })}`, { every: 30000 });
  return html`<${Page} title=${name} actions=${html`<a class="button" href="#/activities">All activities</a><${Period} value=${period} set=${set} />`} /><${Loaded} of=${report}>${data => html`<div class="tiles"><div class="tile"><span>Began</span><strong>${number(data.started)}</strong></div><div class="tile"><span>Ended</span><strong>${number(data.completed)}</strong><small>${data.completedLate ? `${number(data.completedLate)} late` : ""}</small></div><div class="tile"><span>In progress</span><strong>${number(data.inProgress)}</strong></div><div class=${`tile ${data.overdue ? "bad" : ""}`}><span>Overdue</span><strong>${number(data.overdue)}</strong></div></div>
      <div class="columns"><${Card} title="Way between milestones"><${Funnel} report=${data} /><//><${Card} title="Over time"><${Chart} key=${period} label=${`Items of ${name} over time`} data=${[data.buckets.map(one => new Date(one.from) / 1000), data.buckets.map(one => one.started), data.buckets.map(one => one.completed)]} series=${[{ label: "began", color: "--accent" }, { label: "ended", color: "--good" }]} /><//></div>`}<//>
    <div class="tabs" role="tablist">${["overdue", "in-progress", "completed"].map(state => html`<button role="tab" aria-selected=${state === (search.state ?? "overdue")} onClick=${() => go(`/activities/${encodeURIComponent(name)}?state=${state}`)}>${state.replace("-", " ")}</button>`)}</div>
    <${Card} flush><${Loaded} of=${pages.first} empty=${html`<${Empty} title="No items in this state" />`}>${() => html`<${Table} label="Items" rows=${pages.items} keyOf=${row => row.conversationId + (row.key ?? "")} columns=${[["Key", row => html`<strong>${row.key ?? "–"}</strong>`], ["State", row => html`<${State} of=${row.state} />`], ["Began", row => html`<${Time} at=${row.startedAt} />`], ["Due", row => html`<${Time} at=${row.dueAt} />`], ["Ended", row => html`<${Time} at=${row.completedAt} />`, "wide-only"], ["Milestones", row => html`<span class="fieldlist">${Object.keys(row.milestones).map(one => html`<span>${one}</span>`)}</span>`, "wide-only"], ["Journey", row => html`<${Id} id=${row.conversationId} href=${`#/messages/${row.conversationId}`} />`]]} /><${Further} pages=${pages} label="Older items" />`}<//><//>`;
}

export default function Activities({ rest, search }) {
  return rest.length ? html`<${One} key=${rest[0]} name=${rest[0]} search=${search} />` : html`<${List} />`;
}
