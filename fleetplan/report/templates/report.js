(() => {
"use strict";
const page = JSON.parse(document.getElementById("data").textContent);
const one = (q, at = document) => at.querySelector(q);
const all = (q, at = document) => [...at.querySelectorAll(q)];
const make = (tag, text = "", cls = "") => { const e = document.createElement(tag); if (text) e.textContent = text; if (cls) e.className = cls; return e; };

const pause = () => page.print ? null : new Promise(done => setTimeout(done));

/* ---- tables: the bytes of the plan's CSV files, unpacked when first needed ---- */
const store = new Map();
function bytesOf(name) {
  if (page.tables[name].text !== undefined) return new TextEncoder().encode(page.tables[name].text);
  const packed = Uint8Array.from(atob(page.tables[name].csv), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}
/* yields a row at a time, so that a long table can be read without a stall */
function* parse(text) {
  let row = [], i = 0; const n = text.length;
  while (i < n) {
    let cell;
    if (text[i] === '"') {
      let start = ++i, parts = "";
      for (;;) {
        const end = text.indexOf('"', i);
        if (text[end + 1] === '"') { parts += text.slice(start, end + 1); i = start = end + 2; continue; }
        cell = parts + text.slice(start, end); i = end + 1; break;
      }
    } else {
      let end = i;
      while (end < n && text[end] !== "," && text[end] !== "\n") end++;
      cell = text.slice(i, end); i = end;
    }
    row.push(cell);
    if (text[i] === ",") { i++; if (i === n) row.push(""); } else { yield row; row = []; i++; }
  }
}
const unguard = t => /^'+[=+\-@\t\r]/.test(t) ? t.slice(1) : t;
const isQuarter = t => /^\d{4}Q[1-4]$/.test(t);
const ordinal = t => Number(t.slice(0, 4)) * 4 + Number(t[5]) - 1;
const ends = []; page.lengths.reduce((sum, n) => (ends.push(sum + n), sum + n), page.start);
function periodOf(quarter) {
  if (!isQuarter(quarter)) return quarter;
  const at = ends.findIndex(end => ordinal(quarter) < end);
  return page.periods[at < 0 ? page.periods.length - 1 : at];
}
const rank = new Map(page.accelerators.map((name, i) => [name, i]));
function enrich(row) {
  for (const kind of ["site", "accelerator", "workload"]) if (row[kind] !== undefined) row[kind + "_label"] = page.titles[kind][row[kind]] ?? row[kind];
  if (row.kind !== undefined) row.decided = row.kind !== "committed";
  if (row.accelerator !== undefined) row.rank = rank.get(row.accelerator) ?? 0;
  for (const key of ["order_quarter", "delivery_quarter", "service_quarter"]) if (row[key] !== undefined) {
    row[key + "_period"] = periodOf(row[key]);
    row[key + "_n"] = isQuarter(row[key]) ? ordinal(row[key]) - page.start : 0;
  }
  return row;
}
async function rowsOf(name) {
  if (!store.has(name)) store.set(name, (async () => {
    const lines = parse(new TextDecoder().decode(await bytesOf(name))), head = lines.next().value;
    const columns = page.tables[name].columns, rows = [];
    let since = performance.now();
    for (const line of lines) {
      const row = {};
      columns.forEach((c, i) => { const t = line[i]; row[head[i]] = c.type === "text" ? unguard(t) : c.type === "bool" ? t === "True" : t === "" ? null : Number(t); });
      rows.push(enrich(row));
      if (rows.length % 500 === 0 && performance.now() - since > 40) { await pause(); since = performance.now(); }
    }
    return rows;
  })());
  return store.get(name);
}

/* ---- filters ---- */
const chosen = { site: null, accelerator: null, workload: null };
const known = Object.fromEntries(Object.entries(page.causes).map(([k, v]) => [k, new Set(v)]));
function passes(row) {
  for (const kind in chosen) {
    const set = chosen[kind];
    if (!set) continue;
    if (row[kind] !== undefined) { if (!set.has(row[kind])) return false; }
    else if (row.cause !== undefined && known[kind].has(row.cause) && !set.has(row.cause)) return false;
  }
  return true;
}
function readFilters() {
  for (const box of all(".filter")) {
    const kind = box.dataset.filter, boxes = all("input", box), on = boxes.filter(b => b.checked);
    chosen[kind] = on.length === boxes.length ? null : new Set(on.map(b => b.value));
    one(".chosen", box).textContent = chosen[kind] ? `${on.length} of ${boxes.length}` : "all";
    box.classList.toggle("on", !!chosen[kind]);
    for (const f of all(`[data-of-${kind}]`)) f.hidden = !!chosen[kind] && !chosen[kind].has(f.getAttribute("data-of-" + kind));
  }
  for (const li of all(".legend [data-accelerator]")) li.classList.toggle("off", !!chosen.accelerator && !chosen.accelerator.has(li.dataset.accelerator));
  const any = Object.values(chosen).some(Boolean);
  one("#reset").hidden = !any;
  one("#said").textContent = any ? "Charts and tables below show what is chosen; the first screen is the whole plan." : "";
  for (const c of charts) c.stale = true;
  for (const g of grids) if (g.shown) g.fill();
  drawVisible();
}
for (const box of all(".filter")) {
  box.addEventListener("change", readFilters);
  for (const b of all("[data-all]", box)) b.addEventListener("click", () => { all("input", box).forEach(i => { i.checked = b.dataset.all === "1"; }); readFilters(); });
  box.addEventListener("keydown", e => { if (e.key === "Escape") { box.open = false; one("summary", box).focus(); } });
  box.addEventListener("toggle", () => { if (box.open) all(".filter").forEach(o => { if (o !== box) o.open = false; }); });
}
document.addEventListener("click", e => all(".filter[open]").forEach(f => { if (!f.contains(e.target)) f.open = false; }));
one("#reset").addEventListener("click", () => { all(".filter input").forEach(i => { i.checked = true; }); readFilters(); });

/* ---- charts: one Vega specification per kind, each place gets its own rows ---- */
const specs = new Map();
const periods = new Map(all("[data-period]").map(s => [s.dataset.period, s]));
function vegaOf(name) {
  if (!specs.has(name)) specs.set(name, JSON.stringify(page.charts[name].vega));
  return JSON.parse(specs.get(name));
}
class Chart {
  constructor(place) { this.place = place; this.name = place.dataset.chart; this.stale = true; this.busy = false; this.view = null; place.classList.add("undrawn"); }
  get chart() { return page.charts[this.name]; }
  async rows(dataset) {
    const d = this.chart.datasets[dataset], facet = this.place.dataset.facet, period = this.chart.choice === dataset && periods.get(this.name).value;
    const only = Object.entries(d.only).map(([k, v]) => [k, new Set(v)]);
    const out = [];
    for (const row of await rowsOf(d.table)) {
      if (facet && row[facet] !== this.place.dataset.value) continue;
      if (period && row.period !== period) continue;
      if (!passes(row) || !only.every(([k, v]) => v.has(row[k]))) continue;
      out.push({ ...row });
    }
    return out;
  }
  async draw() {
    if (!this.stale || this.busy) return;
    this.busy = true; this.stale = false;
    const data = {};
    for (const name in this.chart.datasets) data[name] = await this.rows(name);
    const empty = Object.values(data).every(rows => !rows.length);
    if (this.view && !empty && !this.chart.steps) {
      for (const name in data) this.view.data(name, data[name]);
      await this.view.runAsync();
    } else await this.embed(data, empty);
    this.busy = false;
    this.place.classList.remove("undrawn");
    this.place.dataset.drawn = Object.values(data).reduce((n, r) => n + r.length, 0);
    if (this.stale) await this.draw();
  }
  async embed(data, empty) {
    if (this.result) this.result.finalize();
    this.result = this.view = null;
    if (empty) { this.place.replaceChildren(make("p", Object.values(chosen).some(Boolean) ? "Nothing matches the filters." : "The plan has nothing to show here.", "none")); return; }
    const spec = vegaOf(this.name);
    for (const d of spec.data) if (data[d.name]) { d.values = data[d.name]; }
    this.result = await vegaEmbed(this.place, spec, { mode: "vega", renderer: "svg", ast: true, actions: false, logLevel: 1, config: { aria: false, background: null }, tooltip: { theme: "custom" } });
    this.view = this.result.view;
  }
}
const charts = all(".chart").map(place => new Chart(place));
const inSight = new Set();
const watcher = new IntersectionObserver(entries => {
  for (const e of entries) { const c = charts.find(c => c.place === e.target); e.isIntersecting ? inSight.add(c) : inSight.delete(c); }
  drawVisible();
}, { rootMargin: "300px" });
let drawing = false;
async function drawVisible() {
  if (drawing) return;
  drawing = true;
  for (let next; (next = charts.find(c => c.stale && inSight.has(c) && c.place.offsetParent)); ) { await next.draw(); await pause(); }
  drawing = false;
  idle(drawRest);
}
const idle = f => (window.requestIdleCallback || (g => setTimeout(g, 60)))(f);
/* what is out of sight is drawn in idle moments, so that printing finds it */
async function drawRest() {
  if (drawing) return;
  const next = charts.find(c => c.stale && c.place.offsetParent);
  if (!next) { document.documentElement.dataset.ready = "1"; return; }
  await next.draw();
  idle(drawRest);
}
for (const [name, select] of periods) select.addEventListener("change", () => { charts.filter(c => c.name === name).forEach(c => { c.stale = true; }); drawVisible(); });

/* ---- tables ---- */
const STEP = 200;
const FIRST_ORDER = { orders: [["decided", false], ["last_responsible_date", true]], assumptions: [["swing_musd", false]], prices: [["worth_musd", false]], turns: [["turns", false]] };
const SI = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
const group = (x, digits) => x.toLocaleString("en-US", { maximumFractionDigits: digits });
function shown(value, column) {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  if (column.type === "text") return value;
  if (column.type === "bool") return value ? "yes" : "no";
  const size = Math.abs(value);
  if (column.unit.startsWith("samples")) for (const [n, p] of SI) if (size >= n) return `${Number((value / n).toPrecision(4))} ${p}`;
  if (Number.isInteger(value)) return group(value, 0);
  if (size >= 100) return group(value, 1);
  if (size >= 1) return group(value, 3);
  return String(Number(value.toPrecision(4)));
}
const heading = c => c.name.replace(/_(musd|mw|kw|mwh|t|ms|w|usd|gb)(?=$|_per)/, "").replaceAll("_", " ");
class Grid {
  constructor(place) { this.place = place; this.name = place.dataset.grid; this.table = page.tables[this.name]; this.shown = false; this.limit = STEP; this.sort = null; }
  open() { if (this.shown) return; this.shown = true; this.frame(); this.fill(); }
  frame() {
    const button = (text, act) => { const b = make("button", text); b.type = "button"; b.addEventListener("click", act); return b; };
    this.note = make("span");
    const bar = make("div", "", "actions");
    bar.append(button("Copy what is shown", e => this.copy(e.target)), button(`Download ${this.name}.csv`, () => this.download()), this.note);
    this.head = make("tr"); this.body = make("tbody");
    this.table.columns.forEach((c, i) => {
      const th = make("th"), b = button(heading(c), () => this.by(i));
      th.scope = "col"; th.title = `${c.name}: ${c.meaning}`; if (c.type !== "text" && c.type !== "bool") th.className = "n";
      th.append(b); if (c.unit) th.append(make("small", c.unit)); this.head.append(th);
    });
    const scroll = make("div", "", "scroll"), table = make("table"), thead = make("thead");
    scroll.tabIndex = 0; scroll.setAttribute("role", "region"); scroll.setAttribute("aria-label", `${this.name}: ${this.table.meaning}`);
    thead.append(this.head); table.append(thead, this.body); scroll.append(table);
    this.more = button("Show more", () => { this.limit += 5 * STEP; this.fill(); });
    this.place.replaceChildren(bar, scroll, this.more);
  }
  by(i) {
    this.sort = { i, up: this.sort && this.sort.i === i ? !this.sort.up : true };
    [...this.head.children].forEach((th, k) => k === i ? th.setAttribute("aria-sort", this.sort.up ? "ascending" : "descending") : th.removeAttribute("aria-sort"));
    this.fill();
  }
  async fill() {
    const every = await rowsOf(this.name);
    const keys = this.sort ? [[this.table.columns[this.sort.i].name, this.sort.up]] : FIRST_ORDER[this.name] ?? [];
    this.rows = every.filter(passes);
    for (const [key, up] of [...keys].reverse()) this.rows.sort((a, b) => (up ? 1 : -1) * (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0));
    const part = document.createDocumentFragment();
    for (const row of this.rows.slice(0, this.limit)) part.append(this.line(row));
    this.body.replaceChildren(part);
    this.note.textContent = every.length === this.rows.length ? `${group(every.length, 0)} rows` : `${group(this.rows.length, 0)} of ${group(every.length, 0)} rows pass the filters; the file has all`;
    this.more.hidden = this.rows.length <= this.limit;
    if (!every.length) this.note.textContent = "The plan has no such rows.";
  }
  line(row) {
    const tr = make("tr");
    for (const c of this.table.columns) {
      const td = make("td"), text = shown(row[c.name], c);
      if (c.type !== "text" && c.type !== "bool") { td.className = "n"; td.textContent = text; if (row[c.name] !== null) td.title = row[c.name]; }
      else if (/^https?:\/\/[^\s]+$/.test(text)) { const a = make("a", text.replace(/^https?:\/\/(www\.)?/, "").slice(0, 40)); a.href = text; a.rel = "noopener noreferrer"; a.target = "_blank"; td.append(a); }
      else if (text.length > 42) td.append(make("span", text, "long"));
      else { td.textContent = text; td.className = "short"; }
      tr.append(td);
    }
    return tr;
  }
  async download() { save(`${this.name}.csv`, await bytesOf(this.name), "text/csv"); }
  async copy(button) {
    const names = this.table.columns.map(c => c.name), clean = v => String(v ?? "").replace(/[\t\r\n]+/g, " ");
    const guard = v => /^'*[=+\-@]/.test(v) && Number.isNaN(Number(v)) ? "'" + v : v;
    const text = [names, ...this.rows.map(r => names.map(n => guard(clean(r[n]))))].map(line => line.join("\t")).join("\n");
    button.textContent = await toClipboard(text) ? "Copied" : "Copying is not allowed here";
    setTimeout(() => { button.textContent = "Copy what is shown"; }, 1500);
  }
}
async function toClipboard(text) {
  try { await navigator.clipboard.writeText(text); return true; } catch { /* older way below */ }
  const area = make("textarea"); area.value = text; document.body.append(area); area.select();
  const done = document.execCommand("copy"); area.remove(); return done;
}
function save(name, content, type) {
  const link = make("a"); link.download = name; link.href = URL.createObjectURL(new Blob([content], { type }));
  document.body.append(link); link.click(); link.remove(); setTimeout(() => URL.revokeObjectURL(link.href), 5000);
}
const grids = all("[data-grid]").map(place => new Grid(place));
for (const g of grids) {
  const details = g.place.closest("details");
  if (details.open) g.open();
  details.addEventListener("toggle", () => { if (details.open) g.open(); });
}
one("#manifest-json").addEventListener("click", () => save("manifest.json", JSON.parse(one("#manifest-text").textContent), "application/json"));

/* ---- light, dark, print ---- */
const themes = ["auto", "light", "dark"];
const remember = name => { try { localStorage.setItem("fleetplan-theme", name); } catch { /* a page from disk may not */ } };
function theme(name) { document.documentElement.dataset.theme = name; one("#theme").textContent = `Theme: ${name}`; }
try { const last = localStorage.getItem("fleetplan-theme"); if (themes.includes(last)) theme(last); } catch { /* as above */ }
one("#theme").addEventListener("click", () => { const next = themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % 3]; theme(next); remember(next); });
one("#print").addEventListener("click", () => window.print());

if (page.print) (async () => { for (const c of charts) await c.draw(); document.documentElement.dataset.ready = "1"; })();
else for (const c of charts) watcher.observe(c.place);
window.fleetplan = { rowsOf, charts, grids };
})();
