// The next token: its probabilities as the reader shapes them, and the choice of another one.

const SHOWN = 8; // candidates

/** The panel at the end of the way. `state`: see journey.js; `choose(id)`: the model goes on from it;
 * `drawn(id)`: the same, chosen by chance; `shown()` is called after each drawing.
 *
 * Temperature, top-k and top-p act as in `tutor.decoding.sample`, in this order: the k most
 * probable tokens, the temperature, the fewest of them that have the share p together.
 */
function makeNext(state, { choose, drawn, tell, shown }) {
  const [temperature, topK, topP] = [
    makeSlider("temperature", 0.1, 3, 0.1, 1, two),
    makeSlider("top-k", 1, 51, 1, 51, (k) => (k > 50 ? "all" : String(k))),
    makeSlider("top-p", 0.05, 1, 0.05, 1, two),
  ];
  const title = element("p", { class: "journey-heading" });
  const list = element("div", { class: "journey-candidates", role: "group" });
  const rows = [...Array(SHOWN).keys()].map(() => {
    const name = element("span", { class: "journey-token" });
    const meter = element("span", { class: "journey-meter journey-wide" });
    const number = element("span", { class: "journey-number" });
    return makeStop("", "", () => choose(Number(row(number).dataset.id)), { disabled: !state.alive }, name, meter, number);
  });
  const row = (node) => node.closest(".journey-stop");
  list.append(...rows);
  const othersMeter = element("span", { class: "journey-meter journey-wide" });
  const othersNumber = element("span", { class: "journey-number" });
  const others = element("div", { class: "journey-others", "aria-hidden": "true" }, // the words below say it
    element("span", { class: "journey-token" }, "all others"), othersMeter, othersNumber); // prettier-ignore
  const readout = element("p", { class: "journey-shaped", "aria-live": "polite" });
  const draw = element("button", { type: "button", onclick: drawToken, disabled: !state.alive }, "Draw a token");
  const plain = element("button", { type: "button", onclick: reset }, "Reset");
  const node = element(
    "section",
    { class: "journey-next", "aria-label": "Next token" },
    title,
    list,
    others,
    element("p", { class: "journey-key journey-touched" }, "outline: nothing switched off"),
    temperature.node,
    topK.node,
    topP.node,
    readout,
    element("p", { class: "journey-buttons" }, draw, plain),
  );
  let logits = null; // of all tokens, once the sliders ask for them
  let logitsOf = null; // the facts and the step they belong to
  let shares = []; // [{ token, id, share }]: the most probable, and the one that is written
  let shaped = null; // id -> share, where the sliders changed them

  function makeSlider(name, min, max, step, value, says) {
    const input = element("input", { type: "range", min, max, step, value, oninput: show });
    const output = element("output", {}, says(value));
    const label = element("label", { class: "journey-slider" }, element("span", {}, name));
    label.append(input, output);
    return {
      node: label,
      get: () => Number(input.value),
      set(x) {
        input.value = x;
      },
      tell: () => (output.textContent = says(Number(input.value))),
    };
  }

  function reset() {
    temperature.set(1);
    topK.set(51);
    topP.set(1);
    show();
  }

  const untouchedSliders = () =>
    temperature.get() === 1 && topK.get() > 50 && topP.get() === 1;

  /** The logits of the step, asked for once; draws again when they are there. */
  function wantLogits() {
    const [facts, step] = [state.facts, state.step];
    if (logitsOf?.facts === facts && logitsOf.step === step) return;
    logitsOf = { facts, step };
    logits = null;
    state.numbers(`logits.${step}`).then(({ data }) => {
      if (logitsOf.facts !== facts || logitsOf.step !== step) return;
      logits = data;
      show();
    }, tell);
  }

  /** What the sliders make of the logits: id -> share, 0 for what is left out. */
  function shape() {
    const order = [...logits.keys()].slice(3).sort((a, b) => logits[b] - logits[a]);
    const kept = topK.get() > 50 ? order : order.slice(0, topK.get());
    const e = kept.map((id) => Math.exp((logits[id] - logits[kept[0]]) / temperature.get()));
    const sum = e.reduce((a, b) => a + b, 0);
    const found = new Map();
    let [before, left] = [0, 0];
    kept.forEach((id, i) => {
      if (before < topP.get()) {
        found.set(id, e[i] / sum);
        left += e[i] / sum;
      }
      before += e[i] / sum;
    });
    for (const [id, share] of found) found.set(id, share / left);
    return found;
  }

  function show() {
    for (const slider of [temperature, topK, topP]) slider.tell();
    const { facts, step } = state;
    const top = facts.top[step];
    const chance = (logit) => Math.exp(logit - facts.log_sum_exp[step]);
    shaped = null;
    if (!untouchedSliders()) {
      wantLogits();
      if (logits) shaped = shape();
    }
    // With nothing switched off. What the sliders do to that is not known: its logits are gone.
    const before = !shaped && state.comparable() ? state.untouched : null;
    const then = new Map(
      before?.top[step].map(([, id, z]) => [id, Math.exp(z - before.log_sum_exp[step])]),
    );
    shares = top
      .slice(0, SHOWN)
      .map(([token, id, z]) => ({ token, id, share: shaped ? (shaped.get(id) ?? 0) : chance(z) }));
    const wrote = facts.target_ids[step];
    if (!shares.some(({ id }) => id === wrote)) {
      const there = top.find(([, id]) => id === wrote);
      if (!there) wantLogits(); // it is not among the tokens that were sent
      const z = there?.[2] ?? logits?.[wrote] ?? -Infinity;
      const share = shaped ? (shaped.get(wrote) ?? 0) : chance(z);
      shares.splice(SHOWN - 1, 1, { token: facts.target[step], id: wrote, share });
    }
    title.textContent = "Next token";
    list.setAttribute("aria-label", `Next token after ${facts.read[step]}`);
    rows.forEach((node, i) => {
      const one = shares[i];
      node.classList.toggle("journey-none", !one);
      if (!one) return;
      const [name, meter, number] = node.children;
      const out = shaped && !shaped.has(one.id);
      const was = then.get(one.id);
      const chosen = one.id === wrote;
      node.dataset.id = one.id;
      node.dataset.key = `next:${i}`;
      name.textContent = (chosen ? "▸ " : "") + one.token;
      name.title = one.token;
      node.classList.toggle("journey-out", out);
      node.classList.toggle("journey-chosen", chosen);
      meter.style.setProperty("--share", one.share.toFixed(4));
      meter.style.setProperty("--was", (was ?? 0).toFixed(4));
      meter.classList.toggle("journey-had", was !== undefined);
      number.textContent = out ? "out" : asShare(one.share);
      node.setAttribute(
        "aria-label",
        `${one.token}: ${out ? "left out" : asShare(one.share)}` +
          (was === undefined ? "" : `, with nothing switched off ${asShare(was)}`) +
          (chosen ? ", written" : state.alive ? ", Enter writes it instead" : ""),
      );
    });
    node.classList.toggle("journey-compared", Boolean(before));
    const restShare = Math.max(0, 1 - shares.reduce((a, { share }) => a + share, 0));
    othersMeter.style.setProperty("--share", restShare.toFixed(4));
    othersNumber.textContent = asShare(restShare < 5e-7 ? 0 : restShare); // not what rounding left
    const unseen = shaped
      ? shaped.size - shares.filter(({ id }) => shaped.has(id)).length
      : facts.config.vocab_size - shares.length;
    const rest =
      (shaped ? `${shaped.size} of ${facts.config.vocab_size - 3} tokens left (never [PAD], [UNK], [BOS]). ` : "") +
      (unseen ? `The other ${unseen} tokens share ${othersNumber.textContent}.` : "");
    if (readout.textContent !== rest) readout.textContent = rest;
    shown();
  }

  /** One token at random, by the shares that are shown, as a sampling decoder would. */
  function drawToken() {
    const { facts, step } = state;
    wantLogits();
    state.numbers(`logits.${step}`).then(({ data }) => {
      logits = data;
      let left = Math.random();
      for (const [id, share] of shape()) {
        left -= share;
        if (left <= 0) return drawn(id);
      }
    }, tell);
  }

  /** The written token's share by the sliders, 0 if left out; null while they change nothing. */
  const shareBySliders = () => shaped && (shaped.get(state.facts.target_ids[state.step]) ?? 0);

  return { node, show, shareBySliders };
}
