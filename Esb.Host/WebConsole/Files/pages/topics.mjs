// Topics: who subscribes, what found no subscriber, and a test message.

import { may } from "../api.mjs";
import { Act, ActionForm, Card, Dialog, Empty, Field, html, Loaded, number, Page, rate, Table, Time, toast, useApi, useEvent, useState } from "../ui.mjs";

function Send({ topic, close }) {
  const [form, set] = useState({ subject: topic, body: "{}", type: "application/json", count: 1 });
  const path = `/api/topics/${encodeURIComponent(form.subject)}/messages${form.count > 1 ? `?count=${form.count}` : ""}`;
  const input = name => event => set({ ...form, [name]: event.target.value });
  return html`<${Dialog} title="Send a test message" close=${close}><${ActionForm} action="Send" request=${{ method: "POST", path, raw: form.body, type: form.type }} cancel=${close} done=${answer => { toast(`Published ${answer.messageId}`); close(); location.hash = `/messages/${answer.messageId}`; }}>
    <div class="fields"><${Field} label="Subject" hint="the topic, or what begins with it"><input required value=${form.subject} onInput=${input("subject")} /><//><${Field} label="Content type"><input value=${form.type} onInput=${input("type")} /><//><${Field} label="Copies"><input type="number" min="1" max="1000" value=${form.count} onInput=${input("count")} /><//></div>
    <${Field} label="Body"><textarea class="code editor" rows="10" spellcheck="false" value=${form.body} onInput=${input("body")}></textarea><//><//><//>`;
}

function Unroutable() {
  const summary = useApi("/api/unroutable", { every: 30000 });
  return html`<${Card} title="Without a subscriber" flush><${Loaded} of=${summary}>${data => data.count === 0 ? html`<${Empty} title="Every message found a subscriber" />` : html`<${Table} label="Unroutable messages" rows=${data.subjects} keyOf=${row => row.subject} columns=${[["Subject", row => html`<code>${row.subject}</code>`], ["Messages", row => number(row.count), "right"], ["Oldest", row => html`<${Time} at=${row.oldest} ago />`], ["", row => may("operator") && html`<${Act} action="Publish again" style="small" request=${{ method: "POST", path: "/api/unroutable/replays", body: { subject: row.subject, limit: 1000 } }} done=${answer => { toast(answer.unroutable.length > 0 ? `Still nothing subscribes to ${answer.unroutable.join(", ")}` : `${number(answer.replayed)} published again`); summary.reload(); }} />`, "right"]]} />`}<//><//>`;
}

export default function Topics({ rest }) {
  const topics = useApi("/api/topics", { on: ["configuration"] });
  const [rates, setRates] = useState({});
  const [dialog, open] = useState(null);
  useEvent("rates", data => setRates(data.topics));
  return html`<${Page} title="Topics" hint="What applications publish and subscribe." actions=${html`<a class="button" href="/api/asyncapi.json" target="_blank">AsyncAPI</a>`} /><${Card} flush><${Loaded} of=${topics} empty=${html`<${Empty} title="No topics are configured">Messages go straight from inbound to outbound endpoints.<//>`}>${data => html`<${Table} label="Topics" rows=${data.items} selected=${rest[0]} columns=${[
    ["Topic", row => html`<strong>${row.name}</strong>`], ["Kept", row => row.persistent ? "over restarts" : "in memory"], ["Rate", row => html`${rate(rates[row.name]?.in)}/s`, "right"],
    ["Subscribers", row => row.subscriptions.length ? html`<span class="fieldlist">${row.subscriptions.map(one => html`<span><a href=${`#/endpoints/${encodeURIComponent(one.endpoint)}`}>${one.endpoint}</a> <em>${one.pattern}</em></span>`)}</span>` : html`<span class="quiet">none</span>`], ["", row => may("operator") && html`<button class="small" onClick=${() => open(row.name)}>Send…</button>`, "right"]]} />`}<//><//><${Unroutable} />${dialog && html`<${Send} topic=${dialog} close=${() => open(null)} />`}`;
}
