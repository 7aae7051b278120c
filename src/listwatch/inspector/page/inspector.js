// The inspector page. It shows aggregates and search results, never a whole store, and writes text only as text nodes.
"use strict";

const byId = (id) => document.getElementById(id);
const state = {
  token: "",
  snapshot: null,
  received: 0, // when the last snapshot arrived, by the clock of this browser
  skew: 0, // seconds that the clock of the server is ahead
  rates: new Map(), // events per second, by informer
  open: new Set(), // expanded rows
  shown: new Map(), // what each part of the page shows, to leave unchanged parts alone
  object: null, // the object in the panel: {informer, key, version, controllers}
};

// --- elements ---------------------------------------------------------------------------------------------------------

function element(tag, properties, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (name === "onclick") made.addEventListener("click", value);
    else if (name === "class") made.className = value;
    else if (value !== undefined && value !== null && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

function show(id, value, build) {
  const text = JSON.stringify(value);
  if (state.shown.get(id) === text) return;
  state.shown.set(id, text);
  const focused = document.activeElement?.id;
  byId(id).replaceChildren(...[build()].flat());
  if (focused && document.activeElement?.id !== focused) byId(focused)?.focus({ preventScroll: true });
}

const chip = (text, kind) => element("span", { class: `chip ${kind ?? ""}` }, text);

// A table whose rows become cards on narrow screens. Columns: [heading, cell of a row, class].
function table(columns, rows, after) {
  const head = columns.map(([heading, , kind]) => element("th", { class: kind ?? "", scope: "col" }, heading));
  const body = rows.flatMap((row) => [
    element("tr", {}, columns.map(([heading, cell, kind]) => {
      const content = cell(row);
      const isEmpty = content === "" || content === null || content === undefined;
      return element("td", { class: `${kind ?? ""} ${isEmpty ? "empty" : ""}`, "data-label": heading || null }, content);
    })),
    ...(after ? after(row) : []).map(([kind, content]) => element("tr", { class: kind },
      element("td", { colspan: columns.length }, content))),
  ]);
  const made = element("table", {}, element("thead", {}, element("tr", {}, head)), element("tbody", {}, body));
  return element("div", { class: "scroll" }, made);
}

function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return element("dl", { class: "facts" }, shown.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

// --- numbers and times ------------------------------------------------------------------------------------------------

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const number = (value) => grouped.format(value);
const some = (value) => (value ? number(value) : "");

function bytes(value) {
  if (value === null) return "…";
  let left = value;
  for (const unit of ["B", "KiB", "MiB"]) {
    if (left < 1024) return `${number(left)} ${unit}`;
    left /= 1024;
  }
  return `${number(left)} GiB`;
}

function duration(seconds) {
  if (seconds < 0.001) return `${Math.round(seconds * 1e6)} µs`;
  if (seconds < 1) return `${(seconds * 1000).toFixed(seconds < 0.1 ? 1 : 0)} ms`;
  if (seconds < 60) return `${Number.isInteger(seconds) || seconds >= 10 ? Math.round(seconds) : seconds.toFixed(1)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86400)} d`;
}

const serverNow = () => Date.now() / 1000 + state.skew;

function relative(at) {
  const seconds = serverNow() - at;
  if (seconds >= 0) return seconds < 1 ? "now" : `${duration(Math.floor(seconds))} ago`;
  return `in ${duration(seconds > -10 ? -seconds : Math.floor(-seconds))}`;
}

// A time that is kept up to date by `tick`; with `future`, a time that has passed is due.
function time(at, kind) {
  if (at === null || at === undefined) return "";
  const title = new Date((at - state.skew) * 1000).toLocaleString();
  const made = element("time", { "data-at": at, "data-kind": kind, title, class: "nowrap" });
  made.textContent = timeText(at, kind);
  return made;
}

const timeText = (at, kind) => (kind === "future" && at <= serverNow() ? "due" : relative(at));

function tick() {
  for (const each of document.querySelectorAll("time[data-at]")) {
    const text = timeText(Number(each.dataset.at), each.dataset.kind);
    if (each.textContent !== text) each.textContent = text;
  }
  const silent = (Date.now() - state.received) / 1000;
  if (state.received && silent > 5) showStale(`No update for ${duration(Math.floor(silent))}. The page shows the last state.`);
}

// --- the stream -------------------------------------------------------------------------------------------------------

const request = (path, options) => fetch(path, { ...options, headers: { Authorization: `Bearer ${state.token}` } });

async function read(path, parameters, signal) {
  const response = await request(`${path}?${new URLSearchParams(parameters)}`, { signal });
  const content = await response.json();
  if (!response.ok) throw new Error(content.error);
  return content;
}

function connection(text, kind) {
  const shown = byId("connection");
  shown.textContent = text;
  shown.className = `chip ${kind}`;
}

function showStale(text) {
  byId("stale").textContent = text;
  byId("stale").hidden = !text;
}

async function run() {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const response = await request("api/stream");
      if (response.status === 401) return login("The token is wrong: the process may have been restarted.");
      if (!response.ok) throw new Error((await response.json()).error);
      await receive(response.body, () => { attempt = 0; });
      throw new Error("the process has closed the connection");
    } catch (error) {
      connection("disconnected", "bad");
      showStale(`Disconnected: ${error.message}. Connecting again; the page shows the last state.`);
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(500 * 2 ** attempt, 5000)));
  }
}

