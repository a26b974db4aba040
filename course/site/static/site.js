// What a page of the course does by itself: formulas, live views, progress, print, offline.

/** @param {string} selector @returns {any[]} */
const every = (selector) => [...document.querySelectorAll(selector)];
const page = /** @type {any} */ (globalThis); // what other scripts define
const ROOT = document.documentElement.dataset.content_root ?? "./";

// ---- formulas: their scripts come after the text, which can be read before

function drawFormulas() {
  for (const node of every(".tex"))
    page.katex.render(node.textContent, node, { displayMode: node.tagName === "DIV" });
  reachable(); // a long one scrolls
}

if (document.querySelector(".tex")) {
  const folder = ROOT + "_static/katex/dist/";
  const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet" });
  const script = document.createElement("script");
  sheet.href = folder + "katex.min.css";
  script.src = folder + "katex.min.js";
  script.onload = drawFormulas;
  // Both change the width of what may be drawn already.
  sheet.onload = reachable;
  document.fonts.addEventListener("loadingdone", reachable);
  document.head.append(sheet, script);
}

// ---- views

// The first journey of a page opens where the address says: "?at=3,decoder.2.cross.head.3"; its
// walk, at a step: "?at=3,,5".
const AT = /^\?at=(\d+),((\w+\.\d+(?:\.\w+)?)(?:\.head\.(\d+))?|)(?:,(\d))?$/;
const [journey] = every('.course-view[data-view="JourneyView"]');
for (const node of every(".course-view")) {
  const { view, model } = node.dataset;
  const translator = model && page.tutorModel.open(`${ROOT}_static/model/${model}`); // loaded when asked
  if (translator && location.protocol.startsWith("http") && !page.navigator.connection?.saveData)
    addEventListener("load", () => setTimeout(translator.warm, 500)); // or before
  const state = JSON.parse(node.querySelector("script").textContent);
  const [linked, step, place, part, head, walk] =
    (node === journey && AT.exec(location.search)) || [];
  const { target, lengths, heads } = state.facts ?? {};
  const known = () =>
    head
      ? heads[part]?.[head]
      : Object.keys(lengths).some((sub) => `${sub}.`.startsWith(`${part}.`));
  if (linked && step < target.length && (!part || known()))
    Object.assign(state, { step: Number(step), place, walk: Number(walk ?? 0) });
  const shown = page.tutorViews[view].open(node, JSON.stringify(state), translator);
  if (linked)
    addEventListener("load", () => {
      node.scrollIntoView();
      node.querySelector("button").focus({ preventScroll: true }); // who is led here, asks
    });
  if (node === journey)
    for (const trait of ["step", "place", "walk"])
      shown.on(`change:${trait}`, () => remember(shown));
}

/** Write what is shown into the address, so that it can be linked to. */
function remember(shown) {
  const [step, place, walk] = ["step", "place", "walk"].map(shown.get);
  const at = `?at=${step},${place}${walk ? `,${walk}` : ""}`;
  history.replaceState(null, "", location.pathname + at + location.hash);
}

// A journey that is wider than text takes the room of the contents: they hide while it is in sight.
const contents = document.querySelector(".toc-drawer");
if (journey && !journey.querySelector(".journey-bars-alone"))
  new IntersectionObserver((changes) =>
    contents?.classList.toggle("beneath", changes.at(-1).isIntersecting),
  ).observe(journey);

// A sentence to try goes to the view below it.
for (const chip of every("button[data-sentence]"))
  chip.addEventListener("click", () => {
    const asking = chip.closest(".try").querySelector(".tutor-asking");
    asking.querySelector("input").value = chip.dataset.sentence;
    asking.querySelector("button").click();
  });

// ---- what scrolls can be reached with the keyboard

function reachable() {
  for (const node of every("article pre, article table, article .table-wrapper, div.tex"))
    if (node.scrollWidth > node.clientWidth) node.tabIndex = 0;
}
reachable();
addEventListener("resize", reachable);
addEventListener("toggle", reachable, true); // a fold was opened

// ---- how far the reader is

/** What this browser remembers of a page; nothing, where it may not remember. */
const memory = {
  key: (path) => "read " + path,
  get(path) {
    try {
      return localStorage.getItem(memory.key(path));
    } catch {
      return null;
    }
  },
  set(path) {
    try {
      localStorage.setItem(memory.key(path), "to the end");
    } catch {
      // a browser that remembers nothing
    }
  },
};

const bar = document.createElement("div");
bar.className = "reading-progress";
bar.setAttribute("aria-hidden", "true");
document.body.append(bar);

function showProgress() {
  const length = document.documentElement.scrollHeight - innerHeight;
  const share = length > 0 ? Math.min(1, scrollY / length) : 1;
  bar.style.transform = `scaleX(${share})`;
  if (share > 0.97 && scrollY > 0) memory.set(location.pathname);
}
addEventListener("scroll", showProgress, { passive: true });
showProgress();

for (const link of every(".course-navigation a"))
  if (memory.get(link.pathname)) {
    link.classList.add("read");
    link.title = "Read to the end";
  }

// ---- paper: all that is folded is open

const opened = [];
addEventListener("beforeprint", () => {
  for (const fold of every("details:not([open])")) {
    fold.open = true;
    opened.push(fold);
  }
});
addEventListener("afterprint", () => {
  for (const fold of opened.splice(0)) fold.open = false;
});

// ---- code can be copied

for (const block of every("article div.highlight")) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "copy", textContent: "Copy" });
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("pre").textContent.trimEnd());
    button.textContent = "Copied";
  });
  block.append(button);
}

// ---- the sidebar shows where the reader is

const [here] = every(".course-navigation a[aria-current]");
const sidebar = here?.closest(".sidebar-scroll");
if (sidebar) sidebar.scrollTop = here.offsetTop - sidebar.clientHeight / 2;

// ---- over http the course is kept for reading without network, unless the reader saves data

/** Offer a version that is fetched whole. */
function offer(worker) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", textContent: "Reload" });
  button.addEventListener("click", () => {
    navigator.serviceWorker.addEventListener("controllerchange", () => location.reload());
    worker.postMessage("take over");
  });
  const line = document.createElement("p");
  Object.assign(line, { className: "new-version", role: "status" });
  line.append("There is a new version of the course. ", button);
  document.body.append(line);
}

async function keep() {
  const { serviceWorker } = navigator;
  serviceWorker.addEventListener("controllerchange", () => {
    // Weights that came before the worker was there are asked for again, so that it keeps them.
    for (const { name } of performance.getEntriesByType("resource"))
      if (name.endsWith(".weights.js")) fetch(name);
  });
  const registration = await serviceWorker.register(`${ROOT}offline.js`);
  const waits = () => registration.waiting && serviceWorker.controller;
  if (waits()) offer(registration.waiting);
  registration.addEventListener("updatefound", () => {
    const worker = registration.installing;
    worker.addEventListener("statechange", () => {
      if (worker.state === "installed" && waits()) offer(worker);
    });
  });
}

if (location.protocol.startsWith("http") && "serviceWorker" in navigator)
  if (!page.navigator.connection?.saveData) keep();
