// What is wrong first, then the flow of messages with live rates and states.

import { bytes, Card, Empty, html, Icon, Loaded, number, Page, rate, since as ago, State, Time, toneOf, useApi, useEffect, useEvent, useMemo, useRef, useState, words } from "../ui.mjs";

const [width, height] = [176, 48];
const clip = (text, most) => text.length <= most ? text : `${text.slice(0, most - 1)}…`;

function wrongs(flow, health) {
  const found = [];
  for (const one of health?.obstacles ?? []) found.push({ tone: "bad", what: one.name, why: one.reason, href: "#/system" });
  for (const node of flow?.nodes ?? []) {
    if (node.state && ["bad", "warn"].includes(toneOf(node.state))) found.push({ tone: toneOf(node.state), what: node.name, state: node.state, why: node.reason ?? words(node.state), href: `#/endpoints/${encodeURIComponent(node.name)}` });
  }
  const backlog = health?.backlog;
  if (backlog?.deadLetters > 0) found.push({ tone: "bad", what: `${number(backlog.deadLetters)} open dead ${backlog.deadLetters === 1 ? "letter" : "letters"}`, why: backlog.oldestDeadLetter ? `the oldest was last tried ${ago(backlog.oldestDeadLetter)}` : "", href: "#/dead-letters" });
  if (backlog?.parkedKeys > 0) found.push({ tone: "warn", what: `${number(backlog.parkedKeys)} parked ${backlog.parkedKeys === 1 ? "key" : "keys"}`, why: backlog.oldestParked ? `the oldest was parked ${ago(backlog.oldestParked)}` : "", href: "#/parked" });
  return found.sort((one, other) => (one.tone === "bad" ? 0 : 1) - (other.tone === "bad" ? 0 : 1));
}

const link = node => node.kind === "topic" ? `#/topics/${encodeURIComponent(node.name)}` : node.kind === "process" ? `#/messages?process=${encodeURIComponent(node.name)}` : node.kind === "workflow" ? `#/workflows?name=${encodeURIComponent(node.name)}` : `#/endpoints/${encodeURIComponent(node.name)}`;

function Node({ node, live, state, waiting }) {
  const [into, out] = live ? [live.in, live.out] : [0, 0];
  const shown = node.kind === "outbound" ? out || into : into || out;
  return html`<a href=${link(node)} class=${`node ${node.kind} ${state ? toneOf(state) : ""}`}><g transform=${`translate(${node.x} ${node.y})`}>
    <title>${[node.name, node.type, node.detail, state && words(state), node.reason].filter(Boolean).join("\n")}</title>
    <rect width=${width} height=${height} rx=${node.kind === "topic" ? 24 : 8} /><text class="name" x=${node.kind === "topic" ? 20 : 14} y="20">${clip(node.name, shown > 0 ? 16 : 20)}</text>
    <text class="type" x=${node.kind === "topic" ? 20 : 14} y="37">${clip(node.type ?? words(node.kind), waiting > 0 ? 14 : 24)}</text>
    ${state && html`<circle class=${`dot ${toneOf(state)}`} cx=${width - 14} cy="14" r="4" />`}${shown > 0 && html`<text class="rate" x=${width - (state ? 24 : 14)} y="20" text-anchor="end">${rate(shown)}/s</text>`}
    ${waiting > 0 && html`<text class="waiting" x=${width - 14} y="37" text-anchor="end">${number(waiting)} waiting</text>`}</g></a>`;
}

function Edge({ edge, nodes, busy }) {
  const [from, to] = [nodes.get(edge.from), nodes.get(edge.to)];
  if (!from || !to) return null;
  const [x1, y1, x2, y2] = [from.x + width, from.y + height / 2, to.x, to.y + height / 2];
  const bend = Math.max(40, Math.abs(x2 - x1) / 2);
  return html`<path class=${`edge ${edge.kind} ${busy ? "busy" : ""}`} d=${`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2 - 2} ${y2}`} marker-end="url(#arrow)"><title>${`${words(edge.kind)} ${edge.label ?? ""}`}</title></path>`;
}

// A drawing may be longer than a hundred screens: what is in view is in the page, and a screen around it.
const step = 300;

function useView() {
  const element = useRef();
  const [top, move] = useState(0);
  const [seen, see] = useState(innerHeight);
  useEffect(() => {
    const resized = () => see(innerHeight);
    addEventListener("resize", resized);
    return () => removeEventListener("resize", resized);
  }, []);
  const scrolled = () => move(Math.floor(element.current.scrollTop / step) * step);
  return { element, scrolled, isNear: node => node.y + height > top - seen && node.y < top + step + 2 * seen };
}