async function receive(body, onSnapshot) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let pending = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const messages = (pending + value).split("\n\n");
    pending = messages.pop();
    // Only the newest one counts: a background tab may have missed some.
    const data = messages.at(-1)?.split("\n").find((line) => line.startsWith("data: "));
    if (data) {
      onSnapshot();
      receiveSnapshot(JSON.parse(data.slice(6)));
    }
  }
}

function receiveSnapshot(snapshot) {
  const before = state.snapshot;
  state.received = Date.now();
  state.skew = snapshot.now - state.received / 1000;
  for (const informer of snapshot.informers) {
    const last = before?.informers.find((each) => each.id === informer.id);
    const elapsed = before ? snapshot.now - before.now : 0;
    if (last && elapsed > 0) {
      const rate = (informer.events - last.events) / elapsed;
      const smoothed = 0.5 * rate + 0.5 * (state.rates.get(informer.id) ?? rate);
      state.rates.set(informer.id, smoothed < 0.05 ? 0 : smoothed);
    }
  }
  state.snapshot = snapshot;
  connection("live", "good");
  showStale("");
  byId("main").hidden = false;
  byId("login").hidden = true;
  render(snapshot);
  refreshObject(snapshot);
}

// --- sections ---------------------------------------------------------------------------------------------------------

function render(snapshot) {
  showManager(snapshot);
  showSummary(snapshot);
  showInformerChoice(snapshot.informers);
  showInformers(snapshot.informers);
  showControllers(snapshot.controllers);
  section("queues", snapshot.queues, () => table(queueColumns, snapshot.queues));
  section("leadership", snapshot.leadership, () => snapshot.leadership.map(leadership));
  section("clients", snapshot.clients, () => snapshot.clients.map(client));
}

function section(id, values, build) {
  byId(`${id}-section`).hidden = values.length === 0;
  show(id, values, build);
}

function showManager({ manager, leadership: electors }) {
  const title = manager?.name ? `${manager.name} – inspector` : "listwatch inspector";
  if (document.title !== title) document.title = title;
  show("manager", [manager, electors.map((each) => each.is_leader)], () => {
    if (!manager) return [];
    const leads = electors.length ? [manager.is_leading ? chip("leading", "good") : chip("standby")] : [];
    if (manager.is_stopping) return [...leads, chip("stopping", "warn")];
    return [...leads, manager.is_ready ? chip("ready", "good") : chip("not ready", "warn")];
  });
}

