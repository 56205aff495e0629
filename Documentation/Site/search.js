// The search: pages of prose first, then symbols. Pagefind finds them; its index has each symbol once.
const pagefind = await import(new URL("pagefind/pagefind.js", root));
await pagefind.options({ excerptLength: 24 });
const field = document.querySelector("main input");
const state = document.querySelector("#status");
const COUNTS = { pages: 6, symbols: 12 };
let latest = 0;

/// An element with a text, which is never read as HTML.
function make(name, text, kind = "") {
  const element = document.createElement(name);
  element.textContent = text;
  element.className = kind;
  return element;
}

/// The words around what was found, which is marked.
function excerpt(html) {
  const paragraph = make("p", "");
  for (const node of new DOMParser().parseFromString(html, "text/html").body.childNodes) {
    paragraph.append(node.nodeName === "MARK" ? make("mark", node.textContent) : node.textContent);
  }
  return paragraph;
}

function entry({ url, meta, excerpt: html }, isSymbol) {
  const item = make("li", "");
  const link = make("a", "");
  link.href = new URL(url.replace(/^\//, ""), root);
  link.append(make("span", meta.title, "title"), make("span", meta.place, "place"));
  item.append(link);
  if (!isSymbol) item.append(excerpt(html));
  else if (meta.abstract) item.append(make("p", meta.abstract));
  return item;
}

/// Shows the results of one kind from an index on, as many as are shown at a time.
async function show(section, results, first, query) {
  const end = first + COUNTS[section.id];
  const found = await Promise.all(results.slice(first, end).map((result) => result.data()));
  if (query !== latest) return;
  // The symbol that was typed precedes those whose names contain it.
  const isTyped = ({ meta }) => meta.title.toLowerCase() === field.value.trim().toLowerCase();
  found.sort((one, other) => isTyped(other) - isTyped(one));
  section.querySelector("ol").append(...found.map((data) => entry(data, section.id === "symbols")));
  const more = section.querySelector("button");
  more.hidden = results.length <= end;
  more.onclick = () => show(section, results, end, query);
}

/// Whether what was found contains what was typed: Pagefind also finds words that begin with its first letters alone.
async function isFound(result, text) {
  const typed = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const found = [...excerpt((await result.data()).excerpt).querySelectorAll("mark")].map((mark) => mark.textContent.toLowerCase());
  return typed.every((word) => found.some((other) => other.includes(word.slice(0, Math.ceil(word.length / 2)))));
}

/// The least number of letters to insert, remove or replace.
function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1);
}

/// The names and words of titles that are nearest to what was typed.
async function similar(text) {
  const names = await (await fetch(new URL("search/names.json", root))).json();
  const typed = text.toLowerCase();
  return names.map((name) => [distance(typed, name.toLowerCase()), name])
    .filter(([steps, name]) => steps <= Math.max(1, Math.floor(Math.min(name.length, typed.length) / 3)))
    .sort(([one], [other]) => one - other).slice(0, 3).map(([, name]) => name);
}

async function showNothing(text, query) {
  const names = await similar(text);
  if (query !== latest) return;
  const line = document.querySelector("#similar");
  line.hidden = !names.length;
  line.replaceChildren("Did you mean ", ...names.flatMap((name, index) => {
    const link = make("a", name);
    link.href = `?q=${encodeURIComponent(name)}`;
    return index ? [index === names.length - 1 ? " or " : ", ", link] : [link];
  }), "?");
}

async function search() {
  const text = field.value.trim();
  const query = ++latest;
  const address = new URL(location.href);
  text ? address.searchParams.set("q", text) : address.searchParams.delete("q");
  history.replaceState(null, "", address);
  document.title = text ? `${text}: search in swift-corebluetooth` : "Search in swift-corebluetooth";
  const of = async (kind) => {
    const { results } = await pagefind.search(text, { filters: { kind } });
    return results.length && await isFound(results[0], text) ? results : [];
  };
  const [pages, symbols] = text ? await Promise.all([of("page"), of("symbol")]) : [[], []];
  if (query !== latest) return;
  const count = pages.length + symbols.length;
  const counted = (number, name) => `${number} ${name}${number === 1 ? "" : "s"}`;
  state.textContent = !text ? "" : count
    ? `${counted(pages.length, "page")} and ${counted(symbols.length, "symbol")}` : `Nothing contains “${text}”.`;
  document.querySelector("#results").hidden = !count;
  document.querySelector("#nothing").hidden = !text || !!count;
  if (text && !count) return showNothing(text, query);
  for (const [id, results] of Object.entries({ pages, symbols })) {
    const section = document.getElementById(id);
    section.hidden = !results.length;
    section.querySelector("ol").replaceChildren();
    await show(section, results, 0, query);
  }
}

let timer = 0;
field.oninput = () => { clearTimeout(timer); timer = setTimeout(search, 150); };
field.form.onsubmit = (event) => { event.preventDefault(); clearTimeout(timer); search(); };
field.focus({ preventScroll: true });
field.value = new URLSearchParams(location.search).get("q") ?? "";
search();
