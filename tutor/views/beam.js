// The tree of a beam search: a column for every step, a box for every candidate.
import {
  all,
  assign,
  clamp,
  listen,
  makeArea,
  makeAsking,
  makeFrame,
  makeHelp,
  makePlay,
  makeReadout,
  makeSteps,
  makeTable,
  makeWalk,
  tag,
  watchSize,
  write,
} from "./common.js";
import { makeView } from "./widget.js";

const [WIDTH, HEIGHT, GAP] = [92, 40, 20]; // of a box, and between steps, in CSS pixels
const MARKS = { live: "", finished: "■ ", best: "★ ", pruned: "✕ " };

function render({ model, el }) {
  const frame = makeFrame(el, "Beam search");
  const asking = makeAsking(model, (sentence) => ({ sentence, ...model.get("settings") }));
  const tree = tag("div", { style: "margin-top: 6px" });
  frame.append(asking.node, asking.message, tree);
  let [facts, endTree] = [null, () => {}];

  /** Show what is known; a tree that is shown already stays as the reader has left it. */
  function showAnswer() {
    const known = model.get("facts");
    asking.heard(known === facts ? undefined : known.source);
    if (known === facts) return;
    facts = known;
    if (facts.source) frame.setAttribute("aria-label", `Beam search for “${facts.source}”`);
    endTree();
    tree.replaceChildren();
    endTree = drawTree(model, tree);
  }

  showAnswer();
  return all(asking.end, () => endTree(), listen(model, { answers: showAnswer }));
}

