// What the reader changed: the banner that says it and undoes it, and the row that sets a factor.
import { mark, tag, write } from "./common.js";
import { isOffWith, namePlace, parsePlace, two } from "./journey_parts.js";

const FACTORS = [0, 0.5, 1, 2];

/** `scale(place, factor)` and `run({ text, written, scales })`: run the model so. */
export function makeBanner(state, { scale, run }) {
  const node = tag("div.journey-banner", { role: "group", "aria-label": "Changes" });

  function show() {
    const { facts } = state;
    const places = Object.entries(facts.scales);
    const undo = (key, says, onclick, title = "undo") =>
      tag(
        "button.journey-undo",
        { "data-key": `undo:${key}`, title, onclick },
        `${says} `,
        tag("span", { "aria-hidden": "true" }, "↶"),
        tag("span.journey-unseen", title),
      );
    const chips = places.map(([place, factor]) => {
      const how = factor === 0 ? "off" : `× ${two(factor)}`;
      return undo(place, `${namePlace(place)}: ${how}`, () => scale(place, 1));
    });
    const picks = [...state.picks].filter(
      ([t, whose]) => whose !== "given" || state.picks.get(t + 1) !== "given",
    );
    picks.forEach(([t, whose], i) => {
      const left = i ? picks[i - 1][0] + 1 : 0; // what stays: up to the pick before this one
      const given = t ? `the first ${t + 1} tokens` : "the first token";
      const what = whose === "given" ? given : `${facts.target[t]} as token ${t + 1}`;
      const forget = () => run({ ...facts, written: facts.written.slice(0, left) });
      const title = i < picks.length - 1 ? "undo this and the later ones" : "undo";
      chips.push(undo(`token:${t}`, `${whose}: ${what}`, forget, title));
    });
    mark(node, {
      "journey-changed": chips.length > 0,
      "journey-only-written": !places.length && chips.length > 0,
    });
    const lines = [tag("p", tag("b", facts.translation || "(nothing)")), tag("p", ...compared())];
    if (chips.length) {
      const onclick = () => run({ text: facts.text, written: [], scales: {} });
      const name = chips.length > 1 ? `Undo all ${chips.length}` : "Undo all";
      const all = tag("button", { "data-key": "undo:all", onclick }, name);
      lines.push(tag("p.journey-chips", all, ...chips));
    }
    node.replaceChildren(...lines);
    // A stop for Tab only where there is something to scroll and no button leads there.
    node.tabIndex = !node.querySelector("button") && node.scrollHeight > node.clientHeight ? 0 : -1;
  }

  /** What the translation would be otherwise. */
  function compared() {
    const { facts, untouched, own, alive } = state;
    const same = facts.written.length ? "the same choice of tokens and " : "";
    if (!Object.keys(facts.scales).length) {
      const how = alive ? " To switch a part off, open it." : "";
      if (!facts.written.length) return [`Nothing is switched off.${how}`];
      if (own) return ["The model's own choice: ", tag("i", own.translation)];
      return ["Not all of its tokens are the model's own choice."];
    }
    if (!untouched || untouched === facts) {
      // A view that began with something switched off knows no other run yet.
      const how = { "data-key": "compare", onclick: () => run(facts) };
      const button = tag("button", how, "Compare with nothing switched off");
      return ["Something is switched off or scaled. ", ...(alive ? [button] : [])];
    }
    if (untouched.translation === facts.translation)
      return [`The same as with ${same}nothing switched off.`];
    return [`With ${same}nothing switched off: `, tag("i", untouched.translation)];
  }

  return { node, show };
}

/** How much the place that is open counts. */
export function makeFactorRow(state, { scale }) {
  const node = tag("div.journey-factor", { role: "group", "aria-label": "Factor" });
  const focused = () => node.getRootNode().activeElement;

  function show() {
    const { place, facts } = state;
    const parts = parsePlace(place);
    const fixed = !state.alive || isOffWith(facts.scales, parts); // nothing would come of it
    mark(node, { "journey-none": !parts.kind });
    if (!parts.kind) return;
    if (node.contains(focused())) return markFactor();
    const set = (factor) => scale(state.place, Number(factor));
    node.replaceChildren(
      tag("span", parts.head === null ? "This sub-layer counts" : "This head counts"),
      ...FACTORS.map((f) => {
        const name = f === 0 ? "0 (off)" : `× ${write(f)}`;
        return tag("button", { "data-factor": f, onclick: () => set(f) }, name);
      }),
      tag("input", {
        type: "range",
        min: 0,
        max: 2,
        step: 0.05,
        "aria-label": "Factor",
        oninput: (event) => set(event.target.value),
      }),
      tag("output"),
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