function showSummary(snapshot) {
  const { informers, controllers, queues, clients } = snapshot;
  const watching = informers.filter((each) => each.state === "watching").length;
  const all = [...controllers.map((each) => each.queue), ...queues];
  const sum = (values, field) => values.reduce((total, each) => total + (each[field] ?? 0), 0);
  const failing = controllers.flatMap((each) => each.recent.filter(isFailing).map((found) => `${each.name} ${found.key}`));
  const requests = clients.flatMap((each) => each.attempts);
  const errors = requests.filter(([, code]) => !/^[123]/.test(code)).reduce((total, [, , count]) => total + count, 0);
  const cards = [
    [`${watching} / ${informers.length}`, "informers watching", watching < informers.length],
    [number(sum(informers, "objects")), `objects, ${bytes(sum(informers, "bytes"))}`],
    [number(sum(informers, "pending") + sum(informers, "queued")), "changes not handled yet"],
  ];
  if (all.length) cards.push([number(sum(all, "depth")), `keys queued, ${number(sum(all, "processing"))} in process, ${number(sum(all, "delayed"))} delayed`]);
  if (controllers.length) cards.push([number(new Set(failing).size), "keys failed lately", failing.length > 0]);
  if (clients.length) cards.push([number(errors), `of ${number(requests.reduce((total, each) => total + each[2], 0))} requests failed`]);
  show("summary", cards, () => cards.map(([value, text, isBad]) =>
    element("div", { class: `card ${isBad ? "bad" : ""}` }, element("b", {}, value), element("span", {}, text))));
}

// --- informers --------------------------------------------------------------------------------------------------------

const stateKinds = { watching: "good", retrying: "bad", listing: "busy", streaming: "busy", connecting: "busy" };
const stateChip = (text) => chip(text, stateKinds[text]);

function toggle(key, text) {
  const flip = () => {
    if (!state.open.delete(key)) state.open.add(key);
    state.shown.clear();
    render(state.snapshot);
  };
  return element("button", { id: `toggle-${key}`, type: "button", class: "toggle", "aria-expanded": state.open.has(key), onclick: flip }, text);
}

const informerColumns = [
  ["Name", (each) => toggle(`informer-${each.id}`, each.name)],
  ["State", (each) => stateChip(each.state)],
  ["Read by", (each) => each.read_by],
  ["Objects", (each) => number(each.objects), "number"],
  ["Size", (each) => bytes(each.bytes), "number"],
  ["Events/s", (each) => some(state.rates.get(each.id)), "number"],
  ["Version", (each) => element("span", { class: "mono" }, each.resource_version), "number"],
  ["Last contact", (each) => time(each.last_contact), "number"],
  ["Queued", (each) => some(each.queued), "number"],
  ["Backlog", (each) => some(each.pending), "number"],
];

const sourceColumns = [
  ["Source", (each) => each.name],
  ["State", (each) => stateChip(each.state)],
  ["Version", (each) => element("span", { class: "mono" }, each.resource_version)],
  ["Lists", (each) => number(each.lists), "number"],
  ["Watches", (each) => number(each.watches), "number"],
  ["Events", (each) => number(each.events), "number"],
  ["Skipped", (each) => some(each.skipped), "number"],
  ["Failures in a row", (each) => some(each.failures_in_a_row), "number"],
];

const handlerColumns = [
  ["Handler", (each) => element("span", { class: "mono" }, each.name)],
  ["Synced", (each) => (each.has_synced ? "yes" : "not yet")],
  ["Backlog", (each) => number(each.pending), "number"],
  ["Handled", (each) => number(each.handled), "number"],
  ["Failed", (each) => some(each.failed), "number"],
  ["Coalesced", (each) => some(each.coalesced), "number"],
];

function lastError(informer) {
  if (!informer.last_error) return null;
  const isCurrent = informer.failures_in_a_row > 0;
  const failures = informer.failures_in_a_row === 1 ? "1 failure" : `${number(informer.failures_in_a_row)} failures in a row`;
  const when = [isCurrent ? `${failures}, the last ` : "last error ", time(informer.last_error_at), ": "];
  return element("span", { class: isCurrent ? "error" : "muted" }, when, informer.last_error);
}

function showInformers(informers) {
  const rates = informers.map((each) => state.rates.get(each.id));
  show("informers", [informers, rates], () => {
    if (!informers.length) return element("p", { class: "muted" }, "There is no informer yet.");
    return table(informerColumns, informers, (each) => {
      const rows = [];
      const error = lastError(each);
      if (error) rows.push(["note", error]);
      if (state.open.has(`informer-${each.id}`)) {
        rows.push(["detail", table(sourceColumns, each.sources)]);
        if (each.handlers.length) rows.push(["detail", table(handlerColumns, each.handlers)]);
        else rows.push(["note", element("span", { class: "muted" }, "It has no handlers.")]);
      }
      return rows;
    });
  });
}

