// The page of results. Over http Pagefind answers, with the section and a line of its text; from
// disk, where nothing can be fetched, Sphinx's index does, with titles.

const KINDS = {
  chapter: "Chapters",
  exercise: "Exercises",
  exhibit: "Museum of bugs",
  more: "Reference and appendices",
};
const PAGES = 8; // of a kind
const SECTIONS = 3; // of a page
const RANKING = { pageLength: 0.1, termSaturation: 0.5 }; // a long page is no fault

const asked = new URLSearchParams(location.search).get("q") ?? "";
const place = document.getElementById("search-results");

/** An element with this text or HTML; Pagefind's excerpts are escaped text with marks.
 * @param {string} tag
 * @param {{[name: string]: any}} properties */
function element(tag, { html = "", ...properties }) {
  const made = Object.assign(document.createElement(tag), properties);
  if (html) made.innerHTML = html;
  return made;
}

function pageFound({ excerpt, meta, sub_results: found, url }) {
  const item = document.createElement("li");
  item.append(element("a", { href: url, textContent: meta.title }));
  const sections = found.filter((section) => section.url !== url);
  sections.sort((a, b) => b.locations.length - a.locations.length);
  for (const section of sections.slice(0, SECTIONS)) {
    const line = element("p", { html: `: ${section.excerpt}` });
    line.prepend(element("a", { href: section.url, textContent: section.title }));
    item.append(line);
  }
  if (!sections.length) item.append(element("p", { html: excerpt }));
  return item;
}

async function askPagefind() {
  const pagefind = await import(new URL(`${ROOT}pagefind/pagefind.js`, location.href).href);
  await pagefind.options({ ranking: RANKING, excerptLength: 20 });
  let count = 0;
  for (const [kind, title] of Object.entries(KINDS)) {
    const { results } = await pagefind.search(asked, { filters: { kind } });
    if (!results.length) continue;
    const pages = await Promise.all(results.slice(0, PAGES).map((result) => result.data()));
    const list = element("ul", { className: "search" });
    list.append(...pages.map(pageFound));
    place.append(element("h2", { textContent: `${title}: ${results.length}` }), list);
    count += results.length;
  }
  if (!count) place.textContent = `No page holds “${asked}”.`;
}

function askSphinx() {
  for (const name of ["_static/searchtools.js", "_static/language_data.js", "searchindex.js"])
    document.body.append(element("script", { src: ROOT + name, async: false }));
}

if (!asked || !location.protocol.startsWith("http")) askSphinx();
else askPagefind().catch(askSphinx); // without network, too, where the index was not kept
