// The event stream: one connection for the page, shared by all that listen; reconnected by the browser, resumed by the host.

const listeners = new Map();
let source = null;
let state = "off";
const watchers = new Set();

function tell(next) {
  state = next;
  for (const watcher of watchers) watcher(next);
}

const kinds = ["endpoint", "dead-letter", "parked", "workflow", "configuration", "host", "mark", "rates", "log"];

export function open() {
  close();
  // Lines of the log come over their own connection, while somebody looks at them.
  source = new EventSource(`/api/events?kinds=${kinds.filter(kind => kind !== "log").join(",")}`);
  tell("connecting");
  source.onerror = () => {
    tell("lost");
    // A refused request ends the source for good; the host may be restarting, so try again.
    if (source?.readyState === EventSource.CLOSED) setTimeout(() => { if (state === "lost") open(); }, 3000);
  };
  source.addEventListener("hello", event => { tell("live"); emit("hello", event); });
  source.addEventListener("reset", event => emit("reset", event));
  for (const kind of kinds) source.addEventListener(kind, event => emit(kind, event));
}

export function close() {
  source?.close();
  source = null;
  tell("off");
}

// Each host tells its own rates; the sum of the farm follows those of the host that answers, once a second.
const rates = new Map();
let own = null;

function sum(data) {
  rates.set(data.host, { data, at: Date.now() });
  if (own !== null && data.host !== own) return null;
  const all = { time: data.time, endpoints: {}, topics: {}, busy: {}, waiting: {} };
  for (const [host, one] of rates) {
    if (Date.now() - one.at > 3000) { rates.delete(host); continue; }
    Object.assign(all.waiting, one.data.waiting); // a queue is the same one for all hosts
    for (const set of ["endpoints", "topics", "busy"]) {
      for (const [name, values] of Object.entries(one.data[set])) {
        const total = all[set][name] ??= {};
        for (const [key, value] of Object.entries(values)) total[key] = (total[key] ?? 0) + value;
      }
    }
  }
  return all;
}

function emit(kind, event) {
  let data = JSON.parse(event.data || "{}");
  if (kind === "hello") own = data.host ?? null;
  if (kind === "rates") data = sum(data);
  if (data === null) return;
  for (const listener of listeners.get(kind) ?? []) listener(data);
}

export function on(kind, listener) {
  if (!listeners.has(kind)) listeners.set(kind, new Set());
  listeners.get(kind).add(listener);
  return () => listeners.get(kind).delete(listener);
}

export function onState(watcher) {
  watchers.add(watcher);
  watcher(state);
  return () => watchers.delete(watcher);
}
