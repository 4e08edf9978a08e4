// Suggestions while one types, and keys: / to the search box, arrows or j and k through the results. The page works without.
"use strict";

const completions = new URL("../suggest", document.currentScript.src);
const box = document.getElementById("q");
const isTyping = (element) => /^(INPUT|SELECT|TEXTAREA)$/.test(element.tagName) || element.isContentEditable;

if (box) suggest(box);
document.addEventListener("keydown", onKey);

function onKey(event) {
  if (event.defaultPrevented || event.ctrlKey || event.shiftKey && event.key !== "/" || event.metaKey || event.altKey) return;
  if (isTyping(event.target)) {
    if (event.key === "Escape") event.target.blur();
    if (event.key === "ArrowDown" && event.target === box) move(event, 1);
    return;
  }
  const onHit = event.target.closest(".hit") !== null;
  if (!onHit && event.target !== document.body && event.target.id !== "main") return;
  if (event.key === "/" && box) {
    event.preventDefault();
    box.focus();
    box.select();
  }
  if (event.key === "j" || (event.key === "ArrowDown" && event.target.matches(".hit h2 a"))) move(event, 1);
  if (event.key === "k" || (event.key === "ArrowUp" && event.target.matches(".hit h2 a"))) move(event, -1);
}

// For browsers that do not send pings; where both come, a hit counts once.
for (const kind of ["click", "auxclick"]) document.addEventListener(kind, (event) => {
  const ping = event.button < 2 && event.target.closest("a[ping]")?.ping;
  if (ping) navigator.sendBeacon(ping);
});

function move(event, step) {
  const links = [...document.querySelectorAll(".hit h2 a")];
  if (!links.length) return;
  const here = links.indexOf(document.activeElement);
  event.preventDefault();
  if (!here && event.key === "ArrowUp" && box) box.focus();
  else links[here < 0 ? 0 : Math.min(Math.max(here + step, 0), links.length - 1)].focus();
}

// A combobox with a list, as the ARIA Authoring Practices describe it.
function suggest(input) {
  const list = document.createElement("ul");
  list.className = "suggestions";
  list.id = "suggestions";
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  input.parentNode.append(list);
  const attributes = { role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": "suggestions" };
  for (const [name, value] of Object.entries(attributes)) input.setAttribute(name, value);

  let typed = "", timer = 0, asked = 0, chosen = -1;

  const show = (texts) => {
    chosen = -1;
    list.replaceChildren(...texts.map((text, place) => {
      const option = document.createElement("li");
      option.id = `suggestion-${place}`;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      option.textContent = text;
      option.addEventListener("mousedown", (event) => { event.preventDefault(); input.value = text; input.form.requestSubmit(); });
      return option;
    }));
    list.hidden = !texts.length;
    input.setAttribute("aria-expanded", String(!list.hidden));
    input.removeAttribute("aria-activedescendant");
  };

  const ask = async () => {
    const mine = ++asked;
    try {
      const answer = await fetch(`${completions}?q=${encodeURIComponent(typed)}`);
      const [, texts] = answer.ok ? await answer.json() : [typed, []];
      if (mine === asked && document.activeElement === input) show(texts);
    } catch { /* no suggestions, then */ }
  };

  const stop = () => { clearTimeout(timer); asked++; };  // what is still asked for comes too late

  input.addEventListener("input", () => {
    typed = input.value;
    stop();
    if (typed.trim()) timer = setTimeout(ask, 100);
    else show([]);
  });
  input.addEventListener("blur", () => { stop(); show([]); });
  input.addEventListener("keydown", (event) => {
    if (list.hidden || event.isComposing) return;
    if (event.key === "Escape") { event.preventDefault(); stop(); input.value = typed; show([]); return; }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    stop();
    const options = [...list.children];
    chosen += event.key === "ArrowDown" ? 1 : -1;
    if (chosen < -1) chosen = options.length - 1;
    if (chosen >= options.length) chosen = -1;
    options.forEach((option, place) => option.setAttribute("aria-selected", String(place === chosen)));
    input.value = chosen < 0 ? typed : options[chosen].textContent;
    if (chosen < 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", options[chosen].id);
  });
}
