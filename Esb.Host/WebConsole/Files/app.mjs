// The frame of the console: sign-in, navigation, routes, banners.

import { render } from "./vendor/preact.mjs";
import { current, may, onSession, resume, signIn, signOut } from "./api.mjs";
import * as events from "./events.mjs";
import { Field, html, Icon, Loading, Problem, Toasts, useApi, useEffect, useEvent, useState } from "./ui.mjs";

const pages = [
  ["overview", "Overview", () => import("./pages/overview.mjs")],
  ["messages", "Messages", () => import("./pages/messages.mjs")],
  ["dead-letters", "Dead letters", () => import("./pages/dead-letters.mjs")],
  ["parked", "Parked keys", () => import("./pages/parked.mjs")],
  ["workflows", "Workflows", () => import("./pages/workflows.mjs")],
  ["itineraries", "Itineraries", () => import("./pages/itineraries.mjs")],
  ["activities", "Activities", () => import("./pages/activities.mjs")],
  ["topics", "Topics", () => import("./pages/topics.mjs")],
  ["endpoints", "Endpoints", () => import("./pages/endpoints.mjs")],
  ["configuration", "Configuration", () => import("./pages/configuration.mjs")],
  ["system", "System", () => import("./pages/system.mjs")],
];

const themes = ["system", "light", "dark"];
const version = document.querySelector("meta[name=esb-version]").content;