/** Draw the tree of `model`'s facts into a frame; returns what ends it. */
function drawTree(model, frame) {
  const { steps, winner } = model.get("facts");
  const last = steps.length - 1;
  const x = (i) => i * (WIDTH + GAP);
  const y = (j) => 22 + j * (HEIGHT + 8);

  const go = (step) => assign(model, { step: clamp(step, 0, last) });
  const buttons = makeSteps((by) => go(model.get("step") + by));
  const play = makePlay(() => [model.get("step"), last], go, [buttons.back, buttons.forth]);
  const slider = tag("input", {
    type: "range",
    min: 0,
    max: last,
    step: 1,
    "aria-label": "step",
    oninput: () => go(Number(slider.value)),
  });
  const heading = tag("p.tutor-caption", { role: "status" });
  const readout = makeReadout("tutor-long");
  const size = { width: x(last) + WIDTH + 2, height: y(Math.max(...steps.map((c) => c.length))) };
  const lines = tag("svg", { ...size, "aria-hidden": "true" });
  const style = `width: ${size.width}px; height: ${size.height}px`;
  const stage = makeArea("div.tutor-stage.tutor-tree", "tree", { style }, lines);
  // nodes[i][j]: the box, its text, and the line from its parent
  const nodes = steps.map((candidates, i) =>
    candidates.map((candidate, j) => {
      const token = tag("b", { title: candidate.token });
      const place = `left: ${x(i)}px; top: ${y(j)}px; width: ${WIDTH}px; height: ${HEIGHT}px`;
      const box = tag(
        "span.tutor-box.tutor-node",
        { "data-row": j, "data-column": i, style: place },
        token,
        tag("span", write(candidate.score)),
      );
      const [from, to] = [y(candidate.parent) + HEIGHT / 2, y(j) + HEIGHT / 2];
      const middle = x(i) - GAP / 2;
      const curve = `M ${x(i) - GAP} ${from} C ${middle} ${from} ${middle} ${to} ${x(i)} ${to}`;
      const line = tag("path", { fill: "none", d: i ? curve : "" });
      lines.append(line);
      stage.append(box);
      return { box, token, line };
    }),
  );
  steps.forEach((_, i) => {
    const style = `left: ${x(i)}px; top: 0; width: ${WIDTH}px`;
    stage.append(tag("span.tutor-sign.tutor-step-sign", { style }, String(i)));
  });
  const [moreLeft, moreRight] = [tag("span"), tag("span")];
  const scroll = tag("div.tutor-scroll", { onscroll: showMore }, stage);
  const table = makeTable();
  const samples = Object.entries(MARKS).map(([fate, mark]) =>
    tag("span.tutor-key", tag(`span.tutor-box.tutor-sample.tutor-${fate}`, mark + fate)),
  );
  frame.append(
    tag(
      "div.tutor-choosers",
      buttons.back,
      buttons.forth,
      play.node,
      tag("label.tutor-chooser.tutor-slider", tag("span", "Step"), slider),
    ),
    heading,
    readout,
    tag("p.tutor-more", { "aria-hidden": "true" }, moreLeft, moreRight),
    scroll,
    tag(
      "p.tutor-legend",
      ...samples,
      tag("span", "In a box: the token, and the score of the sentence so far."),
    ),
    table,
    makeHelp(
      "Tab goes to the buttons and to the tree. There left leads to the parent, right to the best " +
        "child, up and down stay within a step. Enter pins a candidate, to compare it with others. " +
        "Escape leaves.",
    ),
  );

  /** What has become of each candidate at the step that is shown. */
  function fates() {
    const shown = model.get("step");
    const fates = steps.slice(0, shown + 1).map((line) => line.map(({ state }) => state));
    for (let i = shown - 1; i >= 0; i--) {
      const lead = new Set(
        steps[i + 1].filter((_, j) => fates[i + 1][j] !== "pruned").map(({ parent }) => parent),
      );
      fates[i] = fates[i].map((fate, j) => (fate === "live" && !lead.has(j) ? "pruned" : fate));
    }
    if (shown === last && winner) fates[winner[0]][winner[1]] = "best";
    return fates;
  }

  let fate; // [step][index]

  function show() {
    const step = model.get("step");
    fate = fates();
    slider.value = step;
    buttons.limit(step, last);
    const won = step === last && winner ? path({ row: winner[1], column: winner[0] }) : [];
    const count = (among, what) => among.filter((one) => what.includes(one)).length;
    heading.textContent =
      `Step ${step} of ${last}: ${count(fate[step], ["live"])} live, ` +
      `${count(fate.flat(), ["finished", "best"])} finished, ` +
      `${count(fate.flat(), ["pruned"])} pruned so far.` +
      (won.length ? ` Best: ${tokensOf(won)}` : "");
    stage.setAttribute(
      "aria-label",
      `Tree of the search up to step ${step}. ` +
        "Arrow keys follow the branches, Enter pins, Escape leaves.",
    );
    forEachNode(({ box, line, token }, i, j) => {
      box.hidden = i > step;
      line.style.display = i > step ? "none" : "";
      if (i > step) return;
      token.textContent = MARKS[fate[i][j]] + steps[i][j].token;
      for (const name of Object.keys(MARKS))
        box.classList.toggle(`tutor-${name}`, fate[i][j] === name);
      line.classList.toggle("tutor-pruned", fate[i][j] === "pruned");
      line.classList.toggle(
        "tutor-best",
        won.some((at) => at[0] === i && at[1] === j),
      );
    });
    if (walk.cursor?.column > step) walk.cursor = null;
    if (walk.pin?.column > step) walk.pin = null;
    table.fill(() => [
      ["step", "place", "token", "log p", "total", "score", "fate"],
      fate.flatMap((line, i) =>
        line.map((what, j) => {
          const { token, log_prob, total, score } = steps[i][j];
          return [
            String(i),
            String(j),
            token,
            ...[log_prob, total, score].map((x) => write(x)),
            what,
          ];
        }),
      ),
    ]);
    showCursor();
    scrollToStep();
  }

  const forEachNode = (work) =>
    nodes.forEach((line, i) => line.forEach((node, j) => work(node, i, j)));

  /** Bring the newest step into sight, or the winner once the search is over. */
  function scrollToStep() {
    const step = model.get("step");
    const column = step === last && winner ? winner[0] : step;
    const [left, right] = [x(column) - GAP, x(column) + WIDTH + GAP];
    if (right > scroll.scrollLeft + scroll.clientWidth)
      scroll.scrollLeft = right - scroll.clientWidth;
    else if (left < scroll.scrollLeft) scroll.scrollLeft = left;
    showMore();
  }

  /** Say how many steps are out of sight: many a browser shows no scrollbar. */
  function showMore() {
    const shown = steps.slice(0, model.get("step") + 1);
    const [left, right] = [scroll.scrollLeft, scroll.scrollLeft + scroll.clientWidth];
    const before = shown.filter((_, i) => x(i) < left).length;
    const after = shown.filter((_, i) => x(i) + WIDTH > right).length;
    const name = (first, end) =>
      first === end - 1 ? `step ${first}` : `steps ${first} to ${end - 1}`;
    moreLeft.textContent = before ? `← scroll: ${name(0, before)}` : "";
    moreRight.textContent = after ? `scroll: ${name(shown.length - after, shown.length)} →` : "";
  }

  /** The candidates from the first step to this cell, as [step, index]. */
  function path({ row, column }) {
    const found = [];
    for (let i = column, j = row; i >= 0; j = steps[i].at(j).parent, i--) found.unshift([i, j]);
    return found;
  }

  const tokensOf = (path) => path.map(([i, j]) => steps[i][j].token).join(" ");

  function showCursor() {
    const at = walk.cursor ?? walk.pin;
    const on = new Set((at ? path(at) : []).map(String));
    forEachNode(({ box, line }, i, j) => {
      const is = (cell) => cell?.row === j && cell?.column === i;
      box.classList.toggle("tutor-here", is(at));
      box.classList.toggle("tutor-pinned", is(walk.pin));
      for (const one of [box, line]) one.classList.toggle("tutor-path", on.has(`${i},${j}`));
    });
    const pinned = walk.pin && walk.pin !== at ? ` Pinned: ${describe(walk.pin)}` : "";
    readout.textContent = at
      ? describe(at) + pinned
      : "Point at a box, or press Tab and then the arrow keys.";
  }

  function describe(at) {
    const c = steps[at.column][at.row];
    return (
      `${tokensOf(path(at))}: step ${at.column}, place ${at.row}, ${fate[at.column][at.row]}. ` +
      `The last token has log-probability ${write(c.log_prob)} ` +
      `(probability ${write(Math.exp(c.log_prob))}), all together ${write(c.total)}; ` +
      `the score is ${write(c.score)}.`
    );
  }

  const walk = makeWalk(stage, {
    next(key, { row, column }) {
      const child = () => steps[column + 1]?.findIndex(({ parent }) => parent === row);
      const to = {
        ArrowLeft: { row: steps[column][row].parent, column: column - 1 },
        ArrowRight: { row: child(), column: column + 1 },
        ArrowUp: { row: row - 1, column },
        ArrowDown: { row: row + 1, column },
        Home: { row: 0, column: 0 },
        End: { row: 0, column: model.get("step") },
      }[key];
      const there = to && to.column <= model.get("step") && steps[to.column]?.[to.row];
      return to && (there ? to : { row, column });
    },
    show: showCursor,
    nodeAt: ({ row, column }) => nodes[column][row].box,
  });
  show();
  // There is no width before it is on the page.
  return all(play.rest, watchSize(scroll, scrollToStep), listen(model, { step: show }));
}

export default makeView(render);
