// The list of a search of the web as it grows: the page is read again, and its list put in place of the one before.
// The page works without: it loads itself anew.
"use strict";

const SAY_EVERY_MS = 10000;  // to who listens: a sentence now and then
const LOOK_EVERY_MS = 1000;
const LOST = "The connection is lost; trying again.";
const live = document.getElementById("live");
const said = document.getElementById("live-said");
let spoke = Date.now();

if (live) watch();

async function watch() {
  while (live.dataset.over === "no") {
    await new Promise((done) => setTimeout(done, LOOK_EVERY_MS));
    const text = await fetch(location.pathname).then((answer) => (answer.ok ? answer.text() : "")).catch(() => "");
    const next = new DOMParser().parseFromString(text, "text/html").getElementById("live");
    if (next) show(next); else lost();  // the error page of a proxy is none: the list stays
  }
}

function lost() {
  const line = document.getElementById("live-state");
  if (line.textContent !== LOST) line.textContent = said.textContent = LOST;
}

function show(next) {
  const over = next.dataset.over === "yes";
  const first = !live.querySelector(".hit");
  for (const id of ["live-state", "live-figures", "live-note"]) exchange(next, id);
  steadily(() => arrange(document.getElementById("live-list"), next.querySelector("#live-list")));
  live.dataset.over = next.dataset.over;
  live.className = next.className;
  if (over) removeStop();
  if (over || (first && live.querySelector(".hit")) || Date.now() - spoke >= SAY_EVERY_MS) say();
}

function removeStop() {  // who has the focus on it reads on at the reason
  const form = document.getElementById("live-stop");
  if (form?.contains(document.activeElement)) document.getElementById("live-state").focus();
  form?.remove();
}

function exchange(next, id) {
  const old = document.getElementById(id), fresh = next.querySelector(`#${id}`);
  if (old && fresh && old.outerHTML !== fresh.outerHTML) {
    old.className = fresh.className;
    old.replaceChildren(...fresh.childNodes);
  }
}

// Elements stay the same as long as their page is on the list: what has the focus keeps it.
function arrange(list, wanted) {
  const focused = document.activeElement;
  const ids = new Set([...wanted.children].map((item) => item.id));
  for (const item of [...list.children]) if (!ids.has(item.id)) item.remove();
  [...wanted.children].forEach((fresh, place) => {
    const old = document.getElementById(fresh.id);
    if (old) renew(old, fresh);
    const item = old || fresh;
    if (list.children[place] !== item) list.insertBefore(item, list.children[place] || null);
  });
  if (focused !== document.activeElement && list.contains(focused)) focused.focus({ preventScroll: true });
}

function renew(item, fresh) {
  if (item.innerHTML === fresh.innerHTML) return;
  const article = item.querySelector("article"), parts = [...fresh.querySelector("article").children];
  if (!item.contains(document.activeElement)) { article.replaceChildren(...parts); return; }
  const old = item.querySelector(".relevance"), now = fresh.querySelector(".relevance");
  if (old && now) old.replaceChildren(...now.childNodes);  // what one is about to open stays as it is
}

// Where one looks nothing moves: at what has the focus, what lies under the pointer, or the first that is seen.
function steadily(change) {
  const list = document.getElementById("live-list");
  const inView = (item) => item.getBoundingClientRect().bottom > 0;
  const kept = document.activeElement.closest("#live-list .hit") || list.querySelector(".hit:hover")
    || (scrollY > 0 && [...list.children].find(inView));
  const before = kept ? kept.getBoundingClientRect().top : 0;
  change();
  if (kept && kept.isConnected) scrollBy({ top: kept.getBoundingClientRect().top - before, behavior: "instant" });
}

function say() {
  spoke = Date.now();
  const figures = [...document.querySelectorAll("#live-figures > div")].slice(0, 2)
    .map((one) => `${one.querySelector("dd").textContent} ${one.querySelector("dt").textContent}`);
  said.textContent = `${document.getElementById("live-state").textContent} ${figures.join(", ")}.`;
}
