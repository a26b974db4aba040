// What the reader changed: the banner that says it and undoes it, and the row that sets a factor.

const FACTORS = [0, 0.5, 1, 2];

/** `scale(place, factor)` and `run({ text, written, scales })`: run the model so. */
function makeBanner(state, { scale, run }) {
  const node = element("div", { class: "journey-banner", role: "group", "aria-label": "Changes" });

  function show() {
    const { facts, untouched, own } = state;
    const places = Object.entries(facts.scales);
    const undo = (key, says, f, title = "undo") =>
      element("button", { type: "button", class: "journey-undo", "data-key": key, title, onclick: f }, `${says} `,
        element("span", { "aria-hidden": "true" }, "↶"), element("span", { class: "journey-unseen" }, title)); // prettier-ignore
    const chips = places.map(([place, factor]) =>
      undo(`undo:${place}`, `${namePlace(place)}: ${factor === 0 ? "off" : `× ${two(factor)}`}`, () => scale(place, 1)),
    );
    const picks = [...state.picks].filter(([t, whose]) => whose !== "given" || state.picks.get(t + 1) !== "given");
    picks.forEach(([t, whose], i) => {
      const left = i ? picks[i - 1][0] + 1 : 0; // what stays: up to the pick before this one
      const what = whose === "given" ? (t ? `the first ${t + 1} tokens` : "the first token") : `${facts.target[t]} as token ${t + 1}`;
      const forget = () => run({ ...facts, written: facts.written.slice(0, left) });
      chips.push(undo(`undo:token:${t}`, `${whose}: ${what}`, forget, i < picks.length - 1 ? "undo this and the later ones" : "undo"));
    });
    node.classList.toggle("journey-settled", !state.alive); // nothing can come into it
    node.classList.toggle("journey-changed", chips.length > 0);
    node.classList.toggle("journey-only-written", !places.length && chips.length > 0);
    const plain = places.length && untouched && untouched !== facts ? untouched.translation : null;
    const line = (...children) => element("p", {}, ...children);
    // A view that began with something switched off knows no other run yet.
    const compare = state.alive ? [element("button", { type: "button", "data-key": "compare",
      onclick: () => run(facts) }, "Compare with nothing switched off")] : []; // prettier-ignore
    const lines = [line(element("b", {}, facts.translation || "(nothing)"))];
    const same = facts.written.length ? "the same choice of tokens and " : "";
    const how = state.alive ? " To switch a part off, open its layer and press “on” beside it." : "";
    if (!places.length && !facts.written.length) lines.push(line(`Nothing is switched off.${how}`));
    else if (!places.length && own) lines.push(line("The model's own choice: ", element("i", {}, own.translation)));
    else if (!places.length) lines.push(line("Not all of its tokens are the model's own choice."));
    else if (plain === null) lines.push(line("Something is switched off or scaled. ", ...compare));
    else if (plain === facts.translation) lines.push(line(`The same as with ${same}nothing switched off.`));
    else lines.push(line(`With ${same}nothing switched off: `, element("i", {}, plain)));
    if (chips.length) {
      const undoAll = () => run({ text: facts.text, written: [], scales: {} });
      const all = element("button", { type: "button", "data-key": "undo:all", onclick: undoAll }, chips.length > 1 ? `Undo all ${chips.length}` : "Undo all");
      lines.push(element("p", { class: "journey-chips" }, all, ...chips));
    }
    node.replaceChildren(...lines);
    // A stop for Tab only where there is something to scroll and no button leads there.
    node.tabIndex = !node.querySelector("button") && node.scrollHeight > node.clientHeight ? 0 : -1;
  }

  return { node, show };
}

/** How much the place that is open counts. */
function makeFactorRow(state, { scale }) {
  const node = element("div", { class: "journey-factor", role: "group", "aria-label": "Factor" });
  const focused = () => node.getRootNode().activeElement;

  function show() {
    const { place, facts } = state;
    const scalable = parsePlace(place).kind;
    const through = facts.scales[place.replace(/\.head\..*/, "")] === 0 && place.includes(".head.");
    const fixed = !state.alive || through; // nothing would come of it
    node.classList.toggle("journey-none", !scalable);
    if (!scalable || node.contains(focused())) {
      if (scalable) markFactor();
      return;
    }
    node.replaceChildren(
      element("span", {}, place.includes(".head.") ? "This head counts" : "This sub-layer counts"),
      ...FACTORS.map((f) =>
        element("button", { type: "button", "data-factor": f, onclick: () => scale(state.place, f) },
          f === 0 ? "0 (off)" : `× ${write(f)}`)), // prettier-ignore
      element("input", { type: "range", min: 0, max: 2, step: 0.05, "aria-label": "Factor",
        oninput: (event) => scale(state.place, Number(event.target.value)) }), // prettier-ignore
      element("output", {}),
    );
    markFactor();

    function markFactor() {
      const factor = facts.scales[place] ?? 1;
      const slider = node.querySelector("input");
      for (const button of node.querySelectorAll("button")) {
        button.setAttribute("aria-pressed", Number(button.dataset.factor) === factor);
        button.disabled = fixed;
      }
      slider.disabled = fixed;
      if (slider !== focused()) slider.value = factor;
      node.querySelector("output").textContent = `× ${two(factor)}`;
    }
  }

  return { node, show };
}