function place() {
  const [path, search] = location.hash.replace(/^#\/?/, "").split("?");
  const [page, ...rest] = path.split("/").map(decodeURIComponent);
  return { page: page || "overview", rest: rest.filter(part => part !== ""), search: Object.fromEntries(new URLSearchParams(search)) };
}

function SignIn() {
  const [state, set] = useState({ busy: false, error: null });
  const submit = async event => {
    event.preventDefault();
    const key = new FormData(event.target).get("key").trim();
    if (!key) return;
    set({ busy: true, error: null });
    try { await signIn(key); } catch (error) { set({ busy: false, error }); }
  };
  return html`<main class="signin"><form onSubmit=${submit} class="card"><img src="/console/icon.svg" alt="" width="44" height="44" /><h1>Sign in to the bus</h1>
    <${Field} label="Management key" hint="The first start wrote one to esb-data/management.key; others are in management.keys.">
      <input name="key" type="password" autocomplete="current-password" required autofocus spellcheck="false" /><//>
    <${Problem} error=${state.error} /><button class="primary wide" disabled=${state.busy}>${state.busy ? "Signing in…" : "Sign in"}</button></form></main>`;
}

function Theme() {
  const [theme, set] = useState(localStorage.getItem("esb-theme") ?? "system");
  useEffect(() => {
    localStorage.setItem("esb-theme", theme);
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }, [theme]);
  return html`<button type="button" class="ghost" aria-label=${`Colours: ${theme}`} title="Colours: system, light or dark" onClick=${() => set(themes[(themes.indexOf(theme) + 1) % 3])}><${Icon} name="sun" /><span class="wide-only">${theme}</span></button>`;
}

function Live() {
  const [state, set] = useState("off");
  useEffect(() => events.onState(set), []);
  return html`<span class=${`live ${state}`} role="status" title="The event stream of the host">${state === "live" ? "Live" : state === "lost" ? "Reconnecting…" : "Connecting…"}</span>`;
}

function Banners() {
  const [other, set] = useState(null);
  const health = useApi("/health/ready", { every: 10000, on: ["endpoint", "configuration", "dead-letter", "parked"], load: path => fetch(path, { headers: { "X-Esb-Background": "1" } }).then(answer => answer.json()) });
  useEvent("hello", hello => set(hello.version === version ? null : hello.version));
  const obstacles = health.data?.obstacles ?? [];
  return html`${other && html`<div class="banner warn" role="status">The host now runs version ${other}; this page is of ${version}. <button class="link" onClick=${() => location.reload()}>Reload the page</button></div>`}
    ${health.data && !health.data.ready && html`<div class="banner bad" role="alert"><strong>This host accepts no messages.</strong> ${obstacles.map(one => `${one.name}: ${one.reason}`).join("; ")}</div>`}
    ${(health.data?.notices ?? []).map(notice => html`<div class="banner warn" role="status">${notice}</div>`)}`;
}

function Frame() {
  const [at, go] = useState(place());
  const [loaded, show] = useState(null);
  const [menu, open] = useState(false);
  const [failure, fail] = useState(null);
  const backlog = useApi("/health/ready", { every: 15000, on: ["dead-letter", "parked"] }).data?.backlog;
  useEffect(() => {
    const move = () => { go(place()); open(false); };
    addEventListener("hashchange", move);
    events.open();
    return () => { removeEventListener("hashchange", move); events.close(); };
  }, []);
  const page = pages.find(([name]) => name === at.page) ?? pages[0];
  useEffect(() => {
    document.title = `${page[1]} · ESB`;
    let isHere = true;
    page[2]().then(module => { if (isHere) { show({ name: page[0], content: module.default }); fail(null); } }, error => isHere && fail(error));
    return () => { isHere = false; };
  }, [page[0]]);
  const Content = loaded?.name === page[0] ? loaded.content : null; // not the page of before with the address of this one
  useEffect(() => { document.querySelector("main h1")?.focus({ preventScroll: true }); }, [page[0], Content]);
  useEffect(() => {
    const keys = event => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input,textarea,select,dialog,[contenteditable]")) return;
      if (event.key === "/") { event.preventDefault(); location.hash = "/messages"; setTimeout(() => document.querySelector("main input")?.focus(), 200); }
      const page = pages[(Number(/^\d$/.test(event.key) ? event.key : NaN) + 9) % 10]; // 0 opens the tenth
      if (page) location.hash = `/${page[0]}`;
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, []);
  const counts = { "dead-letters": backlog?.deadLetters, parked: backlog?.parkedKeys };
  const session = current();
  return html`<a class="skip" href="#content" onClick=${event => { event.preventDefault(); document.querySelector("main h1")?.focus(); }}>Skip to the content</a>
    <div class="frame"><aside class=${menu ? "open" : ""}><div class="brand"><img src="/console/icon.svg" alt="" width="28" height="28" /><strong>ESB</strong><button type="button" class="ghost icon-only menu" aria-label="Menu" aria-expanded=${menu} onClick=${() => open(!menu)}><${Icon} name="menu" /></button></div>
      <nav aria-label="Pages">${pages.map(([name, title], index) => html`<a href=${`#/${name}`} aria-current=${name === page[0] ? "page" : undefined} title=${`Key ${(index + 1) % 10}`}><${Icon} name=${name} /><span>${title}</span>${counts[name] > 0 && html`<span class="count">${counts[name] > 999 ? "999+" : counts[name]}</span>`}</a>`)}</nav>
      <div class="foot"><small>Version ${version}</small></div></aside>
    <div class="content"><div class="top"><${Live} /><span class="spring"></span><${Theme} /><span class="who" title="The key of this session">${session.name ?? "first key"} <em>${session.role}</em></span>
      <button type="button" class="ghost" aria-label="Sign out" onClick=${signOut}><${Icon} name="out" /><span class="wide-only">Sign out</span></button></div>
      <${Banners} /><main id="content">${failure ? html`<${Problem} error=${failure} retry=${() => location.reload()} />` : Content ? html`<${Content} key=${page[0]} rest=${at.rest} search=${at.search} />` : html`<${Loading} />`}</main></div></div><${Toasts} />`;
}

function App() {
  const [state, set] = useState({ ready: false, session: null, error: null });
  useEffect(() => {
    const off = onSession(session => set({ ready: true, session, error: null }));
    resume().catch(error => set({ ready: true, session: null, error }));
    return off;
  }, []);
  if (!state.ready) return html`<${Loading} />`;
  if (state.error) return html`<main class="signin"><${Problem} error=${state.error} retry=${() => location.reload()} /></main>`;
  return state.session ? html`<${Frame} />` : html`<${SignIn} />`;
}

render(html`<${App} />`, document.getElementById("app"));
export { may };
