// What the site adds to each page of DocC: a header with the search, and pictures that open in full size.
const root = new URL(baseUrl, location.href);

const HEADER = `
<style>
  nav { display: flex; align-items: center; gap: 4px 20px; flex-wrap: wrap; padding: 8px 22px; box-sizing: border-box;
    font: 14px/1.5 -apple-system, "Helvetica Neue", Helvetica, Arial, sans-serif; background: var(--bar); color: var(--ink);
    border-bottom: 1px solid var(--line) }
  :host { --bar: #f5f5f7; --ink: #1d1d1f; --line: #d2d2d7; --link: #0057b8; display: block }
  @media (prefers-color-scheme: dark) { :host([data-color-scheme="auto"]) { --bar: #1d1d1f; --ink: #f5f5f7; --line: #424245; --link: #6cb2ff } }
  :host([data-color-scheme="dark"]) { --bar: #1d1d1f; --ink: #f5f5f7; --line: #424245; --link: #6cb2ff }
  a { color: var(--link); text-decoration: none }
  a:hover { text-decoration: underline }
  .home { font-weight: 600; color: var(--ink) }
  form { margin-left: auto; flex: 0 1 240px; min-width: 120px }
  input { width: 100%; box-sizing: border-box; font: inherit; padding: 2px 10px; border: 1px solid var(--line); border-radius: 8px;
    background: transparent; color: inherit }
  @media (max-width: 600px) { nav { padding: 6px 12px; gap: 2px 14px } form { flex-basis: 100% } }
</style>
<nav aria-label="Site">
  <a class="home" data-path="documentation/swift-corebluetooth/">swift-corebluetooth</a>
  <a data-path="documentation/swift-corebluetooth/firststeps/">First steps</a>
  <a data-path="tutorials/tutorials/">Tutorials</a>
  <a data-path="documentation/">Modules</a>
  <form role="search" data-path="search/"><input type="search" name="q" placeholder="Search" aria-label="Search the documentation"></form>
</nav>`;

customElements.define("custom-header", class extends HTMLElement {
  connectedCallback() {
    const shadow = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    shadow.innerHTML = HEADER;
    for (const link of shadow.querySelectorAll("a")) link.href = new URL(link.dataset.path, root);
    for (const form of shadow.querySelectorAll("form")) form.action = new URL(form.dataset.path, root);
  }
});

addEventListener("click", (event) => {
  const image = event.target.closest?.(".content img, .primary-content img");
  if (image && !event.target.closest("a")) open(image.currentSrc);
});
