var tutorPage = (() => {
  var __defProp = Object.defineProperty;
  var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
  var __getOwnPropNames = Object.getOwnPropertyNames;
  var __hasOwnProp = Object.prototype.hasOwnProperty;
  var __export = (target, all) => {
    for (var name in all)
      __defProp(target, name, { get: all[name], enumerable: true });
  };
  var __copyProps = (to, from, except, desc) => {
    if (from && typeof from === "object" || typeof from === "function") {
      for (let key of __getOwnPropNames(from))
        if (!__hasOwnProp.call(to, key) && key !== except)
          __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
    }
    return to;
  };
  var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod);

  // tutor/exchange/page/source.js
  var source_exports = {};
  __export(source_exports, {
    openModel: () => openModel
  });
  function openModel(url, program) {
    const waiting = /* @__PURE__ */ new Map();
    let [worker, count] = [null, 0];
    function start() {
      worker = load(url).then((parts) => {
        const file = new Blob([program], { type: "text/javascript" });
        const made = new Worker(URL.createObjectURL(file));
        made.onmessage = ({ data: { ask: ask2, answer, error } }) => {
          const { resolve, reject } = waiting.get(ask2) ?? {};
          waiting.delete(ask2);
          if (error !== void 0) reject?.(new Error(error));
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
      worker.catch(() => worker = null);
      return worker;
    }
    function post(made, message) {
      const ask2 = count++;
      return new Promise((resolve, reject) => {
        waiting.set(ask2, { resolve, reject });
        made.postMessage({ ...message, ask: ask2 });
      });
    }
    const ask = (method) => async (...args) => post(await (worker ?? start()), { method, args });
    const model = {
      alive: true,
      // JourneyView's source, too
      ready: false,
      // are the weights here?
      /** Load the weights before the first question. */
      warm: () => (worker ?? start()).catch(() => {
      }),
      // who asks will hear of it
      close() {
      }
    };
    for (const method of ["translate", "encode", "begin", "numbers", "tokens", "record", "search"])
      model[method] = ask(method);
    return model;
  }
  function load(url) {
    if (!url) return Promise.resolve(globalThis.tutorWeights);
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = url;
      script.onload = () => {
        script.remove();
        resolve(globalThis.tutorWeights);
        delete globalThis.tutorWeights;
      };
      script.onerror = () => {
        script.remove();
        reject(new Error("The model could not be loaded: check the connection and try again."));
      };
      document.head.append(script);
    });
  }
  return __toCommonJS(source_exports);
})();
