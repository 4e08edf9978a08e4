// Hits while one types: the page of results is fetched and its main part shown. The page works without.
// History gets one entry for all that is typed until the box is left, so "back" leads to what was there before.
"use strict";

(() => {
  const WAIT_MS = 250, LEAST = 2;  // from the last key to the search; characters
  const used = new URL("../used", document.currentScript.src);
  const box = document.getElementById("q"), main = document.getElementById("main");
  const said = document.createElement("p");  // for those who listen: there before it has something to say
  said.className = "unseen";
  said.setAttribute("role", "status");
  document.body.append(said);

  let timer = 0, asked = new AbortController(), notBefore = 0, hasEntry = false;
  let shown = location.href;

  const address = () => {
    const wanted = new URLSearchParams(new FormData(box.form));
    return `${box.form.action}?${wanted}`;
  };

  const stop = () => { clearTimeout(timer); asked.abort(); };

  const show = async (href) => {
    const { signal } = asked = new AbortController();
    try {
      const answer = await fetch(href, { signal, headers: { "X-Typed": "1" } });
      if (answer.status === 429 || answer.status === 503) notBefore = Date.now() + 1000 * (answer.headers.get("Retry-After") || 1);
      if (!answer.ok) return false;  // what is shown stays
      const found = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (signal.aborted) return false;
      main.replaceChildren(...found.getElementById("main").childNodes);
      document.body.className = found.body.className;
      document.title = found.title;
      said.textContent = main.querySelector(".found, .none h2")?.textContent ?? "";
      shown = href;
      return true;
    } catch {
      return false;  // aborted, or not reached
    }
  };

  const typed = async () => {
    const href = address();
    if (href === shown || box.value.trim().length < LEAST || Date.now() < notBefore) return;
    if (!await show(href)) return;
    history[hasEntry ? "replaceState" : "pushState"](null, "", href);
    hasEntry = true;
  };

  box.addEventListener("input", (event) => {
    stop();
    if (!event.isComposing) timer = setTimeout(typed, WAIT_MS);
  });
  box.addEventListener("compositionend", () => { timer = setTimeout(typed, WAIT_MS); });
  // Where queries are logged, what was found while one typed counts once the box is left.
  const looked = () => {
    const answer = main.querySelector(".found")?.dataset.typed;
    if (answer) navigator.sendBeacon(`${used}?answer=${answer}`);
  };

  box.addEventListener("blur", () => { hasEntry = false; looked(); });
  box.form.addEventListener("submit", stop);
  addEventListener("popstate", async () => {
    if (location.href.split("#")[0] === shown.split("#")[0]) return;  // within the page
    stop();
    hasEntry = false;
    box.value = new URLSearchParams(location.search).get("q") ?? "";
    if (!await show(location.href)) location.reload();
  });
})();
