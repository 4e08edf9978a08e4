// A search box in a page of another site: it takes the place of each <site-search>, or stands where this script does.
// The form in a <site-search> works without this script; here its address, fields and words are used. Stores nothing.
"use strict";
(() => {
  const WAIT_MS = 200, LEAST = 2, HITS = 8;  // from the last key to the search; characters; hits shown
  const script = document.currentScript;
  const api = new URL("../api/search", script.src), page = new URL("../search", script.src), used = new URL("../used", script.src);

  const STYLE = `
    :host { display: block; }
    * { box-sizing: border-box; }
    .all { all: initial; color-scheme: inherit; display: block; position: relative; overflow-wrap: anywhere;
      font: var(--search-font, 16px/1.5 system-ui, sans-serif); color: var(--ink);
      --ink: var(--search-ink, CanvasText); --ground: var(--search-ground, Canvas); --accent: var(--search-accent, LinkText);
      --line: var(--search-line, color-mix(in srgb, var(--ink) 50%, var(--ground)));
      --dim: color-mix(in srgb, var(--ink) 72%, var(--ground)); --radius: var(--search-radius, .4em); }
    form { display: flex; gap: .5em; margin: 0; }
    input, button { font: inherit; color: inherit; padding: .45em .8em; border: 1px solid var(--line); border-radius: var(--radius); background: var(--ground); }
    input { flex: 1; min-width: 0; appearance: none; }
    button { border-color: var(--accent); color: var(--accent); cursor: pointer; }
    :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
    .panel { position: absolute; z-index: 1000; inset: calc(100% + .3em) 0 auto; max-height: 75vh; overflow: auto; padding: .6em .9em;
      background: var(--ground); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: 0 .5em 1.5em rgb(0 0 0 / .25); }
    [hidden] { display: none; }
    ol, ul { list-style: none; margin: 0; padding: 0; }
    ol > li { padding-block: .5em; }
    ul { padding-inline-start: 1em; font-size: .9em; }
    a { color: var(--accent); text-decoration: none; }
    a:hover, a:focus { text-decoration: underline; }
    ol > li > a { font-weight: 600; }
    p { margin: 0; font-size: .9em; }
    .snippet { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; }
    mark { color: inherit; background: none; font-weight: 600; }
    .where, .said { color: var(--dim); }`;
  const sheet = new CSSStyleSheet();  // not a <style>: a page's policy may forbid these
  sheet.replaceSync(STYLE);

  const make = (name, values, ...children) => {
    const made = Object.assign(document.createElement(name), values);
    made.append(...children.filter((child) => child));
    return made;
  };
  const link = (href, text) => make("a", /^https?:\/\//.test(href) ? { href } : {}, text);

  class SiteSearch extends HTMLElement {
    #input; #panel; #said; #fields; #page; #timer = 0; #asked = null; #answer = "";

    connectedCallback() {
      if (this.shadowRoot) return;
      const form = this.querySelector("form"), box = form?.querySelector("[name=q]");
      this.#page = form?.action ?? page.href;
      this.#fields = [...(form ? new FormData(form) : [])].filter(([name]) => name !== "q");
      const said = box?.ariaLabel || box?.labels[0]?.textContent.trim() || "Search";
      this.#input = make("input", { type: "search", name: "q", ariaLabel: said, placeholder: box?.placeholder ?? "", autocomplete: "off", required: true });
      this.#said = make("div", { className: "said", role: "status" });
      this.#panel = make("div", { className: "panel", hidden: true });
      const root = make("div", { className: "all" },
        make("form", { action: this.#page, role: "search" }, this.#input, ...this.#fields.map(([name, value]) => make("input", { type: "hidden", name, value })),
          make("button", {}, form?.querySelector("button")?.textContent ?? "Search")),
        this.#panel);
      this.#panel.append(this.#said);
      const shadow = this.attachShadow({ mode: "open" });
      shadow.adoptedStyleSheets = [sheet];
      shadow.append(root);
      this.#input.addEventListener("input", () => this.#typed());
      this.#input.addEventListener("focus", () => { this.#panel.hidden = !this.#panel.querySelector("ol"); });
      root.addEventListener("keydown", (event) => this.#key(event));
      root.addEventListener("focusout", (event) => {
        if (root.contains(event.relatedTarget)) return;
        this.#panel.hidden = true;
        this.#tell();
      });
      root.addEventListener("submit", () => { this.#answer = ""; });
      for (const kind of ["click", "auxclick"]) this.#panel.addEventListener(kind, (event) => this.#opened(event));
    }

    #typed() {
      clearTimeout(this.#timer);
      this.#asked?.abort();
      const query = this.#input.value.trim();
      if (query.length < LEAST) this.#show("");
      else this.#timer = setTimeout(() => this.#ask(query), WAIT_MS);
    }

    async #ask(query) {
      const { signal } = this.#asked = new AbortController();
      const wanted = new URLSearchParams([["q", query], ["limit", HITS], ["typed", 1], ...this.#fields]);
      try {
        const answer = await fetch(`${api}?${wanted}`, { signal, credentials: "omit", referrerPolicy: "no-referrer" });
        const found = await answer.json();
        if (signal.aborted) return;
        if (!answer.ok) return this.#show(found.error);
        const to = (name, value) => {  // the search page, with this changed
          const there = new URLSearchParams([["q", query], ...this.#fields]);
          there.set(name, value);
          return `${this.#page}?${there}`;
        };
        this.#show(found.hits.length ? "" : "No page was found.", found, to);
      } catch {
        if (!signal.aborted) this.#show("The search cannot be reached now.");
      }
    }

    #show(said, found = { hits: [] }, to = null) {
      const { hits, total } = found, more = hits.length < total;
      const count = `${found.at_least ? "more than " : ""}${total?.toLocaleString("en")} ${total === 1 ? "page" : "pages"}`;
      this.#answer = found.answer ?? "";
      this.#said.replaceChildren(...[
        said || (hits.length ? count : ""),
        found.note && make("p", {}, found.note),
        found.corrected && make("p", {}, "Results for ", make("b", {}, found.corrected), ". ", link(to("exact", 1), `Search for ${found.query} as typed`)),
        found.did_you_mean && make("p", {}, "Did you mean ", link(to("q", found.did_you_mean), found.did_you_mean), "?"),
        found.other_reading && make("p", {}, "Other reading: ", link(to("q", found.other_reading), found.other_reading)),
      ].filter((part) => part));
      const list = hits.length && make("ol", {}, ...hits.map(hit => this.#hit(hit)));
      this.#panel.replaceChildren(...[this.#said, list, more && make("p", {}, link(to("q", found.query), "All results"))].filter((part) => part));
      this.#panel.hidden = !this.#said.textContent;
    }

    #opened(event) {  // what leads to the search page is logged there
      const item = event.button < 2 && event.target.closest("a") && event.target.closest("ol > li");
      if (item) this.#tell([...item.parentNode.children].indexOf(item) + 1);
      else if (event.target.closest("a")) this.#answer = "";
    }

    #tell(rank = 0) {  // where the server keeps a log of queries: this was looked at, or opened
      const told = `${used}?answer=${this.#answer}&rank=${rank}`;
      if (this.#answer) fetch(told, { method: "POST", keepalive: true, credentials: "omit", referrerPolicy: "no-referrer" }).catch(() => {});
    }

    #hit(hit) {
      const [best, ...others] = hit.sections, leadsToSection = best && hit.href === best.url;
      const title = link(hit.href, leadsToSection ? `${hit.title} › ${best.heading}` : hit.title);
      if (hit.language) title.hreflang = hit.language;
      return make("li", { lang: hit.language },
        title,
        make("p", { className: "where" }, hit.url.replace(/^https?:\/\/(www\.)?/, "")),
        make("p", { className: "snippet", dir: "auto" }, ...hit.marked.map((piece, place) => place % 2 ? make("mark", {}, piece) : piece)),
        others.length > 0 && make("ul", {}, ...others.map((section) => make("li", {}, link(section.url, section.heading)))));
    }

    #key(event) {
      if (event.isComposing) return;
      if (event.key === "Escape" && !this.#panel.hidden) {
        event.preventDefault();
        this.#input.focus();
        this.#panel.hidden = true;
      }
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || this.#panel.hidden) return;
      event.preventDefault();
      const places = [this.#input, ...this.#panel.querySelectorAll("a")];
      const next = places.indexOf(this.shadowRoot.activeElement) + step;
      places[Math.min(Math.max(next, 0), places.length - 1)].focus();
    }
  }

  const start = () => {
    if (!document.querySelector("site-search")) script.after(document.createElement("site-search"));
    customElements.define("site-search", SiteSearch);
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
