// Keys whose messages wait behind a failed one, in their order.

import { may, query } from "../api.mjs";
import { ActionForm, bytes, Card, Dialog, Empty, Field, Further, go, html, Id, Loaded, number, Page, Table, Time, toast, usePages, useState } from "../ui.mjs";

const pathOf = (endpoint, line) => `/api/parked/${encodeURIComponent(endpoint)}/${encodeURIComponent(line)}`;
const nameOf = line => line === "*" ? "the whole endpoint" : line === "~" ? "messages without a key" : line;

function Release({ endpoint, line, close, done }) {
  const [reason, set] = useState("");
  const [path, body] = [`${pathOf(endpoint, line)}/release`, { reason: reason || undefined }];
  return html`<${Dialog} title="Release" close=${close}><${ActionForm} action="Release" request=${{ method: "POST", path, body }} cancel=${close} done=${() => { toast("The first message is tried again"); close(); done(); }}>
    <p>The first message of <strong>${nameOf(line)}</strong> at <strong>${endpoint}</strong> is tried again now; if it arrives, those behind it follow in their order.</p><${Field} label="Reason"><input value=${reason} onInput=${event => set(event.target.value)} /><//><//><//>`;
}

function Discard({ endpoint, line, message, close, done }) {
  const [reason, set] = useState("");
  const [path, body] = [`${pathOf(endpoint, line)}/discard`, message ? { messageId: message, reason } : { all: true, reason }];
  return html`<${Dialog} title="Discard" close=${close}><${ActionForm} action="Discard" danger request=${{ method: "POST", path, body }} cancel=${close} done=${answer => { toast(`${number(answer.discarded)} discarded`); close(); done(); }}>
    <p>${message ? "This message" : html`Every message of <strong>${nameOf(line)}</strong>`} will not be delivered. Delivery continues with the rest.</p><${Field} label="Reason"><input required autofocus value=${reason} onInput=${event => set(event.target.value)} /><//><//><//>`;
}

function Lines() {
  const pages = usePages(after => `/api/parked${query({ after, limit: 100 })}`, { every: 15000, on: ["parked", "endpoint"] });
  const [dialog, open] = useState(null);
  return html`<${Page} title="Parked keys" hint="Messages that wait behind a failed one, so that the order of their key is kept." /><${Card} flush><${Loaded} of=${pages.first} empty=${html`<${Empty} title="No key waits">Ordered endpoints deliver everything in its turn.<//>`}>${() => html`<${Table} label="Parked keys" rows=${pages.items} keyOf=${row => `${row.endpoint} ${row.line}`} open=${may("operator") && (row => go(`/parked/${encodeURIComponent(row.endpoint)}/${encodeURIComponent(row.line)}`))} columns=${[
    ["Key", row => html`<strong>${nameOf(row.line)}</strong>`], ["Endpoint", row => html`<a href=${`#/endpoints/${encodeURIComponent(row.endpoint)}`}>${row.endpoint}</a>`], ["Waiting", row => number(row.count), "right"], ["Since", row => html`<${Time} at=${row.since} ago />`], ["Next attempt", row => row.dueAt ? html`<${Time} at=${row.dueAt} />` : html`<span class="quiet">an operator decides</span>`, "wide-only"], ["Last failure", row => html`<span class="clip">${row.failure ? `${row.failure.code} ${row.failure.reason}` : ""}</span>`],
    ["", row => may("operator") && html`<button class="small" onClick=${() => open(row)}>Release…</button>`, "right"]]} /><${Further} pages=${pages} label="Further keys" />`}<//><//>${dialog && html`<${Release} endpoint=${dialog.endpoint} line=${dialog.line} close=${() => open(null)} done=${pages.first.reload} />`}`;
}

function Line({ endpoint, line }) {
  const pages = usePages(after => `${pathOf(endpoint, line)}${query({ after, limit: 100 })}`, { on: ["parked", "endpoint"], every: 15000 });
  const messages = pages.first;
  const [dialog, open] = useState(null);
  const close = () => open(null);
  return html`<${Page} title=${nameOf(line)} hint=${html`at <strong>${endpoint}</strong>, in the order of delivery`} actions=${html`<a class="button" href="#/parked">All keys</a><button class="danger" onClick=${() => open("all")}>Discard all…</button><button class="primary" onClick=${() => open("release")}>Release…</button>`} />
    <${Card} flush>${messages.error?.status === 404 ? html`<${Empty} title="Nothing waits here any more" />` : html`<${Loaded} of=${messages}>${() => html`<${Table} label="Waiting messages" rows=${pages.items} columns=${[["Message", row => html`<${Id} id=${row.id} href=${`#/messages/${row.id}`} />`], ["Subject", row => row.subject ?? "–"], ["Since", row => html`<${Time} at=${row.since} />`], ["Size", row => bytes(row.bodyBytes), "right"], ["Failures", row => row.failures.length, "right"], ["Last failure", row => html`<span class="clip">${row.failures.length ? `${row.failures[row.failures.length - 1].code} ${row.failures[row.failures.length - 1].reason}` : "waits behind another"}</span>`], ["", row => html`<button class="small" onClick=${() => open(row.id)}>Discard…</button>`, "right"]]} /><${Further} pages=${pages} label="Further messages" />`}<//>`}<//>
    ${dialog === "release" && html`<${Release} endpoint=${endpoint} line=${line} close=${close} done=${messages.reload} />`}${dialog && dialog !== "release" && html`<${Discard} endpoint=${endpoint} line=${line} message=${dialog === "all" ? null : dialog} close=${close} done=${messages.reload} />`}`;
}

export default function Parked({ rest }) {
  return rest.length === 2 && may("operator") ? html`<${Line} key=${rest.join("/")} endpoint=${rest[0]} line=${rest[1]} />` : html`<${Lines} />`;
}
