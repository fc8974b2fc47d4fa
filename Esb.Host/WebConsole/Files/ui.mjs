// What all pages share: markup, loading, tables, dialogs, times, texts of strangers.

import { h } from "./vendor/preact.mjs";
import htm from "./vendor/htm.mjs";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/hooks.mjs";
import { ask, curl, get, send } from "./api.mjs";
import * as events from "./events.mjs";

export const html = htm.bind(h);
export { useCallback, useEffect, useMemo, useRef, useState };

// Loads a path, again when it changes, and, unless held, on the given events and at an interval; an answer that came late is dropped.
export function useApi(path, { every, on = [], load, held } = {}) {
  const [state, set] = useState({ data: null, error: null, loading: true });
  const turn = useRef(0);
  const reload = useCallback(async background => {
    if (!path) return;
    const mine = ++turn.current;
    if (!background) set(before => ({ ...before, loading: true }));
    try {
      const data = await (load ? load(path) : get(path, { background }));
      if (mine === turn.current) set({ data, error: null, loading: false });
    } catch (error) {
      if (mine === turn.current) set(before => ({ data: background ? before.data : null, error, loading: false }));
    }
  }, [path]);
  useEffect(() => {
    if (!path) set({ data: null, error: null, loading: false });
    reload(false);
    const timer = every && setInterval(() => { if (!document.hidden && !held?.current) reload(true); }, every);
    let soon = 0;
    // Many events within a moment are one reason to look again.
    const offs = [...on, "reset"].map(kind => events.on(kind, () => { soon ||= setTimeout(() => { soon = 0; if (!held?.current) reload(true); }, 150); }));
    return () => { turn.current++; clearInterval(timer); clearTimeout(soon); offs.forEach(off => off()); };
  }, [path]);
  return { ...state, reload };
}

// A list in pages. The first follows events and the interval, until somebody has gone on to further ones; these belong to the first page
// behind which they were read.
export function usePages(pathOf, options) {
  const [further, setFurther] = useState({ first: null, pages: [] });
  const [state, set] = useState({ busy: false, error: null, first: null });
  const held = useRef(false);
  const first = useApi(pathOf(), { ...options, held });
  const more = further.first === first.data ? further.pages : [];
  held.current = more.length > 0 || state.busy;
  const shown = useRef();
  shown.current = { path: pathOf(), data: first.data };
  const next = more.length ? more[more.length - 1].next : first.data?.next;
  const load = async () => {
    const path = pathOf();
    let error = null;
    set({ busy: true, error, first: first.data });
    try {
      // If the first page was read anew meanwhile, the next one is that behind the new first.
      for (let begun = first.data, after = next; after && shown.current.path === path; begun = shown.current.data, after = begun?.next) {
        const page = await get(pathOf(after));
        if (begun !== shown.current.data) continue;
        setFurther(before => ({ first: begun, pages: [...(before.first === begun ? before.pages : []), page] }));
        break;
      }
    } catch (failure) { error = failure; }
    set({ busy: false, error, first: shown.current.data });
  };
  const items = [first.data, ...more].flatMap(page => page?.items ?? []);
  return { first, items, isFurther: more.length > 0, next, load, busy: state.busy, error: state.first === first.data ? state.error : null };
}

// The button below a list that leads to its next page. Whoever has pressed it once gets more by scrolling.
export function Further({ pages, label }) {
  const end = useRef();
  useEffect(() => {
    if (!pages.next || !pages.isFurther || pages.busy || pages.error) return undefined;
    const watch = new IntersectionObserver(([entry]) => { if (entry.isIntersecting) pages.load(); }, { rootMargin: "600px 0px" });
    watch.observe(end.current);
    return () => watch.disconnect();
  }, [pages.next, pages.isFurther, pages.busy, pages.error]);
  if (!pages.next) return null;
  return html`<${Problem} error=${pages.error} /><div class="pager" ref=${end}><button disabled=${pages.busy} onClick=${pages.load}>${pages.busy ? "Loading…" : label}</button></div>`;
}

export function useEvent(kind, listener) {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => events.on(kind, data => latest.current(data)), [kind]);
}

