var tutorView = (() => {
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

  // tutor/views/softmax.js
  var softmax_exports = {};
  __export(softmax_exports, {
    default: () => softmax_default
  });

  // tutor/views/common.js
  var DRAWING = ["svg", "path"];
  function tag(what, ...children) {
    const [name, ...classes] = what.split(".");
    const given = children[0]?.constructor === Object ? children.shift() : {};
    const node = DRAWING.includes(name) ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    const attributes = { type: name === "button" && "button", class: classes.join(" ") || null };
    for (const [key, value] of Object.entries({ ...attributes, ...given })) {
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (value !== null && value !== false) node.setAttribute(key, value);
    }
    node.append(...children);
    return node;
  }
  var makeLive = (what) => tag(what, { "aria-live": "polite" });
  var range = (n) => [...Array(n).keys()];
  var clamp = (x, least, most) => Math.min(Math.max(x, least), most);
  function makeFrame(el, label) {
    const frame = tag("div.tutor-view", { role: "group", "aria-label": label, tabindex: -1 });
    frame.addEventListener("keydown", (event) => {
      const theirs = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey && event.key === "Enter";
      if (theirs || event.target === frame) return;
      event.stopPropagation();
      if (event.key === "Escape") frame.focus();
    });
    el.append(frame);
    return frame;
  }
  function listen(model, updates) {
    for (const [trait, update] of Object.entries(updates)) model.on(`change:${trait}`, update);
    return () => {
      for (const [trait, update] of Object.entries(updates)) model.off(`change:${trait}`, update);
    };
  }
  var waiting = /* @__PURE__ */ new WeakMap();
  function assign(model, values) {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    clearTimeout(waiting.get(model));
    const send = () => model.save_changes();
    waiting.set(model, setTimeout(send, 150));
  }
  var makeReadout = (name = "") => makeLive(`p.tutor-readout${name && `.${name}`}`);
  var floats = (view) => new Float32Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
  function softmax(scores, hidden = []) {
    const top = Math.max(...scores.filter((_, s) => !hidden[s]));
    const e = scores.map((x, s) => hidden[s] ? 0 : Math.exp(x - top));
    const sum = e.reduce((a, b) => a + b, 0);
    return e.map((x) => sum ? x / sum : 0);
  }
  function write(x, digits = 2) {
    return (Number.isInteger(x) ? String(x) : x.toFixed(digits)).replace("-", "−");
  }
  var makeHeader = (names) => tag("tr", ...names.map((name) => name ? tag("th", { scope: "col" }, name) : tag("td")));
  var makeHelp = (text) => tag("details", tag("summary", "Keyboard"), tag("p", text));

  // tutor/views/colours.js
  var CIVIDIS = (
    // 256 colours as "rrggbb"
    "00224d00234f00235000245200255400265500265700275900285b00285c00295e002a60002a62002b64002c66002c67002d69002e6b002f6d002f6f0030700030700031700031700432700833700b33700e347011356f14366f16366f18376f1a386f1c386e1d396e1f3a6e213b6e223b6e243c6e253d6d273d6d283e6d2a3f6d2b3f6d2c406d2e416c2f426c30426c31436c32446c34446c35456c36466c37466c38476c39486c3a486b3b496b3d4a6b3e4b6b3f4b6b404c6b414d6b424d6b434e6b444f6b454f6b46506b47516b48516b49526b4a536b4b546c4c546c4d556c4e566c4e566c4f576c50586c51586c52596c535a6c545a6c555b6d565c6d575d6d585d6d595e6d595f6d5a5f6d5b606e5c616e5d616e5e626e5f636e60646e61646f61656f62666f63666f64676f656870666970676970686a70686b71696b716a6c716b6d716c6d726d6e726e6f726e70736f70737071737172737273747373747474757475757575757676767777767878767978777979777a7a777b7b777c7b787d7c787e7d787f7d78807e78817f788280788380788481788582788583788683788784788885788986788a86788b87788c88788d89788e89788f8a77908b77918c77928c77938d77948e77958f77968f779790769891769992769a93769b93769c94769d95759e96759f9675a09775a19874a29974a39a74a49a74a59b73a69c73a79d73a89e73a99e72aa9f72aba072aca171ada271aea271afa370b0a470b1a570b2a66fb3a66fb4a76fb5a86eb6a96eb7aa6db8ab6db9ab6dbaac6cbbad6cbcae6bbdaf6bbeb06abfb06ac1b169c2b269c3b368c4b468c5b567c6b567c7b666c8b765c9b865cab964cbba64ccbb63cdbc62cebc62cfbd61d0be60d2bf60d3c05fd4c15ed5c25ed6c35dd7c35cd8c45bd9c55adac65adbc759dcc858dec957dfca56e0cb55e1cc54e2cc53e3cd52e4ce51e5cf50e6d04fe8d14ee9d24dead34cebd44becd54aedd648eed747efd846f1d944f2da43f3da42f4db40f5dc3ff6dd3df8de3bf9df3afae038fbe136fde234fde333fde534fde636fde737"
  );
  var COLOURS = CIVIDIS.match(/.{6}/g).map((hex) => parseInt(hex, 16));
  var shade = (weight) => clamp(Math.floor(weight * 256), 0, 255);
  var colour = (weight) => `#${COLOURS[shade(weight)].toString(16).padStart(6, "0")}`;

  // tutor/views/widget.js
  var makeView = (render2) => ({
    render(context) {
      hidePicture(context);
      return render2(context);
    },
    open(el, state, translator) {
      const model = makeModel(state, translator);
      render2({ el, model });
      return model;
    }
  });
  function hidePicture({ model, el }) {
    const still = `[data-view="${model.get("_still")}"]`;
    el.append(tag("style", `${still}, .jp-OutputArea-child:has(${still}) { display: none }`));
  }
  function makeModel(state, translator) {
    const traits = JSON.parse(
      state,
      (_, value) => value?.base64 === void 0 ? value : new DataView(Uint8Array.from(atob(value.base64), (c) => c.charCodeAt(0)).buffer)
    );
    const updates = new EventTarget();
    const model = {
      translator,
      get: (name) => traits[name],
      set(name, value) {
        if (traits[name] === value) return;
        traits[name] = value;
        updates.dispatchEvent(new Event("change:" + name));
      },
      on: (event, update) => updates.addEventListener(event, update),
      off: (event, update) => updates.removeEventListener(event, update),
      save_changes() {
      }
    };
    async function send({ sentence, ...search }) {
      try {
        if (search.beams) Object.assign(traits, await translator.search(sentence, search));
        else {
          const { weights, ...answer } = await translator.record(sentence);
          Object.assign(traits, answer, { weights: new DataView(weights.buffer) });
        }
      } catch (error) {
        traits.message = error.message;
      }
      model.set("answers", traits.answers + 1);
    }
    if (translator) model.send = send;
    return model;
  }

  // tutor/views/softmax.js
  function render({ model, el }) {
    const { widths, keys, num_queries: T } = model.get("facts");
    const S = keys.length;
    const products = floats(model.get("products"));
    let pinned = null;
    const frame = makeFrame(el, "Softmax view");
    const makeSlider = (label, max, step, change) => {
      const oninput = () => change(Number(input.value));
      const input = tag("input", { type: "range", min: 0, max, step, oninput });
      const output = tag("output");
      input.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && !event.shiftKey) togglePin();
      });
      const node = tag("label.tutor-chooser.tutor-slider", tag("span", label), input, output);
      const show2 = (value, text, said) => {
        input.value = value;
        output.textContent = text;
        input.setAttribute("aria-valuetext", said);
      };
      return { node, show: show2 };
    };
    const width = makeSlider("d_k", widths.length - 1, 1, (step) => assign(model, { step }));
    const power = makeSlider(
      "divide the scores by d_k to the power of",
      1,
      0.05,
      (power2) => assign(model, { power: power2 })
    );
    const pin = tag("button", { onclick: togglePin }, "Pin");
    const readout = makeReadout();
    const makeBar = (name, texts) => {
      const [fill, mark] = [tag("span.tutor-fill"), tag("span.tutor-mark")];
      const cells = range(texts).map(() => tag("td"));
      const track = tag("td.tutor-track", fill, mark);
      return {
        node: tag("tr", tag("th", { scope: "row" }, name), ...cells, track),
        cells,
        fill,
        mark
      };
    };
    const bars = keys.map((key) => makeBar(key, 3));
    const columns = widths.map((width2) => makeBar(String(width2), 1));
    const makeBars = (caption, names, lines) => tag(
      "table",
      tag("caption", caption),
      tag("thead", makeHeader([...names, ""])),
      tag("tbody", ...lines.map(({ node }) => node))
    );
    frame.append(
      tag("div.tutor-choosers", width.node, power.node, pin),
      readout,
      tag(
        "div.tutor-matrices.tutor-tables",
        makeBars("One query", ["key", "q · k", "divided", "weight"], bars),
        makeBars(`Mean entropy of ${T} queries`, ["d_k", "bits"], columns)
      ),
      makeHelp(
        "Tab goes to the sliders, and the arrow keys move them. Enter on a slider pins what is shown: thin marks keep its place. Escape leaves."
      )
    );
    const entropy = (A) => -A.reduce((sum, a) => sum + (a > 0 ? a * Math.log2(a) : 0), 0);
    const row = (step, t) => [...products.subarray((step * T + t) * S, (step * T + t + 1) * S)];
    const weightsOf = (step, power2, t = 0) => softmax(row(step, t).map((x) => x / widths[step] ** power2));
    const meanEntropy = (step, power2) => range(T).reduce((sum, t) => sum + entropy(weightsOf(step, power2, t)), 0) / T;
    const most = Math.log2(S);
    function nameDivisor(d_k, power2) {
      if (power2 === 0) return "1";
      if (power2 === 0.5) return `√${d_k} = ${write(Math.sqrt(d_k))}`;
      return power2 === 1 ? String(d_k) : `${d_k}^${write(power2)} = ${write(d_k ** power2)}`;
    }
    function show() {
      const [step, p] = [model.get("step"), model.get("power")];
      const d_k = widths[step];
      const name = nameDivisor(d_k, p);
      width.show(step, String(d_k), `d_k = ${d_k}`);
      power.show(p, `${write(p)}: by ${name}`, `power ${write(p)}, divided by ${name}`);
      const scores = row(step, 0);
      const A = weightsOf(step, p);
      const kept = pinned && weightsOf(pinned.step, pinned.power);
      bars.forEach((bar, s) => {
        const texts = [write(scores[s]), write(scores[s] / d_k ** p), A[s].toFixed(3)];
        bar.cells.forEach((cell, i) => cell.textContent = texts[i]);
        bar.fill.style.background = colour(A[s]);
        paint(bar, A[s], kept ? kept[s] : null);
      });
      columns.forEach((column, i) => {
        const bits = meanEntropy(i, p);
        column.cells[0].textContent = bits.toFixed(2);
        column.node.classList.toggle("tutor-chosen", i === step);
        column.node.setAttribute("aria-current", String(i === step));
        paint(column, bits / most, pinned && meanEntropy(i, pinned.power) / most);
      });
      pin.textContent = pinned ? "Unpin" : "Pin";
      const say = ({ step: step2, power: power2 }) => {
        const A2 = weightsOf(step2, power2);
        return `d_k = ${widths[step2]}, power ${write(power2)}: largest weight ${Math.max(...A2).toFixed(3)}, entropy ${entropy(A2).toFixed(2)} bits of at most ${most.toFixed(2)}.`;
      };
      readout.textContent = say({ step, power: p }) + (pinned ? ` Pinned: ${say(pinned)}` : "");
    }
    function paint({ fill, mark }, share, kept) {
      fill.style.width = `${100 * share}%`;
      mark.hidden = kept === null;
      mark.style.left = `${100 * kept}%`;
    }
    function togglePin() {
      pinned = pinned ? null : { step: model.get("step"), power: model.get("power") };
      show();
    }
    show();
    return listen(model, { step: show, power: show });
  }
  var softmax_default = makeView(render);
  return __toCommonJS(softmax_exports);
})();