function Flow({ flow, rates, states }) {
  const view = useView();
  const nodes = useMemo(() => new Map(flow.nodes.map(node => [node.id, node])), [flow]);
  const liveOf = node => rates ? (node.kind === "topic" ? rates.topics : rates.endpoints)[node.name] : { in: node.inPerSecond ?? 0, out: node.outPerSecond ?? 0 };
  // Processes are not counted by themselves: what leads to or from one is as busy as its other end.
  const isBusy = id => { const node = nodes.get(id); if (!node || node.kind === "process" || node.kind === "workflow") return true; const live = liveOf(node); return live && live.in + live.out > 0; };
  const near = new Set(flow.nodes.filter(view.isNear).map(node => node.id));
  return html`<div class="flow" ref=${view.element} onScroll=${view.scrolled} tabIndex="0" role="region" aria-label="Flow of messages; scrolls"><svg class="flowchart" viewBox=${`0 0 ${flow.width} ${flow.height}`} width=${flow.width} height=${flow.height} role="group" aria-label="Flow of messages">
    <defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="head" d="M0 0.5 7.5 4 0 7.5z" /></marker></defs>
    ${flow.edges.map(edge => (near.has(edge.from) || near.has(edge.to)) && html`<${Edge} key=${`${edge.from} ${edge.to} ${edge.kind}`} edge=${edge} nodes=${nodes} busy=${isBusy(edge.from) && isBusy(edge.to)} />`)}
    ${flow.nodes.map(node => near.has(node.id) && html`<${Node} key=${node.id} node=${node} live=${liveOf(node)} state=${states[node.name]?.state ?? node.state} waiting=${node.kind === "outbound" ? (rates ? rates.waiting[node.name] : node.waiting) : 0} />`)}</svg></div>
    <ul class="legend"><li class="inbound">inbound endpoint</li><li class="process">process, workflow</li><li class="topic">topic</li><li class="outbound">outbound endpoint</li></ul>`;
}

export default function Overview() {
  const flow = useApi("/api/flow", { every: 60000, on: ["configuration"] });
  const counted = useApi("/health/ready", { every: 10000, on: ["dead-letter", "parked", "endpoint"] });
  const hosts = useApi("/api/hosts", { every: 15000, on: ["host", "configuration"] });
  const recent = useApi("/api/messages?failed=true&limit=6", { every: 20000, on: ["dead-letter", "parked"] });
  const [rates, setRates] = useState(null);
  const [states, setStates] = useState({});
  // The backlog is counted every few seconds; what has come since is added.
  const [since, add] = useState([]);
  useEvent("dead-letter", event => add(before => [...before.slice(-500), event]));
  useEvent("rates", setRates);
  useEvent("endpoint", changed => setStates(before => ({ ...before, [changed.endpoint]: changed })));
  const later = since.filter(event => counted.data?.backlog?.countedAt && new Date(event.time) > new Date(counted.data.backlog.countedAt)).reduce((sum, event) => sum + event.count, 0);
  const health = later ? { ...counted, data: { ...counted.data, backlog: { ...counted.data.backlog, deadLetters: counted.data.backlog.deadLetters + later } } } : counted;
  const found = flow.data && health.data ? wrongs({ nodes: flow.data.nodes.map(node => ({ ...node, state: states[node.name]?.state ?? node.state, reason: states[node.name] ? states[node.name].reason : node.reason })) }, health.data) : null;
  const sum = kind => Object.values(rates?.endpoints ?? {}).reduce((total, one) => total + one[kind], 0);
  return html`<${Page} title="Overview" hint=${flow.data && html`<strong>${flow.data.name}</strong> · revision <code>${flow.data.revision}</code>`} actions=${html`<a class="button" href="/api/flow?format=svg" download="flow.svg">Save drawing</a>`} />
    <div class="tiles"><div class="tile"><span>In</span><strong>${rate(sum("in"))}</strong><small>messages/s</small></div><div class="tile"><span>Out</span><strong>${rate(sum("out"))}</strong><small>messages/s</small></div>
      <a class=${`tile ${health.data?.backlog?.deadLetters > 0 ? "bad" : ""}`} href="#/dead-letters"><span>Dead letters</span><strong>${number(health.data?.backlog?.deadLetters)}</strong><small>open</small></a><a class=${`tile ${health.data?.backlog?.parkedKeys > 0 ? "warn" : ""}`} href="#/parked"><span>Parked keys</span><strong>${number(health.data?.backlog?.parkedKeys)}</strong><small>waiting</small></a>
      <a class="tile" href="#/system"><span>Hosts</span><strong>${number(hosts.data?.items.length)}</strong><small>${hosts.data ? bytes(hosts.data.items.reduce((total, host) => total + (host.workingSet ?? 0), 0)) : ""}</small></a></div>
    ${found?.length > 0 && html`<${Card} title="Needs attention" flush><ul class="wrongs">${found.map(one => html`<li><a href=${one.href}><span class=${`bar ${one.tone}`}></span><strong>${one.what}</strong>${one.state && html`<${State} of=${one.state} />`}<span class="why">${one.why}</span></a></li>`)}</ul><//>`}
    ${found?.length === 0 && html`<div class="allwell"><${Icon} name="check" /> Everything runs: no endpoint is held, nothing waits for an operator.</div>`}
    <${Card} title="Flow" flush><${Loaded} of=${flow}>${data => data.nodes.length === 0 ? html`<${Empty} title="Nothing is configured yet" />` : html`<${Flow} flow=${data} rates=${rates} states=${states} />`}<//><//>
    <${Card} title="Latest failures" flush actions=${html`<a href="#/messages?failed=true">All failures</a>`}><${Loaded} of=${recent} empty=${html`<${Empty} title="No failures are recorded" />`}>${data => html`<ul class="list">${data.items.map(fact => html`<li><a href=${`#/messages/${fact.messageId}`}><${State} of=${fact.kind} /><strong>${fact.endpoint ?? fact.process ?? ""}</strong><code>${fact.code ?? ""}</code><span class="why">${fact.reason ?? ""}</span><${Time} at=${fact.time} ago /></a></li>`)}</ul>`}<//><//>`;
}
