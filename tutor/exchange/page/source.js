// The page's side: promises for what the Worker answers. It alone runs in the page itself.

/** A model whose weights are a script at `url`, loaded with the first question; without `url` they
 * are on the page, as `tutorWeights`.
 *
 * A script and a Worker made of text, because a page that was opened from disk may load neither
 * data nor a Worker's file. `program` is the text of worker.js.
 */
export function openModel(url, program) {
  const waiting = new Map(); // number of a question -> {resolve, reject}
  let [worker, count] = [null, 0];

  function start() {
    worker = load(url).then((parts) => {
      const file = new Blob([program], { type: "text/javascript" });
      const made = new Worker(URL.createObjectURL(file));
      made.onmessage = ({ data: { ask, answer, error } }) => {
        const { resolve, reject } = waiting.get(ask) ?? {};
        waiting.delete(ask);
        if (error !== undefined) reject?.(new Error(error));
        else resolve?.(answer);
      };
      made.onerror = () => {
        for (const { reject } of waiting.values())
          reject(new Error("The model cannot run in this page."));
        waiting.clear();
      };
      return post(made, { parts }).then(() => {
        model.ready = true;
        return made;
      });
    });
    worker.catch(() => (worker = null)); // so that the next question tries again
    return worker;
  }

  function post(made, message) {
    const ask = count++;
    return new Promise((resolve, reject) => {
      waiting.set(ask, { resolve, reject });
      made.postMessage({ ...message, ask });
    });
  }

  const ask =
    (method) =>
    async (...args) =>
      post(await (worker ?? start()), { method, args });
  const model = {
    alive: true, // JourneyView's source, too
    ready: false, // are the weights here?
    /** Load the weights before the first question. */
    warm: () => (worker ?? start()).catch(() => {}), // who asks will hear of it
    close() {},
  };
  for (const method of ["translate", "encode", "begin", "numbers", "tokens", "record", "search"])
    model[method] = ask(method);
  return model;
}

/** What the script at `url` holds: {config, tokenizer, weights}. */
function load(url) {
  if (!url) return Promise.resolve(globalThis.tutorWeights);
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = url;
    script.onload = () => {
      script.remove();
      resolve(globalThis.tutorWeights);
      delete globalThis.tutorWeights; // the Worker has its own
    };
    script.onerror = () => {
      script.remove();
      reject(new Error("The model could not be loaded: check the connection and try again."));
    };
    document.head.append(script);
  });
}
