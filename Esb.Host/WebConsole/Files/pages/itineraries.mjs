// Itineraries: messages on their way over durable stops, where each stands, and the stops that it has passed or undone.

import { query } from "../api.mjs";
import { Card, duration, Empty, Field, Further, go, html, Id, Loaded, Page, State, Table, Time, useApi, usePages, words } from "../ui.mjs";

const states = ["waiting", "completed", "compensated", "compensation-failed"];
const names = ["name", "state", "stop"];
const filterOf = search => Object.fromEntries(names.filter(name => search[name]).map(name => [name, search[name]]));

function List({ search }) {
  const path = after => `/api/itineraries${query({ ...filterOf(search), after, limit: 100 })}`;
  const pages = usePages(path, { every: 3000 });
  const filter = filterOf(search);
  const filtered = Object.keys(filter).length > 0;
  const submit = event => { event.preventDefault(); go(`/itineraries${query(Object.fromEntries([...new FormData(event.target)]))}`); };
  return html`<${Page} title="Itineraries" hint="Messages on itineraries with durable stops, newest first." />
    <form class="filters card" onSubmit=${submit} key=${JSON.stringify(filter)}><${Field} label="Itinerary"><input name="name" defaultValue=${search.name} /><//><${Field} label="State"><select name="state"><option value="">any</option>${states.map(state => html`<option value=${state} selected=${state === search.state}>${words(state)}</option>`)}</select><//><${Field} label="Stop"><input name="stop" defaultValue=${search.stop} /><//><button>Filter</button>${filtered && html`<a class="button" href="#/itineraries">Clear</a>`}</form>
    <${Card} title="Messages" flush><${Loaded} of=${pages.first} empty=${html`<${Empty} title=${filtered ? "No message fits" : "No message is on an itinerary"}>A stop with <code>"durable": true</code> keeps its message in the store; itineraries without one leave nothing to see here.<//>`}>${() => html`<${Table} label="Messages" rows=${pages.items} keyOf=${row => row.messageId} open=${row => go(`/itineraries/${row.messageId}`)} columns=${[
      ["State", row => html`<${State} of=${row.state} title=${row.reason} />`], ["Itinerary", row => html`<strong>${row.itinerary}</strong>`], ["Stop", row => html`<code>${row.stop}</code>`], ["Started", row => html`<${Time} at=${row.startedAt} />`], ["Changed", row => html`<${Time} at=${row.changedAt} ago />`, "wide-only"], ["Message", row => html`<${Id} id=${row.messageId} href=${`#/itineraries/${row.messageId}`} />`, "wide-only"], ["Failure", row => row.code ? html`<span class="clip">${row.code} ${row.reason ?? ""}</span>` : "–"]]} />
      <${Further} pages=${pages} label="Older messages" />`}<//><//>`;
}

const passed = { "itinerary-stop": "passed", "itinerary-compensated": "undone", "itinerary-compensation-failed": "undoing failed" };

function Stops({ id }) {
  const journey = useApi(`/api/messages/${encodeURIComponent(id)}`, { every: 3000 });
  return html`<${Card} title="Stops" flush><${Loaded} of=${journey}>${data => html`<${Table} label="Stops" rows=${data.items.filter(fact => passed[fact.name])} keyOf=${fact => `${fact.name} ${fact.step} ${fact.time}`} columns=${[
    ["Stop", fact => html`<code>${fact.step}</code>`], ["", fact => html`<${State} of=${passed[fact.name]} title=${fact.reason} />`], ["At", fact => html`<${Time} at=${fact.time} />`], ["Took", fact => fact.durationSeconds === undefined || fact.durationSeconds === null ? "–" : duration(fact.durationSeconds), "right"], ["Failure", fact => fact.code ? html`<span class="clip">${fact.code} ${fact.reason ?? ""}</span>` : "–"]]} />`}<//><//>`;
}

function One({ id }) {
  const run = useApi(`/api/itineraries/${encodeURIComponent(id)}`, { every: 3000 });
  return html`<${Page} title="Itinerary" actions=${html`<a class="button" href="#/itineraries">All itineraries</a><a class="button" href=${`#/messages/${encodeURIComponent(id)}`}>Journey</a>`} /><${Loaded} of=${run}>${data => html`<${Card} title=${data.itinerary}><dl class="facts"><dt>State</dt><dd><${State} of=${data.state} /></dd><dt>Stop</dt><dd><code>${data.stop}</code></dd><dt>Started</dt><dd><${Time} at=${data.startedAt} /></dd><dt>Changed</dt><dd><${Time} at=${data.changedAt} /></dd>${data.code && html`<dt>Failure</dt><dd>${data.code} ${data.reason ?? ""}</dd>`}<dt>Definition</dt><dd>${data.stops ? html`<code>${data.stops}</code>` : "the configuration has no such itinerary any more"}</dd><dt>Conversation</dt><dd><${Id} id=${data.conversationId} href=${`#/messages/${data.conversationId}`} /></dd></dl><//>`}<//><${Stops} id=${id} />`;
}

export default function Itineraries({ rest, search }) {
  return rest.length ? html`<${One} key=${rest[0]} id=${rest[0]} />` : html`<${List} search=${search} />`;
}