const icons = {
  overview: "M3 12h5l2-7 4 14 2-7h5", messages: "M4 6h16v12H4z M4 7l8 6 8-6", "dead-letters": "M12 3l9 16H3z M12 9v5 M12 16.5v.5", parked: "M6 4h12v16H6z M10 9v6 M14 9v6",
  topics: "M5 12a7 7 0 0 1 14 0 M8 12a4 4 0 0 1 8 0 M12 12v8", endpoints: "M4 7h6v10H4z M14 7h6v10h-6z M10 12h4", workflows: "M5 4h6v5H5z M13 15h6v5h-6z M8 9v4h8v2",
  itineraries: "M4 12h4 M10 12h4 M16 12h4 M6 9v6 M12 9v6 M18 9v6",
  activities: "M4 20V10 M10 20V4 M16 20v-8 M21 20H3", configuration: "M4 6h10 M18 6h2 M4 12h2 M10 12h10 M4 18h8 M16 18h4 M14 4v4 M6 10v4 M12 16v4", system: "M4 5h16v6H4z M4 13h16v6H4z M7 8h.5 M7 16h.5",
  menu: "M4 6h16 M4 12h16 M4 18h16", sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8z M12 2v2 M12 20v2 M2 12h2 M20 12h2 M5 5l1.4 1.4 M17.6 17.6L19 19 M5 19l1.4-1.4 M17.6 6.4L19 5", copy: "M8 8h11v12H8z M5 16V4h11",
  close: "M6 6l12 12 M18 6L6 18", refresh: "M20 11a8 8 0 1 0-2 6 M20 5v6h-6", search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13z M15.5 15.5L21 21", out: "M14 4h5v16h-5 M4 12h11 M11 8l4 4-4 4", check: "M4 12l5 5L20 6",
};

export const Icon = ({ name }) => html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">${icons[name].split(" M").map((part, index) => html`<path d=${index ? `M${part}` : part} />`)}</svg>`;