// --- controllers and queues -------------------------------------------------------------------------------------------

const resultKinds = { succeeded: "good", requeued: "busy", running: "warn", failed: "bad", "timed out": "bad", "gave up": "bad" };
const isFailing = (each) => resultKinds[each.result] === "bad";

const reconcileColumns = (key) => [
  ["Started", (each) => time(each.started), "nowrap"],
  ...(key ? [["Key", key, "key"]] : []),
  ["Trigger", (each) => each.trigger],
  ["Attempt", (each) => each.attempt, "number"],
  ["Duration", (each) => (each.duration === null ? "" : duration(each.duration)), "number"],
  ["Result", (each) => chip(each.result, resultKinds[each.result])],
  ["Next try", (each) => (each.isLatest ? time(each.next_try, "future") : ""), "nowrap"],
];

// Rows are newest first. The next try of a key is that of its latest reconcile; an error that repeats is shown once.
function reconcileTable(reconciles, key) {
  const latest = new Map();
  const rows = reconciles.map((each) => {
    const newer = latest.get(each.key);
    latest.set(each.key, each);
    return { ...each, isLatest: !newer, isRepeated: newer?.error === each.error };
  });
  return table(reconcileColumns(key), rows, (each) => {
    const notes = [];
    if (each.waited > 0.05) notes.push(["note", element("span", { class: "muted" }, `waited ${duration(each.waited)} for its own writes`)]);
    if (each.error && !each.isRepeated) notes.push(["note", element("span", { class: "error" }, each.error)]);
    return notes;
  });
}

const queueColumns = [
  ["Queue", (each) => each.name || "unnamed"],
  ["Depth", (each) => number(each.depth), "number"],
  ["In process", (each) => number(each.processing), "number"],
  ["Delayed", (each) => number(each.delayed), "number"],
  ["Retries", (each) => number(each.retries), "number"],
  ["Added", (each) => number(each.adds), "number"],
  ["Mean wait", (each) => duration(each.mean_wait), "number"],
  ["Mean work", (each) => duration(each.mean_work), "number"],
  ["Longest running", (each) => (each.longest_running ? duration(each.longest_running) : ""), "number"],
];

function showControllers(controllers) {
  section("controllers", controllers, () => controllers.map((each) => {
    const queue = each.queue;
    const working = each.is_working ? chip("working", "good") : chip(each.needs_leader ? "not working: waits for leadership or caches" : "not working", "warn");
    const done = [
      ["succeeded", number(each.succeeded)], ["requeued", some(each.requeued)], ["failed", some(each.failed)],
      ["gave up", some(each.gave_up)], ["timed out", some(each.timed_out)], ["stale reads", some(each.stale)],
      ["blocked the event loop", some(each.loop_stalls)], ["mean", duration(each.mean_duration)], ["longest", duration(each.longest_duration)],
    ];
    const queued = [
      ["queue depth", number(queue.depth)], ["in process", `${number(queue.processing)} of ${each.concurrency}`],
      ["delayed", number(queue.delayed)], ["retries", number(queue.retries)], ["mean wait", duration(queue.mean_wait)],
      ["longest running", queue.longest_running ? duration(queue.longest_running) : ""],
    ];
    const name = `controller-${each.name}`;
    const limit = state.open.has(name) ? each.recent.length : matchMedia("(max-width: 720px)").matches ? 3 : 6;
    const key = (found) => element("button", { type: "button", class: "link mono", onclick: () => openKey(each.name, found.key) }, found.key);
    return element("div", { class: "controller" },
      element("h3", {}, toggle(name, each.name), working, element("span", { class: "muted" }, `watches ${each.watches.join(", ") || "nothing"}`)),
      facts(queued), facts(done),
      each.why_not_ready ? element("p", { class: "error" }, each.why_not_ready) : null,
      each.last_failure && !each.recent.some(isFailing) ? element("p", { class: "muted" }, `last failure: ${each.last_failure}`) : null,
      each.recent.length ? reconcileTable(each.recent.slice(0, limit), key) : element("p", { class: "muted" }, "Nothing was reconciled yet."));
  }));
}

