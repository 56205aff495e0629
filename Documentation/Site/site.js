// What the site adds to each page: one bar on top with the search and the choice of light or dark, regions that scroll by keyboard, and
// pictures that open in full size.
const root = new URL(baseUrl, location.href);
const SETTING = "developer.setting.preferredColorScheme";

const BAR = `
<style>
  :host { background: var(--back); border-bottom: 1px solid var(--line); box-sizing: border-box }
  nav { display: flex; align-items: center; gap: 4px; height: 100%; padding: 0 20px; font: 15px/1.5 var(--sans); color: var(--ink) }
  a, button, select, input { font: inherit; color: inherit; box-sizing: border-box; height: 34px; border-radius: 8px }
  a { display: flex; align-items: center; padding: 0 10px; text-decoration: none; white-space: nowrap }
  a:hover, button:hover, label:hover { color: var(--accent) }
  :is(a, button, input):focus-visible, label:focus-within { outline: 3px solid var(--accent); outline-offset: 1px }
  .home { font-weight: 650; gap: 9px; padding: 0 8px; margin: 0 14px 0 -8px; letter-spacing: -.01em }
  svg { width: 20px; height: 20px; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; flex: none }
  .home svg { color: var(--accent); width: 24px; height: 24px }
  button { display: none; align-items: center; border: 0; background: none; padding: 0 7px; cursor: pointer }
  form { margin-left: auto; flex: 0 1 260px; position: relative }
  form svg { position: absolute; left: 9px; top: 8px; width: 17px; height: 17px; color: var(--quiet); pointer-events: none }
  input { width: 100%; padding: 0 10px 0 33px; border: 1px solid var(--line); background: var(--panel); font-size: 15px }
  input::placeholder { color: var(--quiet); opacity: 1 }
  label { display: flex; align-items: center; position: relative; margin-left: 8px; border-radius: 8px; color: var(--quiet) }
  label svg { position: absolute; left: 9px; width: 18px; height: 18px; pointer-events: none }
  select { appearance: none; border: 1px solid var(--line); background: var(--panel); padding: 0 10px 0 34px; cursor: pointer }
  select:focus { outline: none }
  option { color: var(--ink); background: var(--back) }
  .find { display: none }
  button.has-contents { display: flex }
  @media (max-width: 735px) {
    nav { padding: 0 12px; gap: 0 }
    .home { margin-right: auto; padding: 0 6px }
    form, .wide { display: none }
    .find { display: flex; padding: 0 7px }
    select { width: 36px; padding: 0; border: 0; background: none; color: transparent }
    label { margin-left: 0; color: var(--ink) }
  }
  @media print { nav { display: none } }
</style>
<nav aria-label="Site">
  <button type="button" aria-label="Contents"><svg viewBox="0 0 24 24"><path d="M4 6h16M4 12h16M4 18h16"/></svg></button>
  <a class="home" data-path="">
    <svg viewBox="0 0 32 32" stroke-width="3"><circle cx="16" cy="16" r="3" fill="currentColor"/><circle cx="16" cy="16" r="8.5"/><circle cx="16" cy="16" r="14"/></svg>swift-corebluetooth</a>
  <a class="wide" data-path="documentation/swift-corebluetooth/firststeps/">First steps</a>
  <a class="wide" data-path="tutorials/tutorials/">Tutorials</a>
  <a data-path="documentation/swift-corebluetooth/">Docs</a>
  <form role="search" data-path="search/">
    <svg viewBox="0 0 24 24"><circle cx="11" cy="11" r="7"/><path d="m20 20-4-4"/></svg>
    <input type="search" name="q" placeholder="Search" aria-label="Search the documentation">
  </form>
  <a class="find" data-path="search/" aria-label="Search"><svg viewBox="0 0 24 24"><circle cx="11" cy="11" r="7"/><path d="m20 20-4-4"/></svg></a>
  <label>
    <svg viewBox="0 0 24 24"><circle cx="12" cy="12" r="8"/><path d="M12 4a8 8 0 0 1 0 16z" fill="currentColor"/></svg>
    <select aria-label="Color scheme"><option value="auto">Auto</option><option value="light">Light</option><option value="dark">Dark</option></select>
  </label>
</nav>`;

customElements.define("custom-header", class extends HTMLElement {
  static observedAttributes = ["data-color-scheme"];

  connectedCallback() {
    const shadow = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    shadow.innerHTML = BAR;
    for (const link of shadow.querySelectorAll("a")) link.href = new URL(link.dataset.path, root);
    for (const form of shadow.querySelectorAll("form")) form.action = new URL(form.dataset.path, root);
    shadow.querySelector("select").onchange = (event) => this.choose(event.target.value);
    shadow.querySelector("button").onclick = () => document.querySelector(".sidenav-toggle")?.click();
    this.dataset.colorScheme ??= document.body.dataset.colorScheme;
    this.attributeChangedCallback();
    this.contentsChanged();
  }

  attributeChangedCallback() {
    const select = this.shadowRoot?.querySelector("select");
    if (select) select.value = this.dataset.colorScheme ?? "auto";
  }

  /// Pages of DocC have a switch of their own, which is hidden: it tells the rest of the page.
  choose(scheme) {
    const own = document.querySelector(`.color-scheme-toggle input[value="${scheme}"]`);
    if (own) return own.click();
    document.body.dataset.colorScheme = this.dataset.colorScheme = scheme;
    localStorage.setItem(SETTING, scheme);
  }

  /// A button shows and hides the tree of pages of DocC.
  contentsChanged() {
    this.shadowRoot.querySelector("button").classList.toggle("has-contents", !!document.querySelector(".sidenav-toggle"));
  }
});

/// Mends what DocC leaves out for keyboards and screen readers: what scrolls needs the focus, and what has a name a role.
function pageChanged() {
  for (const element of document.querySelectorAll(".table-wrapper, .frame, pre, .code-listing, .declaration-group, .source")) {
    if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
    else element.removeAttribute("tabindex");
  }
  document.querySelector(".hierarchy-collapsed-items .toggle")?.setAttribute("aria-label", "More");
  document.querySelector(".hero .item[aria-label]")?.setAttribute("role", "group");
  document.querySelector("custom-header")?.contentsChanged();
}

let isScheduled = false;
function scheduleChange() {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => { isScheduled = false; pageChanged(); });
}
addEventListener("load", scheduleChange);
addEventListener("resize", scheduleChange);
new MutationObserver(scheduleChange).observe(document.documentElement, { childList: true, subtree: true });

addEventListener("click", (event) => {
  const image = event.target.closest?.(".content img, .primary-content img");
  if (image && !event.target.closest("a")) open(image.currentSrc);
});