// Times are local; UTC stands in the title.
const parts = { month: "short", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" };
const [thisYear, otherYear] = [new Intl.DateTimeFormat(undefined, parts), new Intl.DateTimeFormat(undefined, { year: "numeric", ...parts })];
const shown = date => (date.getFullYear() === new Date().getFullYear() ? thisYear : otherYear).format(date);
export function Time({ at, ago }) {
  const [, tick] = useState(0);
  useEffect(() => { const timer = ago && setInterval(() => tick(Date.now()), 10000); return () => clearInterval(timer); }, [ago]);
  if (!at) return html`<span class="quiet">–</span>`;
  const date = new Date(at);
  return html`<time dateTime=${at} title=${`${date.toISOString()} (UTC)`}>${ago ? since(date) : shown(date)}</time>`;
}

export function since(date) {
  const seconds = Math.max(0, (Date.now() - new Date(date)) / 1000);
  if (seconds < 5) return "just now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return seconds < 172800 ? `${Math.floor(seconds / 3600)} h ago` : `${Math.floor(seconds / 86400)} d ago`;
}

export const number = value => value === null || value === undefined ? "–" : new Intl.NumberFormat().format(value);
export const rate = value => !value ? "0" : value < 10 ? value.toFixed(1) : number(Math.round(value));
export const bytes = value => value === null || value === undefined ? "–" : value < 1024 ? `${value} B` : value < 1048576 ? `${(value / 1024).toFixed(1)} KiB` : value < 1073741824 ? `${(value / 1048576).toFixed(1)} MiB` : `${(value / 1073741824).toFixed(2)} GiB`;
export const duration = seconds => seconds === null || seconds === undefined ? "–" : seconds < 0.001 ? `${Math.round(seconds * 1e6)} µs` : seconds < 1 ? `${(seconds * 1000).toFixed(seconds < 0.01 ? 2 : 0)} ms` : seconds < 120 ? `${seconds.toFixed(1)} s` : seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
export const words = name => String(name ?? "").replaceAll("-", " ");

const tones = {
  running: "good", delivered: "good", replied: "good", completed: "good", replayed: "good", done: "good", ready: "good", published: "good", current: "good",
  paused: "warn", "paused-by-operator": "warn", starting: "warn", standby: "calm", disabled: "calm", parked: "warn", replaying: "warn", "under-way": "warn", overdue: "bad", warning: "warn", suspended: "warn", waiting: "calm", compensating: "warn", "compensation-failed": "bad",
  stopped: "bad", quarantined: "bad", failed: "bad", "dead-lettered": "bad", open: "bad", refused: "bad", expired: "bad", full: "good", responded: "good", ended: "calm", error: "bad", critical: "bad", aborted: "bad", cancelled: "calm", discarded: "calm",
};
export const toneOf = state => tones[state] ?? "calm";
export const State = ({ of, title }) => html`<span class=${`state ${toneOf(of)}`} title=${title}>${words(of)}</span>`;

export function Problem({ error, retry }) {
  if (!error) return null;
  return html`<div class="problem" role="alert"><strong>${error.code ?? "Error"}</strong> <span>${error.message}</span>
    ${error.traceId && html`<small>trace ${error.traceId}</small>`}
    ${error.errors?.length > 0 && html`<ul>${error.errors.map(one => html`<li>${one.code} ${one.path}: ${one.expected}</li>`)}</ul>`}
    ${retry && html`<button class="link" onClick=${() => retry()}>Try again</button>`}</div>`;
}

export const Empty = ({ title, children }) => html`<div class="empty"><p class="title">${title}</p>${children && html`<p>${children}</p>`}</div>`;
export const Loading = () => html`<div class="loading" role="status"><span></span><span></span><span></span><span class="hidden">Loading</span></div>`;

// One of: loading, problem, empty, content.
export function Loaded({ of, empty, children }) {
  if (of.error && !of.data) return html`<${Problem} error=${of.error} retry=${of.reload} />`;
  if (!of.data) return of.loading ? html`<${Loading} />` : null;
  const isEmpty = empty && (Array.isArray(of.data) ? of.data : of.data.items)?.length === 0;
  return html`${of.error && html`<${Problem} error=${of.error} retry=${of.reload} />`}${isEmpty ? empty : children(of.data)}`;
}

export const Page = ({ title, hint, actions, children }) => html`<header class="page"><div><h1 tabIndex="-1">${title}</h1>${hint && html`<p>${hint}</p>`}</div><div class="actions">${actions}</div></header>${children}`;

export const Card = ({ title, actions, children, flush }) => html`<section class=${flush ? "card flush" : "card"}>${title && html`<header><h2>${title}</h2><div class="actions">${actions}</div></header>`}${children}</section>`;

// Columns: [title, row => cell, class]. Rows open by click or Enter. Of a long list only the rows near the view are in the page.
const blockSize = 50;
const wholeBlocks = 4;

export function Table({ columns: all, rows, label, open, selected, keyOf = row => row.id ?? row.name }) {
  const columns = all.filter(([, cell]) => rows.some(row => cell(row) !== "–")); // an empty column tells nothing
  const isLong = rows.length > wholeBlocks * blockSize;
  const head = useRef();
  // The columns of a long list keep the widths that they began with, whichever rows are in the page.
  const titles = isLong ? columns.map(([title]) => title).join() : null;
  const [fixed, fix] = useState({ titles: null, widths: [] });
  const widths = isLong && fixed.titles === titles ? fixed.widths : null;
  useLayoutEffect(() => { if (isLong) fix({ titles, widths: [...head.current.cells].map(cell => cell.offsetWidth / head.current.offsetWidth) }); }, [titles]);
  const draw = (row, index) => html`<tr key=${keyOf(row)} aria-rowindex=${isLong ? index + 2 : undefined} class=${`${open ? "opens" : ""} ${selected === keyOf(row) ? "selected" : ""}`} tabIndex=${open ? 0 : undefined}
    onClick=${open && (event => { if (!event.target.closest("a,button,input,label")) open(row); })} onKeyDown=${open && (event => { if (event.key === "Enter" && event.target === event.currentTarget) open(row); })}>
    ${columns.map(([, cell, style]) => html`<td class=${style}>${cell(row)}</td>`)}</tr>`;
  const blocks = Array.from({ length: Math.ceil(rows.length / blockSize) }, (_, index) => index * blockSize);
  return html`<div class="table" tabIndex="0" role="region" aria-label=${label}><table class=${widths ? "fixed" : ""} aria-rowcount=${isLong ? rows.length + 1 : undefined}>
    <thead><tr ref=${head} aria-rowindex=${isLong ? 1 : undefined}>${columns.map(([title, , style], index) => html`<th scope="col" class=${style} style=${{ width: widths?.[index] ? `${widths[index] * 100}%` : null }}>${title}</th>`)}</tr></thead>
    ${blocks.map(start => html`<${Block} key=${start} start=${start} rows=${rows.slice(start, start + blockSize)} isLong=${isLong} draw=${draw} width=${columns.length} />`)}</table></div>`;
}

// Fifty rows, or the space that they take while they are far from the view.
function Block({ start, rows, isLong, draw, width }) {
  const body = useRef();
  const taken = useRef({ rows: 0, height: 0 });
  const [isNear, set] = useState(start < wholeBlocks * blockSize);
  useEffect(() => {
    if (!isLong) { set(true); return undefined; }
    const look = entries => {
      const { isIntersecting, boundingClientRect } = entries[entries.length - 1];
      const isFocused = body.current.contains(document.activeElement);
      if (!isIntersecting && !isFocused) taken.current = { rows: rows.length, height: boundingClientRect.height };
      set(isIntersecting || isFocused);
    };
    const watch = new IntersectionObserver(look, { rootMargin: "1500px 0px" });
    watch.observe(body.current);
    return () => watch.disconnect();
  }, [isLong, rows.length]);
  const height = taken.current.rows === rows.length ? taken.current.height : rows.length * 38;
  return html`<tbody ref=${body}>${isNear || !isLong ? rows.map((row, index) => draw(row, start + index)) : html`<tr key="space" class="space" aria-hidden="true"><td colSpan=${width} style=${{ height: `${height}px` }}></td></tr>`}</tbody>`;
}

export function Field({ label, hint, children }) {
  return html`<label class="field"><span>${label}</span>${children}${hint && html`<small>${hint}</small>`}</label>`;
}

export async function copy(text) {
  try { await navigator.clipboard.writeText(text); } catch {
    const area = document.createElement("textarea"); // without a secure origin there is no clipboard API
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  toast("Copied");
}

export const CopyCurl = ({ request, small }) => html`<button type="button" class=${`ghost small ${small ? "icon-only" : ""}`} data-curl aria-label=${small ? "Copy the call as curl" : undefined} title="Copy this call for a shell" onClick=${() => copy(curl(request))}><${Icon} name="copy" />${!small && "curl"}</button>`;
export const CopyText = ({ text, label = "Copy" }) => html`<button type="button" class="ghost small icon-only" aria-label=${label} title=${label} onClick=${() => copy(text)}><${Icon} name="copy" /></button>`;
export const Id = ({ id, href }) => !id ? html`<span class="quiet">–</span>` : html`<span class="id" title=${id}>${href ? html`<a href=${href}>${id.slice(0, 8)}…${id.slice(-4)}</a>` : `${id.slice(0, 8)}…${id.slice(-4)}`}</span>`;

let toasts = () => {};
export function toast(text, tone = "good") { toasts({ text, tone, at: Date.now() }); }
export function Toasts() {
  const [shown, show] = useState([]);
  toasts = added => { show(before => [...before.slice(-3), added]); setTimeout(() => show(before => before.filter(one => one !== added)), 5000); };
  return html`<div class="toasts" role="status" aria-live="polite">${shown.map(one => html`<div key=${one.at} class=${`toast ${one.tone}`}>${one.text}</div>`)}</div>`;
}

// A dialog of the platform: focus stays inside, Escape closes.
export function Dialog({ title, close, children, wide }) {
  const element = useRef();
  useEffect(() => { element.current.showModal(); return () => element.current?.close(); }, []);
  return html`<dialog ref=${element} class=${wide ? "wide" : ""} aria-label=${title} onCancel=${event => { event.preventDefault(); close(); }} onClick=${event => { if (event.target === element.current) close(); }}>
    <header><h2>${title}</h2><button type="button" class="ghost icon-only" aria-label="Close" onClick=${close}><${Icon} name="close" /></button></header><div class="body">${children}</div></dialog>`;
}

// A form that carries out one request of the API, shows its refusal in place, and its call as curl.
export function ActionForm({ action, request, done, cancel, danger, disabled, children }) {
  const [state, set] = useState({ busy: false, error: null });
  const submit = async event => {
    event.preventDefault();
    if (state.busy) return;
    set({ busy: true, error: null });
    try { const answer = await send(request); set({ busy: false, error: null }); done?.(answer); } catch (error) { set({ busy: false, error }); }
  };
  return html`<form onSubmit=${submit}>${children}<${Problem} error=${state.error} /><footer data-action=${action}><${CopyCurl} request=${request} /><span class="spring"></span>
    ${cancel && html`<button type="button" onClick=${cancel}>Cancel</button>`}<button type="submit" class=${danger ? "danger" : "primary"} disabled=${state.busy || disabled}>${state.busy ? "Working…" : action}</button></footer></form>`;
}

// A button that carries out one request of the API at once, with its call as curl beside it.
export function Act({ action, busyText, request, done, style, disabled, asks }) {
  const [busy, set] = useState(false);
  const run = async () => {
    set(true);
    try { const answer = await (asks ? ask(request) : send(request)); set(false); done?.(answer); } catch (error) { set(false); toast(refusal(error), "bad"); }
  };
  return html`<span class="act" data-action=${action}><button type="button" class=${style} disabled=${busy || disabled} onClick=${run}>${busy ? busyText ?? "Working…" : action}</button><${CopyCurl} small request=${request} /></span>`;
}

const refusal = error => `${error.code}: ${error.message.split("\n")[0]}`;

// What a request would change, asked again whenever it is another one; a moment after the last letter that was typed.
export function usePreview(request) {
  const [state, set] = useState({ data: null, error: null });
  const turn = useRef(0);
  useEffect(() => {
    const mine = ++turn.current;
    const timer = setTimeout(() => ask(request).then(data => mine === turn.current && set({ data, error: null }), error => mine === turn.current && set({ data: null, error })), 250);
    return () => { turn.current++; clearTimeout(timer); };
  }, [JSON.stringify(request)]);
  return state;
}

// Bodies come from strangers: always text, never markup. JSON is indented where it can be read.
export function Body({ text, base64, bytes: length, state, type }) {
  const [raw, setRaw] = useState(false);
  if (text === null || text === undefined) {
    if (base64) return html`<p class="quiet">Binary, ${bytes(length)}.</p><pre class="code">${base64.slice(0, 4000)}</pre>`;
    return html`<p class="quiet">${state ? `The body was not kept: ${words(state)}.` : "No body was recorded here."}</p>`;
  }
  const pretty = raw ? null : indent(text);
  return html`<div class="bodybar"><span class="quiet">${type ?? "text"}, ${bytes(length ?? text.length)}</span>${pretty && html`<button type="button" class="link" onClick=${() => setRaw(true)}>as it is</button>`}<span class="spring"></span><${CopyText} text=${text} label="Copy the body" /></div>
    <pre class="code" tabIndex="0">${(pretty ?? text).slice(0, 200000)}</pre>`;
}

export function indent(text) {
  if (!/^\s*[[{]/.test(text) || text.length > 300000) return null;
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return null; }
}

// A line diff (longest common subsequence); large texts are compared by their common beginning and end.
export function diff(before, after) {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let start = 0, end = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const [x, y] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const middle = [];
  if (x.length * y.length > 1e6) middle.push(...x.map(line => ["-", line]), ...y.map(line => ["+", line]));
  else {
    const table = Array.from({ length: x.length + 1 }, () => new Uint32Array(y.length + 1));
    for (let i = x.length - 1; i >= 0; i--) for (let j = y.length - 1; j >= 0; j--) table[i][j] = x[i] === y[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    for (let i = 0, j = 0; i < x.length || j < y.length;) {
      if (i < x.length && j < y.length && x[i] === y[j]) { middle.push([" ", x[i++]]); j++; } else if (j >= y.length || (i < x.length && table[i + 1][j] >= table[i][j + 1])) middle.push(["-", x[i++]]); else middle.push(["+", y[j++]]);
    }
  }
  return [...a.slice(0, start).map(line => [" ", line]), ...middle, ...(end ? a.slice(-end).map(line => [" ", line]) : [])];
}

export function Diff({ before, after }) {
  const lines = diff(indent(before) ?? before, indent(after) ?? after);
  if (lines.every(([sign]) => sign === " ")) return html`<p class="quiet">Nothing is changed.</p>`;
  const near = lines.map((_, index) => lines.slice(Math.max(0, index - 3), index + 4).some(([sign]) => sign !== " "));
  return html`<pre class="code diff" tabIndex="0">${lines.map(([sign, line], index) => near[index] ? html`<span class=${sign === "+" ? "added" : sign === "-" ? "removed" : ""}>${sign} ${line}\n</span>` : near[index - 1] ? html`<span class="quiet">⋯\n</span>` : null)}</pre>`;
}

export const go = path => { location.hash = path; };