// --- leadership and requests ------------------------------------------------------------------------------------------

function leadership(each) {
  return element("div", {},
    element("div", { class: "chips" }, each.is_leader ? chip("this process leads", "good") : chip("another process leads, or none")),
    facts([["lease", each.lock], ["this candidate", each.identity], ["leader", each.leader || "none"],
      ["renewals", number(each.renewals)], ["terms", number(each.terms)], ["losses", some(each.losses)], ["changes of the leader", number(each.transitions)],
      ["failures in a row", some(each.failures_in_a_row)]]),
    each.last_error ? element("p", { class: "error" }, each.last_error) : null);
}

function client(each) {
  const codes = [...new Set(each.attempts.map(([, code]) => code))].sort();
  const methods = [...new Set(each.attempts.map(([method]) => method))].sort();
  const count = (method, code) => each.attempts.find((found) => found[0] === method && found[1] === code)?.[2];
  const columns = [["Method", (method) => method], ...codes.map((code) =>
    [code === "<error>" ? "no response" : code, (method) => some(count(method, code)), "number"])];
  return element("div", {},
    facts([["server", each.host], ["open watches", number(each.open_watches)], ["retries", number(each.retries)], ["throttled", some(each.throttled)]]),
    methods.length ? table(columns, methods) : null);
}

// --- search -----------------------------------------------------------------------------------------------------------

let searching = null;
let searchTimer = 0;

function showInformerChoice(informers) {
  const choice = byId("search-informer");
  const wanted = JSON.stringify(informers.map((each) => [each.id, each.name]));
  if (choice.dataset.shown === wanted) return;
  choice.dataset.shown = wanted;
  const selected = choice.value;
  choice.replaceChildren(element("option", { value: "" }, "all"), ...informers.map((each) => element("option", { value: each.id }, each.name)));
  choice.value = informers.some((each) => each.id === selected) ? selected : "";
}

function query() {
  const value = (name) => byId(`search-${name}`).value.trim();
  return { informer: value("informer"), name: value("name"), namespace: value("namespace"), labels: value("labels") };
}

async function search() {
  searching?.abort();
  const wanted = query();
  if (!wanted.name && !wanted.namespace && !wanted.labels && !wanted.informer) return byId("results").replaceChildren();
  searching = new AbortController();
  try {
    showResults(await read("api/search", wanted, searching.signal));
  } catch (error) {
    if (error.name !== "AbortError") byId("results").replaceChildren(element("p", { class: "error" }, error.message));
  }
}

function showResults({ objects, total, searched }) {
  const columns = [
    ["Cache", (each) => each.source, "nowrap"],
    ["Namespace", (each) => each.namespace],
    ["Name", (each) => element("button", { type: "button", class: "link", onclick: () => openObject(each.informer, each.key) }, each.name), "key"],
    ["Labels", (each) => (Object.keys(each.labels).length ? element("span", {}, Object.entries(each.labels).map(([name, value]) => element("span", { class: "label" }, `${name}=${value}`))) : "")],
    ["Version", (each) => element("span", { class: "mono" }, each.resource_version), "number"],
  ];
  const shown = objects.length < total ? `, the first ${objects.length} are shown` : "";
  const count = element("p", { class: "muted", id: "count" }, `${number(total)} of ${number(searched)} cached objects match${shown}.`);
  byId("results").replaceChildren(count, ...(objects.length ? [table(columns, objects)] : []));
}

// --- the object panel -------------------------------------------------------------------------------------------------

async function openObject(informer, key) {
  state.object = { informer, key, version: "", at: 0 };
  byId("panel").hidden = false;
  byId("panel-title").textContent = key;
  byId("panel-body").replaceChildren(element("p", { class: "muted" }, "loading"));
  byId("panel-close").focus();
  await loadObject(state.object);
}

async function loadObject(object) {
  object.at = Date.now();
  try {
    const view = await read("api/object", { informer: object.informer, key: object.key });
    if (state.object !== object || view.resource_version === object.version) return;
    object.version = view.resource_version;
    showObject(view);
  } catch (error) {
    if (state.object === object) byId("panel-body").prepend(element("p", { class: "error" }, error.message));
    object.isGone = true;
  }
}

