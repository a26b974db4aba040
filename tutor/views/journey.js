// JourneyView: one sentence all the way. Where its numbers come from: journey_source.js; what the
// parts draw: journey_river.js, journey_next.js, journey_head.js, for the bars alone journey_look.js,
// and what they say: journey_words.js, journey_walk.js; what the reader changes: journey_changes.js.
import {
  all,
  assign,
  listen,
  makeFrame,
  makeHelp,
  makeLive,
  makePlay,
  makeSentence,
  makeSteps,
  mark,
  range,
  tag,
  waitingFor,
  watchSize,
} from "./common.js";
import { makeBanner, makeFactorRow } from "./journey_changes.js";
import { askForHeads, drawHead, drawHidden, drawNumber, loadHead } from "./journey_head.js";
import { makeLook } from "./journey_look.js";
import { makeNext } from "./journey_next.js";
import {
  asShare,
  makeStop,
  parsePlace,
  roam,
  rowOf,
  SAVED,
  SUB_LAYERS,
  shownPlace,
} from "./journey_parts.js";
import { makeRiver } from "./journey_river.js";
import { makeSource } from "./journey_source.js";
import { makeWalk } from "./journey_walk.js";
import { tellHead, tellLayer, tellWhole } from "./journey_words.js";
import { makeView } from "./widget.js";

