// Keeps the course in the browser at the first visit; weights, which are large, once they were asked
// for. `keepFiles` ([{url, revision}]) and `weightsHashes` ({url: hash}) come from the build, which
// bundles Workbox with this file. Cache names end with the scope, so copies do not meet.
import { clientsClaim } from "workbox-core";
import { cleanupOutdatedCaches, precacheAndRoute } from "workbox-precaching";
import { registerRoute, setDefaultHandler } from "workbox-routing";
import { CacheFirst, NetworkFirst } from "workbox-strategies";

const worker = /** @type {any} */ (self);
const { keepFiles, weightsHashes, registration } = worker;
const WEIGHTS = `course-weights-${registration.scope}`;
const hashed = Object.entries(weightsHashes).map(([url, hash]) => [
  new URL(url, registration.scope).href,
  hash,
]);
const keys = new Map(hashed.map(([url, hash]) => [url, `${url}?${hash}`]));

cleanupOutdatedCaches();
precacheAndRoute(keepFiles, { ignoreURLParametersMatching: [/./] });

// Weights are kept under their hash: of a new version they are fetched again only if they changed.
const byHash = { cacheKeyWillBeUsed: async ({ request: { url } }) => keys.get(url) ?? url };
registerRoute(
  ({ url }) => keys.has(url.href),
  new CacheFirst({ cacheName: WEIGHTS, plugins: [byHash], fetchOptions: { cache: "no-cache" } }),
);

// The rest (sources, notebooks, the index of the search) is kept when it was seen.
setDefaultHandler(new NetworkFirst({ cacheName: `course-seen-${registration.scope}` }));

clientsClaim();
addEventListener("message", ({ data }) => data === "take over" && worker.skipWaiting());
addEventListener("activate", (/** @type {any} */ event) => {
  const known = new Set(keys.values());
  const forget = async () => {
    const cache = await caches.open(WEIGHTS);
    for (const { url } of await cache.keys()) if (!known.has(url)) await cache.delete(url);
    for (const name of await caches.keys())
      if (/^course [0-9a-f]+$/.test(name)) caches.delete(name);
  };
  event.waitUntil(forget());
});