// Loads the object again when its cache has changed.
function refreshObject(snapshot) {
  const object = state.object;
  refreshReconciles(object, snapshot.controllers);
  if (!object?.informer || object.isGone) return;
  const version = snapshot.informers.find((each) => each.id === object.informer)?.resource_version;
  if (version && version !== object.cacheVersion && Date.now() - object.at > 1500) {
    object.cacheVersion = version;
    loadObject(object);
  }
}

// Loads the reconciles in the panel again when the key was reconciled.
function refreshReconciles(object, controllers) {
  for (const [name, place] of object?.places ?? []) {
    const recent = controllers.find((each) => each.name === name)?.recent.filter((each) => each.key === object.reconcileKey) ?? [];
    const seen = JSON.stringify(recent.map((each) => [each.started, each.result]));
    if (recent.length && place.dataset.seen !== seen) {
      place.dataset.seen = seen;
      loadReconciles(name, object.reconcileKey, place);
    }
  }
}

function showObject(view) {
  byId("panel-title").textContent = `${view.kind} ${view.key}`;
  const events = element("div", {}, element("p", { class: "muted" }, "loading"));
  const owned = element("div", {});
  const reconciles = view.controllers.map((name) => element("div", {}, element("p", { class: "muted" }, `loading ${name}`)));
  byId("panel-body").replaceChildren(
    element("div", { class: "chips" }, chip(view.source), chip(`version ${view.resource_version}`), view.hides_data ? chip("data is hidden", "warn") : ""),
    ...(view.owners.length ? [element("h3", {}, "Owners"), owners(view.owners)] : []),
    owned,
    ...(reconciles.length ? [element("h3", {}, "Reconciles"), ...reconciles] : []),
    element("h3", {}, "Events"), events,
    element("h3", {}, "YAML"), yaml(view.yaml),
    view.is_shortened ? element("p", { class: "muted" }, "The object is longer: only its beginning is shown.") : "",
  );
  loadOwned(view, owned);
  loadEvents(view, events);
  state.object.reconcileKey = view.reconcile_key;
  state.object.places = new Map(view.controllers.map((name, index) => [name, reconciles[index]]));
  view.controllers.forEach((name, index) => loadReconciles(name, view.reconcile_key, reconciles[index]));
}

function owners(found) {
  return element("ul", { class: "owners" }, found.map((each) => {
    const text = `${each.kind} ${each.name}`;
    const link = each.key ? element("button", { type: "button", class: "link", onclick: () => openObject(each.informer, each.key) }, text) : element("span", {}, text);
    const item = element("li", {}, link, element("span", { class: "muted" }, `${each.is_controller ? " · controller" : ""}${each.key ? "" : " · not cached"}`));
    item.style.paddingLeft = `${each.depth * 18}px`;
    return item;
  }));
}

async function loadOwned(view, place) {
  try {
    const { objects, total } = await read("api/owned", { informer: view.informer, key: view.key });
    if (!objects.length) return;
    const list = element("ul", { class: "owners" }, objects.map((each) => element("li", {},
      element("button", { type: "button", class: "link", onclick: () => openObject(each.informer, each.key) }, each.name),
      element("span", { class: "muted" }, ` · ${each.source}`))));
    const more = total > objects.length ? element("p", { class: "muted" }, `and ${number(total - objects.length)} more`) : "";
    place.replaceChildren(element("h3", {}, "Owns"), list, more);
  } catch { /* the object is shown without them */ }
}

const eventColumns = [
  ["Last seen", (each) => time(each.last_seen), "nowrap"],
  ["Type", (each) => chip(each.type, each.type === "Warning" ? "warn" : "")],
  ["Reason", (each) => each.reason],
  ["Message", (each) => element("span", {}, each.message, each.count > 1 ? element("span", { class: "muted" }, ` ×${each.count}`) : "")],
  ["From", (each) => each.source],
];

async function loadEvents(view, place) {
  try {
    const found = await read("api/events", { informer: view.informer, key: view.key });
    const nothing = element("p", { class: found.error ? "error" : "muted" }, found.error || "none");
    place.replaceChildren(found.events.length ? table(eventColumns, found.events) : nothing);
  } catch (error) {
    place.replaceChildren(element("p", { class: "error" }, error.message));
  }
}

