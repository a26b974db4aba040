// Keeps the whole course in the browser at the first visit; weights and notebooks, which are large,
// once they were asked for. FILES and VERSION come from the build.

addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(VERSION)
      .then((cache) => cache.addAll(FILES))
      .then(() => skipWaiting()),
  );
});

addEventListener("activate", (event) => {
  const old = (names) => names.filter((name) => name.startsWith("course ") && name !== VERSION);
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(old(names).map((name) => caches.delete(name))))
      .then(() => clients.claim()),
  );
});

addEventListener("fetch", (event) => {
  if (event.request.method !== "GET") return;
  const answer = async () => {
    const cache = await caches.open(VERSION);
    const kept = await cache.match(event.request, { ignoreSearch: true });
    if (kept) return kept;
    const { href } = new URL(event.request.url);
    const folder = href.endsWith("/") && (await cache.match(href + "index.html"));
    if (folder) return folder;
    const found = await fetch(event.request);
    if (found.ok) await cache.put(event.request, found.clone());
    return found;
  };
  event.respondWith(answer());
});