function render({ model, el }) {
  const source = makeSource(model);
  const frame = makeFrame(el, "Journey");
  frame.classList.add("tutor-journey");
  mark(frame, { "journey-bars-alone": model.get("bars") });
  let cache = new Map(); // name of numbers -> promise, of the run that is shown
  let busy = false; // the model runs
  let wanted = null; // what it shall run after that
  let number = null; // the number that is opened: { kind, s, feature }, or null
  let drawn = 0; // counts drawings of the panel: the latest wins
  let weights = new Map(); // sub-layer -> its A, of the run that is shown
  let one = null; // the head that is drawn open

  /** What is shown. The panels read it, and change it by calling `act` only. */
  const state = {
    facts: model.get("facts"),
    untouched: null, // facts of the same sentence and choices, with nothing switched off
    own: null, // facts of the same sentence, with nothing switched off and no token chosen
    alive: source.alive,
    step: 0,
    source: 0,
    place: "",
    head: null, // whose lines are drawn in all layers; first the one that picks most clearly
    walk: 0, // the step of the walk, from 1
    picks: new Map(), // step -> whose its token is: "you chose", "drawn" or, from Python, "given"
    numbers(name) {
      if (!cache.has(name)) {
        const [mine, answer] = [cache, source.numbers(name)];
        cache.set(name, answer);
        answer.catch(() => mine.delete(name)); // to be asked for again
      }
      return cache.get(name);
    },
    /** Was the same read at this step when nothing was switched off? */
    comparable() {
      const { facts, untouched, step } = state;
      if (!Object.keys(facts.scales).length || !untouched) return false;
      return facts.read.slice(0, step + 1).every((token, t) => token === untouched.read[t]);
    },
  };

  // ---- the page

  const { node: asking, input: sentence } = makeSentence(translate);
  const said = tag("p.journey-said", { role: "status" });
  const { back, forth, limit } = makeSteps(go, ["◂", "▸"]);
  back.ariaLabel = "One token back";
  forth.ariaLabel = "One token on";
  const tokens = tag("div.journey-written", { role: "group", "aria-label": "Tokens written" });
  const refreshTokens = roam(tokens);
  const reads = makeLive("p.journey-reading");
  const more = tag("span", { "aria-hidden": "true", title: "scroll: there are more" }, "↔");
  const play = makePlay(
    () => [state.step, state.facts.target.length - 1],
    (step) => assign(model, { step }),
    [back, forth],
  );
  const steps = tag("div.journey-steps", back, forth, play.node, tokens, more);
  const banner = makeBanner(state, { scale, run });
  const crumbs = tag("nav.journey-crumbs", { "aria-label": "Where you are" });
  const story = makeLive("p.journey-story");
  const factorRow = makeFactorRow(state, { scale });
  const effect = makeLive("p.journey-effect");
  const panel = tag("div.journey-inner");
  const refreshPanel = roam(panel);
  const next = makeNext(state, { choose, drawn: takeDrawn, tell, shown: showNext });
  const goTo = (step) => assign(model, { step });
  const river = makeRiver(state, { open, chooseSource, goTo, ends });
  const walk = makeWalk(state, { go: walkTo, choose: chooseHead, onward });
  const refreshNext = roam(next.node.querySelector(".journey-candidates"));
  const inPanel = [crumbs, story, factorRow.node, effect, panel];
  const opened = tag("section.journey-panel", { "aria-label": "Opened" }, ...inPanel);
  const help = makeHelp(
    model.get("bars")
      ? "Tab goes from part to part, and the arrow keys move within it. Enter writes a token. " +
          "Square brackets, [ and ], go a token back and on."
      : "Tab goes from part to part, and the arrow keys move within it. Enter goes in: from the model " +
          "to a layer, a head, a number. Escape or Backspace goes out. Square brackets, [ and ], go " +
          "a token back and on.",
  );
  next.node.dataset.at = "choose";
  const whole = tag("div.journey-whole", river.node, opened, next.node);
  const look = model.get("bars") ? makeLook(state) : null;
  const content = tag(
    "div.journey-content",
    tag("div.journey-top", asking, steps),
    tag("div.journey-told", reads, said),
    look?.node ?? "",
    walk.node,
    walk.says,
    whole,
    banner.node,
    tag(
      "p.journey-key",
      "A line is as wide as the weight, or the probability, that it stands for. Numbers beside " +
        "names: the length of the vector that is added. ",
      tag("b.journey-encoder", "Blue"),
      ": from the source. ",
      tag("b.journey-decoder", "Orange"),
      ": the decoder's own. An underscore is a space, and [BOS] is what the decoder reads first.",
    ),
    help,
  );
  frame.append(content);
  content.addEventListener("keydown", (event) => {
    const typing = event.target.matches('input[type="text"]');
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (!typing && (event.key === "[" || event.key === "]")) {
      event.preventDefault();
      go(event.key === "[" ? -1 : 1);
    }
    const out = event.key === "Escape" || (event.key === "Backspace" && !typing);
    if (!out || !state.place || typing) return; // from the top, Escape leads to the frame
    event.preventDefault();
    event.stopPropagation();
    goOut();
  });

  // Who looks at a head is likely to open it: its numbers are asked for in time.
  const expect = ({ target }) => {
    const place = target.closest?.(".journey-stop")?.dataset.key?.replace("panel:", "") ?? "";
    if (/^[a-z]+\.\d+\.[a-z]+\.head\./.test(place)) askForHeads(state, place).catch(() => {});
  };
  content.addEventListener("focusin", expect);
  content.addEventListener("pointerover", expect);

  // ---- what the reader does

  function tell(error) {
    said.textContent = error.message ?? String(error);
    effect.textContent = said.textContent; // `said` may be out of sight
  }

  function translate() {
    run({ text: sentence.value, written: [], scales: state.facts.scales });
  }

  function choose(id, whose = "you chose") {
    const { facts, step } = state;
    const picks = new Map([...state.picks].filter(([t]) => t < step)).set(step, whose);
    const written = [...facts.target_ids.slice(0, step), id];
    return run({ text: facts.text, written, scales: facts.scales, picks });
  }

  /** Take a token that was drawn, and go to the next. */
  async function takeDrawn(id) {
    const { step } = state;
    await choose(id, "drawn");
    if (state.step === step && state.facts.written.length === step + 1) go(1);
  }

  function scale(place, factor) {
    const { facts } = state;
    const { [place]: _, ...others } = wanted?.scales ?? facts.scales;
    const scales = factor === 1 ? others : { ...others, [place]: factor };
    run({ text: facts.text, written: facts.written, scales });
  }

  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

  /** Run the model; what is asked for meanwhile waits, and only the latest of it. */
  async function run(what) {
    if (busy) {
      wanted = what;
      return;
    }
    busy = true;
    said.textContent = source.alive ? waitingFor(source) : "";
    try {
      const { text, written, scales } = what;
      if (written.length && state.own?.text !== text && source.alive) {
        state.own = await source.begin(text, { written: [], scales: {} });
      }
      const known = state.untouched?.text === text && same(state.untouched.written, written);
      if (Object.keys(scales).length && !known && source.alive) {
        state.untouched = await source.begin(text, { written, scales: {} });
      }
      const found = await source.begin(text, { written, scales });
      state.picks = what.picks ?? state.picks;
      take(found);
    } catch (error) {
      tell(error);
    }
    busy = false;
    const after = wanted;
    wanted = null;
    if (after) await run(after);
  }

  function go(by) {
    assign(model, { step: Math.min(Math.max(state.step + by, 0), state.facts.target.length - 1) });
  }

  function walkTo(step, place) {
    number = null;
    [state.walk, state.place] = [step, place];
    assign(model, { walk: step, place });
    showPanel();
  }

  /** From the end of the walk to the next token, which asks again. */
  function onward() {
    go(1);
    walkTo(2, state.place);
  }

  function chooseHead(m) {
    state.head = m;
    const { sub, kind } = parsePlace(shownPlace(state));
    if (kind !== "ff") move(`${sub}.head.${m}`);
    showPanel();
  }

  function chooseSource(s) {
    if (s === state.source) return;
    state.source = s;
    showPosition();
  }

  /** Go in: to a layer, a sub-layer or a head. */
  function open(place) {
    number = null;
    state.walk = 0;
    assign(model, { walk: 0 });
    move(place);
    showPanel(true);
  }

  function move(place) {
    state.place = place;
    assign(model, { place });
  }

  function openNumber(which) {
    const deeper = number === null;
    number = which;
    showPanel(deeper);
  }

  function goOut() {
    const { place } = state;
    if (number) {
      const { kind, s } = number;
      number = null;
      return showPanel(true, `number:${kind}:${s}`);
    }
    const { head } = parsePlace(place);
    const up = place.slice(0, place.lastIndexOf(head === null ? "." : ".head."));
    const to = up.includes(".") ? up : "";
    move(to);
    showPanel(true, place);
  }

  const act = { open, scale, number: openNumber };

  // ---- what is shown

  const focused = () => {
    const at = el.getRootNode().activeElement;
    return frame.contains(at) ? at : null;
  };
  const find = (key) => key && frame.querySelector(`[data-key="${CSS.escape(key)}"]`);

  /** Draw again, and keep the focus on what it was on. */
  function keepFocus(draw) {
    const at = focused();
    const key = at?.dataset.key;
    draw();
    if (key && !at.isConnected) (find(key) ?? banner.node).focus({ preventScroll: true });
  }

  /** Show the facts of a run. */
  function take(facts) {
    cache = new Map();
    weights = new Map();
    state.facts = facts;
    const nothing = !Object.keys(facts.scales).length;
    if (nothing) state.untouched = facts;
    else if (state.untouched?.text !== facts.text) state.untouched = null;
    if (nothing && !facts.written.length) state.own = facts;
    else if (state.own?.text !== facts.text) state.own = null;
    state.source = Math.min(state.source, facts.source.length - 1);
    const count = facts.written.length;
    if (count && !state.picks.has(count - 1))
      state.picks = new Map(facts.written.map((_, t) => [t, "given"]));
    else state.picks = new Map([...state.picks].filter(([t]) => t < count));
    if (number && number.s >= Math.min(facts.source.length, facts.read.length)) number = null;
    said.textContent = facts.message;
    sentence.value = facts.text;
    frame.setAttribute("aria-label", `Journey of “${facts.text}”`);
    keepFocus(() => {
      const stops = facts.target.map((token, t) => {
        const here = () => assign(model, { step: t });
        const how = { class: state.picks.has(t) ? "journey-by-reader" : "", onfocus: here };
        return makeStop(`step:${t}`, `token ${t + 1}: ${token}`, here, how, token);
      });
      tokens.replaceChildren(...stops);
      banner.show();
      showStep();
    });
  }

  function showStep() {
    const { facts } = state;
    state.step = Math.min(model.get("step"), facts.target.length - 1);
    const { step } = state;
    const list = [...tokens.children];
    list.forEach((stop, t) => {
      mark(stop, { "journey-now": t === step, "journey-later": t > step });
      stop.setAttribute("aria-current", t === step ? "step" : "false");
      stop.tabIndex = t === step ? 0 : -1;
    });
    scrollToStep();
    refreshTokens();
    limit(step, facts.target.length - 1);
    reads.replaceChildren(
      `Token ${step + 1} of ${facts.target.length}: the decoder reads `,
      tag("b", facts.read[step]),
      step ? ` after ${facts.read.slice(Math.max(0, step - 4), step).join(" ")}` : "",
      " and writes ",
      tag("b", facts.target[step]),
      ".",
    );
    next.show();
    refreshNext();
    showPosition();
  }

  /** Bring the step into sight, and say whether there are more. */
  function scrollToStep() {
    const now = tokens.children[state.step];
    const { scrollLeft, clientWidth } = tokens;
    const left = now.offsetLeft - tokens.offsetLeft;
    if (left < scrollLeft || left + now.offsetWidth > scrollLeft + clientWidth)
      tokens.scrollLeft = left - 40;
    mark(more, { "journey-none": tokens.scrollWidth <= tokens.clientWidth + 2 });
  }

  const showPosition = () => showPanel();

  const candidates = () => [...next.node.querySelectorAll(".journey-candidates .journey-stop")];

  /** Where the candidates stand, in the river's px, and with which shares. */
  function ends(area) {
    const from = area.getBoundingClientRect();
    return candidates()
      .filter((row) => !row.classList.contains("journey-none"))
      .map((row) => {
        const { top, height, right } = row.getBoundingClientRect();
        const share = Number(row.querySelector(".journey-meter").style.getPropertyValue("--share"));
        const id = Number(row.dataset.id);
        return { id, share, y: top + height / 2 - from.top, right: right - from.left };
      });
  }

  function showNext() {
    showEffect();
    if (one) showRiver();
  }

  function showRiver() {
    const at = river.show(weights);
    walk.show(whole, one);
    return at;
  }

  /** The weights of all heads, for the lines, and a head whose pick is clear. */
  async function wantWeights() {
    const { facts, step } = state;
    const names = Object.keys(facts.heads);
    const found = await Promise.all(names.map((sub) => state.numbers(`${sub}.A`)));
    if (state.facts !== facts) return;
    weights = new Map(names.map((sub, i) => [sub, found[i]]));
    if (state.head !== null) return;
    const A = weights.get(`decoder.${facts.config.layers - 1}.cross`);
    const most = range(facts.config.heads).map((m) => Math.max(...rowOf(A, m, step)));
    const clear = most.map((share) => (share > 0.9 ? 1 - share : share)); // and yet it mixes
    state.head = clear.indexOf(Math.max(...clear));
  }

  /** What the changes did, in the panel too: there the switches are. */
  function showEffect() {
    const { facts, untouched, step } = state;
    if (!source.alive) {
      effect.textContent = state.place ? "Switching off needs the kernel." : "";
      return;
    }
    const id = facts.target_ids[step];
    const chance = (of) => {
      const found = of.top[step].find(([, other]) => other === id);
      return found && asShare(Math.exp(found[2] - of.log_sum_exp[step]));
    };
    const bySliders = next.shareBySliders();
    const moved = bySliders !== null;
    const moving = `${bySliders ? asShare(bySliders) : "left out"} by the sliders`;
    const now = moved ? moving : chance(facts);
    const before = !moved && state.comparable() ? chance(untouched) : null;
    const shares = [now, ...(before ? [`before ${before}`] : [])].filter(Boolean).join(", ");
    const says =
      `Now: ${facts.target[step]}${shares && ` (${shares})`} · ` +
      `translation: ${facts.translation || "(nothing)"}`;
    if (effect.textContent !== says) effect.textContent = says;
  }

  // ---- the panel underneath

  function showCrumbs() {
    const { place } = state;
    const { side, layer, kind, head } = parsePlace(place);
    const way = [["Whole model", ""]];
    if (place) way.push([`${side} layer ${layer}`, `${side}.${layer}`]);
    if (kind) way.push([SUB_LAYERS[kind], `${side}.${layer}.${kind}`]);
    if (head !== null) way.push([`head ${head}`, place]);
    if (number) way.push([{ E: "a score", A: "a weight", Y: "the mix" }[number.kind], null]);
    const leave = (to) => () => {
      number = null;
      move(to);
      showPanel(true, place);
    };
    const here = way.length - 1;
    crumbs.replaceChildren(
      ...way.flatMap(([name, to], i) => [
        ...(i ? [tag("span", { "aria-hidden": "true" }, " › ")] : []),
        i === here
          ? tag("b", { "aria-current": "location" }, name)
          : tag("button", { "data-key": `crumb:${i}`, onclick: leave(to) }, name),
      ]),
    );
  }

  /** Draw what is open. `enter`: the reader came here, so the focus goes along, to `key` if given. */
  async function showPanel(enter = false, key = null) {
    if (look) return look.show().catch(tell);
    const mine = (drawn += 1);
    [state.place, state.walk] = [model.get("place"), model.get("walk") ?? 0];
    const { place, facts } = state;
    const { head } = parsePlace(place);
    if (head !== null) state.head = head;
    const follow = enter && focused() !== null;
    showRiver();
    showCrumbs();
    factorRow.show();
    factorRow.node.hidden = effect.hidden = !place;
    showEffect();
    try {
      await wantWeights();
      const shown = shownPlace(state);
      const found = shown.endsWith("ff") ? null : await loadHead(state, shown);
      const hidden = found ? null : await drawHidden(state, shown);
      if (mine !== drawn) return;
      one = found;
      const at = showRiver();
      const inside = found ? drawHead(found, act, at.wide ? at : null) : hidden;
      if (number || head !== null) story.textContent = tellHead(facts, one, number);
      else story.textContent = place ? tellLayer(state, place) : tellWhole(state);
      const old = focused();
      const scrolled = content.querySelector(".journey-keys")?.scrollTop ?? 0;
      river.inside.replaceChildren(...(at.wide ? [inside] : []));
      const under = number ? [drawNumber(one, number, act)] : [];
      panel.replaceChildren(...(at.wide ? [] : [inside]), ...under);
      if (hidden) hidden.style.top = `${at.heads - 44}px`;
      const keys = content.querySelector(".journey-keys");
      if (keys) keys.scrollTop = scrolled;
      refreshPanel();
      walk.show(whole, one);
      const first = panel.querySelector(".journey-stop");
      const entered = panel.querySelector(".journey-slot.journey-now") ?? find(place);
      if (follow) (find(key) ?? entered ?? first)?.focus({ preventScroll: !number });
      else if (old && !old.isConnected)
        (find(old.dataset.key) ?? first ?? banner.node).focus({ preventScroll: true });
    } catch (error) {
      if (mine === drawn) tell(error);
    }
  }

  take(state.facts);
  if (!source.alive) {
    asking.hidden = true;
    said.textContent = SAVED;
  }
  const listening = listen(model, {
    // A run from Python: the run of the page itself is taken when it answers.
    facts: () => !busy && model.get("facts") !== state.facts && take(model.get("facts")),
    step: () => model.get("step") !== state.step && showStep(),
    place: () => model.get("place") !== state.place && showPanel(),
    walk: () => model.get("walk") !== state.walk && showPanel(),
  });
  let width = 0;
  const resized = () => {
    scrollToStep(); // there is no width before the view is on the page
    if (width !== frame.clientWidth) showPanel();
    width = frame.clientWidth;
  };
  return all(listening, source.close, play.rest, watchSize(frame, resized));
}

export { makeSource }; // for its tests

export default makeView(render);