async function loadReconciles(controller, key, place) {
  try {
    const found = await read("api/reconciles", { controller, key });
    place.replaceChildren(element("p", { class: "muted" }, `by ${controller}`), reconcileTable(found.reconciles, null));
  } catch (error) {
    place.replaceChildren(element("p", { class: "error" }, error.message));
  }
}

// Shows the object of a key if a cache has it, else only its reconciles.
async function openKey(controller, key) {
  const name = key.split("/").at(-1);
  const watched = state.snapshot.controllers.find((each) => each.name === controller)?.watches[0];
  const informerOf = (each) => state.snapshot.informers.find((known) => known.id === each.informer);
  // With several clusters, a key is cluster/namespace/name; the namespace is empty for a cluster-scoped object.
  const isIn = (name) => name && key.startsWith(`${name}/`) && key.slice(name.length + 1).split("/").length === 2;
  const cluster = state.snapshot.informers.find((known) => isIn(known.cluster))?.cluster ?? "";
  const cached = cluster ? key.slice(cluster.length + 1).replace(/^\//, "") : key;
  try {
    const { objects } = await read("api/search", { name: cached, limit: "200" });
    const candidates = objects.filter((each) => each.key === cached && (informerOf(each)?.cluster ?? "") === cluster);
    const isWatched = (each) => {
      const informer = informerOf(each);
      return informer && [informer.kind, informer.name].includes(watched);
    };
    const found = candidates.find(isWatched) ?? (candidates.length === 1 ? candidates[0] : null);
    if (found) return openObject(found.informer, found.key);
  } catch { /* the reconciles are shown without the object */ }
  const place = element("div", {});
  state.object = { key, reconcileKey: key, places: new Map([[controller, place]]) };
  byId("panel").hidden = false;
  byId("panel-title").textContent = `${name} (not in a cache)`;
  byId("panel-body").replaceChildren(element("h3", {}, "Reconciles"), place);
  byId("panel-close").focus();
  return loadReconciles(controller, key, place);
}

function yaml(text) {
  const shown = element("pre", { id: "yaml", tabindex: "0" });
  const lines = text.split("\n");
  if (lines.length > 3000) {
    shown.textContent = text;
    return shown;
  }
  for (const line of lines) {
    const found = /^(\s*(?:- )*)([^\s:#"'-][^:]*):(\s.*|)$/.exec(line);
    if (found) {
      const value = found[3].includes("<hidden") ? element("span", { class: "hidden-value" }, found[3]) : found[3];
      shown.append(found[1], element("span", { class: "name" }, found[2]), ":", value, "\n");
    } else shown.append(`${line}\n`);
  }
  return shown;
}

function closePanel() {
  state.object = null;
  byId("panel").hidden = true;
}

// --- start ------------------------------------------------------------------------------------------------------------

function login(message) {
  connection("no token", "warn");
  byId("main").hidden = true;
  byId("login").hidden = false;
  byId("login-error").textContent = message;
}

function start() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem("listwatch-inspector-token", given);
    history.replaceState(null, "", location.pathname); // keeps the token out of the address bar and of the history
  }
  state.token = given ?? sessionStorage.getItem("listwatch-inspector-token") ?? "";
  for (const name of ["informer", "name", "namespace", "labels"]) {
    byId(`search-${name}`).addEventListener("input", () => {
      clearTimeout(searchTimer);
      searchTimer = setTimeout(search, 150);
    });
  }
  byId("search").addEventListener("submit", (event) => { event.preventDefault(); search(); });
  byId("login").addEventListener("submit", (event) => {
    event.preventDefault();
    state.token = byId("token").value.trim();
    byId("token").value = "";
    sessionStorage.setItem("listwatch-inspector-token", state.token);
    run();
  });
  byId("panel-close").addEventListener("click", closePanel);
  document.addEventListener("keydown", (event) => {
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "Escape") closePanel();
    else if (event.key === "/" && !isTyping) { event.preventDefault(); byId("search-name").focus(); }
  });
  setInterval(tick, 1000);
  if (state.token) run();
  else login("");
}

start();
