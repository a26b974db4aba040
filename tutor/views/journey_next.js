// The next token: its probabilities as the reader shapes them, and the choice of another one.
import { makeLive, mark, range, tag } from "./common.js";
import { asShare, makeStop, two } from "./journey_parts.js";

const SHOWN = 8; // candidates

/** The panel at the end of the way. `state`: see journey.js; `choose(id)`: the model goes on from it;
 * `drawn(id)`: the same, chosen by chance; `shown()` is called after each drawing.
 *
 * Temperature, top-k and top-p act as in `tutor.decoding.sample`, in this order: the k most
 * probable tokens, the temperature, the fewest of them that have the share p together.
 */
export function makeNext(state, { choose, drawn, tell, shown }) {
  const sliders = [
    makeSlider("temperature", 0.1, 3, 0.1, 1, two),
    makeSlider("top-k", 1, 51, 1, 51, (k) => (k > 50 ? "all" : String(k))),
    makeSlider("top-p", 0.05, 1, 0.05, 1, two),
  ];
  const [temperature, topK, topP] = sliders.map(
    ({ input }) =>
      () =>
        Number(input.value),
  );
  const title = tag("p.journey-heading", "Next token");
  const makeCells = (name = "") => [
    tag("span.journey-token", name),
    tag("span.journey-meter.journey-wide"),
    " ", // between the words, for who hears them
    tag("span.journey-number"),
  ];
  const rows = range(SHOWN).map((i) => {
    const act = () => choose(Number(rows[i].dataset.id));
    return makeStop("", "", act, { disabled: !state.alive }, ...makeCells());
  });
  const list = tag("div.journey-candidates", { role: "group" }, ...rows);
  // The words below say it.
  const others = tag("div.journey-others", { "aria-hidden": "true" }, ...makeCells("all others"));
  const readout = makeLive("p.journey-shaped");
  const disabled = !state.alive;
  const draw = tag("button", { onclick: drawToken, disabled }, "Draw a token");
  const plain = tag("button", { onclick: reset }, "Reset");
  const node = tag(
    "section.journey-next",
    { "aria-label": "Next token" },
    title,
    list,
    others,
    tag("p.journey-key.journey-touched", "outline: nothing switched off"),
    ...sliders.map((slider) => slider.node),
    readout,
    tag("p.journey-buttons", draw, plain),
  );
  let logits = null; // of all tokens, once the sliders ask for them
  let logitsOf = null; // the facts and the step they belong to
  let shaped = null; // id -> share, where the sliders changed them

  function makeSlider(name, min, max, step, value, says) {
    const input = tag("input", { type: "range", min, max, step, value, oninput: show });
    const output = tag("output", says(value));
    const node = tag("label.journey-slider", tag("span", name), input, output);
    const tell = () => (output.textContent = says(Number(input.value)));
    return { node, input, value, tell };
  }

  function reset() {
    for (const { input, value } of sliders) input.value = value;
    show();
  }

  const untouchedSliders = () => sliders.every(({ input, value }) => Number(input.value) === value);

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
    const kept = topK() > 50 ? order : order.slice(0, topK());
    const e = kept.map((id) => Math.exp((logits[id] - logits[kept[0]]) / temperature()));
    const sum = e.reduce((a, b) => a + b, 0);
    const found = new Map();
    let [before, left] = [0, 0];
    kept.forEach((id, i) => {
      if (before < topP()) {
        found.set(id, e[i] / sum);
        left += e[i] / sum;
      }
      before += e[i] / sum;
    });
    for (const [id, share] of found) found.set(id, share / left);
    return found;
  }

  function show() {
    for (const slider of sliders) slider.tell();
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
    const shareOf = (id, z) => (shaped ? (shaped.get(id) ?? 0) : chance(z));
    const shares = top
      .slice(0, SHOWN)
      .map(([token, id, z]) => ({ token, id, share: shareOf(id, z) }));
    const wrote = facts.target_ids[step];
    if (!shares.some(({ id }) => id === wrote)) {
      const there = top.find(([, id]) => id === wrote);
      if (!there) wantLogits(); // it is not among the tokens that were sent
      const z = there?.[2] ?? logits?.[wrote] ?? -Infinity;
      const written = { token: facts.target[step], id: wrote, share: shareOf(wrote, z) };
      shares.splice(SHOWN - 1, 1, written);
    }
    list.setAttribute("aria-label", `Next token after ${facts.read[step]}`);
    rows.forEach((node, i) => {
      const one = shares[i];
      mark(node, { "journey-none": !one });
      if (!one) return;
      const [name, meter, number] = node.children;
      const out = shaped && !shaped.has(one.id);
      const was = then.get(one.id);
      const chosen = one.id === wrote;
      node.dataset.id = one.id;
      node.dataset.key = `next:${i}`;
      name.textContent = one.token;
      name.title = one.token;
      mark(node, { "journey-out": out, "journey-chosen": chosen });
      meter.style.setProperty("--share", one.share.toFixed(4));
      meter.style.setProperty("--was", (was ?? 0).toFixed(4));
      mark(meter, { "journey-had": was !== undefined });
      number.textContent = out ? "out" : asShare(one.share);
      const changed = was === undefined ? "" : `, with nothing switched off ${asShare(was)}`;
      const enter = state.alive ? ", Enter writes it instead" : "";
      node.ariaLabel =
        `${one.token}: ${out ? "left out" : asShare(one.share)}${changed}` +
        (chosen ? ", written" : enter);
    });
    mark(node, { "journey-compared": before });
    const restShare = Math.max(0, 1 - shares.reduce((a, { share }) => a + share, 0));
    const restSaid = asShare(restShare < 5e-7 ? 0 : restShare); // not what rounding left
    const [, meter, number] = others.children;
    meter.style.setProperty("--share", restShare.toFixed(4));
    number.textContent = restSaid;
    const unseen = shaped
      ? shaped.size - shares.filter(({ id }) => shaped.has(id)).length
      : facts.config.vocab_size - shares.length;
    const all = facts.config.vocab_size - 3;
    const left = `${shaped?.size} of ${all} tokens left (never [PAD], [UNK], [BOS]). `;
    const unseenSaid = `The other ${unseen} tokens share ${restSaid}.`;
    const rest = (shaped ? left : "") + (unseen ? unseenSaid : "");
    if (readout.textContent !== rest) readout.textContent = rest;
    shown();
  }

  /** One token at random, by the shares that are shown, as a sampling decoder would. */
  function drawToken() {
    const { step } = state;
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
