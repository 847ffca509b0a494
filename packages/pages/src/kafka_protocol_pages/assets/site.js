// Themes, search, links between bytes and fields, copy buttons. Makes no requests.
"use strict";

const page = document.documentElement;
const storedTheme = {
  // Storage may be disabled, especially for file: URLs.
  get() { try { return localStorage.getItem("theme"); } catch { return null; } },
  set(value) { try { localStorage.setItem("theme", value); } catch { /* the theme applies to this page only */ } },
};
page.classList.add("scripted");
if (storedTheme.get()) page.dataset.theme = storedTheme.get();

window.addEventListener("hashchange", toVersion);
document.addEventListener("DOMContentLoaded", () => {
  toVersion();
  themes(document.getElementById("theme"));
  search(document.getElementById("find"), document.getElementById("found"));
  document.querySelectorAll(".inspector").forEach(inspector);
  document.querySelectorAll(".code:not(.output)").forEach(copying);
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((each) => { each.open = true; });
  });
  window.addEventListener("afterprint", () => closed.forEach((each) => { each.open = false; }));
});

/** Opens the page of a version, if the address has the id of its link, as in MetadataResponse.html#v13. */
function toVersion() {
  const link = /^#v\d+$/.test(location.hash) && document.querySelector(`.versions a[id="${location.hash.slice(1)}"]`);
  if (link) location.replace(link.href);
}

function themes(button) {
  const isDark = () => page.dataset.theme ? page.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; button.setAttribute("aria-label", `Switch to ${button.textContent.toLowerCase()} colors`); };
  button.hidden = false;
  name();
  button.addEventListener("click", () => {
    page.dataset.theme = isDark() ? "light" : "dark";
    storedTheme.set(page.dataset.theme);
    name();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
}

// ---- search

const MOST = 40;
let entries = [];
let loaded = null;

function load() {
  // The index is a script, because a page opened from a file cannot fetch data.
  loaded ??= Promise.all(["find.js", "search.js"].map(script)).then(() => { entries = [...KafkaFind.listed(SEARCH)]; });
  return loaded;
}

function script(name) {
  return new Promise((done) => {
    const element = document.createElement("script");
    element.src = `${document.body.dataset.root}assets/${name}`;
    element.addEventListener("load", done);
    document.head.append(element);
  });
}

function search(input, box) {
  let chosen = -1;
  const options = () => [...box.querySelectorAll("a")];
  const close = () => { box.hidden = true; input.setAttribute("aria-expanded", "false"); input.removeAttribute("aria-activedescendant"); };
  const choose = (number) => {
    const all = options();
    if (!all.length) return;
    chosen = (number + all.length) % all.length;
    all.forEach((each, at) => each.setAttribute("aria-selected", String(at === chosen)));
    all[chosen].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", all[chosen].id);
  };
  const show = async () => {
    await load();
    if (!input.value.trim()) { close(); return; }
    const found = KafkaFind.matches(entries, input.value);
    box.replaceChildren(...found.slice(0, MOST).map(option));
    if (!found.length || found.length > MOST) {
      const note = document.createElement("p");
      note.textContent = found.length ? `and ${found.length - MOST} more; refine the search` : "No matches.";
      box.append(note);
    }
    box.hidden = false;
    input.setAttribute("aria-expanded", "true");
    choose(0);
  };
  input.addEventListener("focus", load);
  input.addEventListener("input", show);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Enter" && !box.hidden && options()[chosen]) options()[chosen].click();
    else if (event.key === "Escape") { close(); input.blur(); }
    else return;
    event.preventDefault();
  });
  document.addEventListener("click", (event) => { if (!event.target.closest(".find") || event.target.closest("#found a")) close(); });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}

function option(each, at) {
  const link = document.createElement("a");
  const [name, what] = [document.createElement("span"), document.createElement("small")];
  link.id = `found-${at}`;
  link.href = document.body.dataset.root + each.link;
  link.setAttribute("role", "option");
  link.tabIndex = -1;
  name.textContent = each.name;
  what.textContent = each.what;
  link.append(name, what);
  return link;
}

// ---- hex dump and field tree

function inspector(box) {
  const hexes = [...box.querySelectorAll(".h i")];
  const chars = [...box.querySelectorAll(".c b")];
  const rows = [...box.querySelectorAll(".tree tbody tr")];
  const dump = box.querySelector(".dump");
  const ends = rows.map((row) => [Number(row.dataset.s), Number(row.dataset.e)]);
  const depth = (row) => Number(row.children[1].style.getPropertyValue("--d"));
  let current = null;
  let selected = null;

  const at = (byte) => {
    // Parents precede their children, so the last row that contains the byte is the innermost.
    let found = null;
    rows.forEach((row, number) => { if (ends[number][0] <= byte && byte < ends[number][1]) found = row; });
    return found;
  };
  const show = (row) => {
    if (row === current) return;
    box.querySelectorAll(".on").forEach((each) => each.classList.remove("on"));
    current = row;
    if (!row) return;
    const [start, end] = ends[rows.indexOf(row)];
    row.classList.add("on");
    for (const list of [hexes, chars]) list.slice(start, end).forEach((each) => each.classList.add("on"));
    if (hexes[start]) within(dump, hexes[start]);
  };
  const select = (row) => {
    rows.forEach((each) => { each.tabIndex = each === row ? 0 : -1; });
    selected = row;
    show(row);
  };
  const go = (row) => { if (row) { select(row); row.focus(); } };

  rows.forEach((row, number) => { row.tabIndex = number ? -1 : 0; });
  box.addEventListener("mouseover", (event) => {
    const row = event.target.closest(".tree tbody tr");
    const byte = event.target.closest(".h i, .c b");
    if (row) show(row);
    else if (byte) show(at((byte.tagName === "I" ? hexes : chars).indexOf(byte)));
  });
  box.addEventListener("mouseleave", () => show(selected));
  box.addEventListener("click", (event) => {
    const byte = event.target.closest(".h i, .c b");
    if (byte) go(at((byte.tagName === "I" ? hexes : chars).indexOf(byte)));
    else if (event.target.closest(".tree tbody tr")) go(event.target.closest("tr"));
  });
  box.addEventListener("focusin", (event) => { if (rows.includes(event.target)) select(event.target); });
  box.addEventListener("keydown", (event) => {
    const number = rows.indexOf(event.target);
    if (number < 0) return;
    const above = () => rows.slice(0, number).reverse().find((row) => depth(row) < depth(rows[number]));
    const moves = {
      ArrowDown: () => rows[number + 1],
      ArrowUp: () => rows[number - 1],
      ArrowLeft: above,
      ArrowRight: () => rows.slice(number + 1).find((row) => depth(row) <= depth(rows[number])) ?? rows[number + 1],
      Home: () => rows[0],
      End: () => rows[rows.length - 1],
    };
    if (event.key === "Escape") { selected = null; show(null); event.target.blur(); return; }
    if (!moves[event.key]) return;
    event.preventDefault();
    go(moves[event.key]());
  });
}

function within(box, element) {
  // Like scrollIntoView, but scrolls only the box.
  const [outer, inner] = [box.getBoundingClientRect(), element.getBoundingClientRect()];
  if (inner.top < outer.top) box.scrollTop -= outer.top - inner.top + 20;
  else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom + 20;
}

// ---- code

function copying(box) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const text = box.querySelector("code").textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(box.querySelector("code"));
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  box.append(button);
}
