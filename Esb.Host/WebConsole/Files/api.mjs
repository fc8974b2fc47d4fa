// The management API: one function for each method, errors with code and trace, and the call of an action as curl.

let session = null;
const listeners = new Set();

export const current = () => session;

// Scripts cannot see the cookie; without this note, every first visit would be a refused request in the log of the host.
const note = "esb-signed-in";

function change(next) {
  session = next;
  if (next) localStorage.setItem(note, "1");
  else localStorage.removeItem(note);
  for (const listener of listeners) listener(next);
}

export function onSession(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export class ApiError extends Error {
  constructor(status, problem, path) {
    super(problem?.detail || `The host answered ${path} with status ${status}.`);
    this.status = status;
    this.code = problem?.code || (status === 0 ? "ESB-CONSOLE-UNREACHABLE" : `HTTP ${status}`);
    this.traceId = problem?.traceId;
    this.errors = problem?.errors;
  }
}

async function call(method, path, body, options = {}) {
  const headers = {};
  if (options.background) headers["X-Esb-Background"] = "1";
  if (session?.csrf && method !== "GET") headers["X-Esb-Csrf"] = session.csrf;
  if (options.command) headers["Idempotency-Key"] = options.command;
  let sent;
  if (options.raw !== undefined) {
    sent = options.raw;
    headers["Content-Type"] = options.type || "text/plain";
  } else if (body !== undefined) {
    sent = JSON.stringify(body);
    headers["Content-Type"] = "application/json";
  }
  let answer;
  try {
    answer = await fetch(path, { method, headers, body: sent, signal: options.signal, credentials: "same-origin" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, { detail: "The host cannot be reached." }, path);
  }
  const text = options.binary && answer.ok ? await answer.arrayBuffer() : await answer.text();
  if (answer.ok) return options.binary || options.text ? text : text ? JSON.parse(text) : null;
  let problem = null;
  try { problem = JSON.parse(text); } catch { /* not from the API, such as a proxy's page */ }
  if (answer.status === 401 && path !== "/api/session") change(null);
  throw new ApiError(answer.status, problem, path);
}

export const get = (path, options) => call("GET", path, undefined, options);

// Carries out a request { method, path, body } or { method, path, raw, type }. Pages do so by the parts of ui.mjs, which show its call.
export const send = ({ method, path, body, raw, type }) => call(method, path, body, { command: newId(), raw, type });

// Asks what a request would do: it changes nothing, and needs no id as a command.
export const ask = ({ method, path, body }) => call(method, path, body);

export async function resume() {
  if (!localStorage.getItem(note)) return change(null);
  try { change(await get("/api/session")); } catch (error) { if (error.status !== 401) throw error; change(null); }
}

export async function signIn(key) { change(await call("POST", "/api/session", { key })); }

export async function signOut() {
  try { await call("DELETE", "/api/session"); } finally { change(null); }
}

export function query(parameters) {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (Array.isArray(value)) value.forEach(one => text.append(name, one));
    else if (value !== undefined && value !== null && value !== "" && value !== false) text.append(name, value);
  }
  const joined = text.toString();
  return joined ? `?${joined}` : "";
}

const roles = ["viewer", "operator", "administrator"];
export const may = role => session !== null && roles.indexOf(session.role) >= roles.indexOf(role);

export function curl({ method, path, body, raw, type }) {
  const quote = text => `'${String(text).replaceAll("'", "'\\''")}'`;
  const parts = ["curl", "-X", method, "-H", quote("X-Esb-Key: $ESB_KEY").replace(/^'|'$/g, '"')];
  if (raw !== undefined) parts.push("-H", quote(`Content-Type: ${type || "text/plain"}`), "--data-binary", quote(raw));
  else if (body !== undefined) parts.push("-H", quote("Content-Type: application/json"), "-d", quote(JSON.stringify(body)));
  parts.push(quote(location.origin + path));
  return parts.join(" ");
}

// crypto.randomUUID exists on secure origins alone; the console may be served over plain HTTP inside a network.
function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map(byte => byte.toString(16).padStart(2, "0")).join("");
}
