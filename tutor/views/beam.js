// The tree of a beam search: a column for every step, a box for every candidate.

function render({ model, el }) {
  const frame = makeFrame(el, "Beam search");
  const asking = makeAsking(model, (sentence) => ({ sentence, ...model.get("settings") }));
  const tree = element("div", { style: "margin-top: 6px" });
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
  const end = listen(model, ["answers"], showAnswer);
  return () => {
    asking.end();
    endTree();
    end();
  };
}

/** Draw the tree of `model`'s facts into a frame; returns what ends it. */
function drawTree(model, frame) {
  const { steps, winner } = model.get("facts");
  const [WIDTH, HEIGHT, GAP] = [92, 40, 20]; // of a box, and between steps, in CSS pixels
  const last = steps.length - 1;
  const MARKS = { live: "", finished: "■ ", best: "★ ", pruned: "✕ " };

  const go = (step) => assign(model, { step: Math.min(Math.max(step, 0), last) });
  const back = element(
    "button",
    { type: "button", onclick: () => go(model.get("step") - 1) },
    "Back",
  );
  const forth = element(
    "button",
    { type: "button", onclick: () => go(model.get("step") + 1) },
    "Next",
  );
  const slider = element("input", {
    type: "range",
    min: 0,
    max: last,
    step: 1,
    "aria-label": "step",
    oninput: () => go(Number(slider.value)),
  });
  const heading = element("p", { class: "tutor-caption", role: "status" });
  const readout = element("p", { class: "tutor-readout tutor-long", "aria-live": "polite" });
  const svg = (tag, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  };
  const x = (i) => i * (WIDTH + GAP);
  const y = (j) => 22 + j * (HEIGHT + 8);
  const size = { width: x(last) + WIDTH + 2, height: y(Math.max(...steps.map((c) => c.length))) };
  const lines = svg("svg", { ...size, "aria-hidden": "true" });
  const stage = element(
    "div",
    {
      class: "tutor-stage tutor-tree",
      role: "application",
      tabindex: 0,
      "aria-roledescription": "tree",
      style: `width: ${size.width}px; height: ${size.height}px`,
    },
    lines,
  );
  // nodes[i][j]: the box, its texts, and the line from its parent
  const nodes = steps.map((candidates, i) =>
    candidates.map((candidate, j) => {
      const [token, score] = [
        element("b", { title: candidate.token }),
        element("span", {}, write(candidate.score)),
      ];
      const box = element(
        "span",
        {
          class: "tutor-box tutor-node",
          "data-row": j,
          "data-column": i,
          style: `left: ${x(i)}px; top: ${y(j)}px; width: ${WIDTH}px; height: ${HEIGHT}px`,
        },
        token,
        score,
      );
      const from = y(candidate.parent) + HEIGHT / 2;
      const to = y(j) + HEIGHT / 2;
      const middle = x(i) - GAP / 2;
      const line = svg("path", {
        fill: "none",
        d: i ? `M ${x(i) - GAP} ${from} C ${middle} ${from} ${middle} ${to} ${x(i)} ${to}` : "",
      });
      lines.append(line);
      stage.append(box);
      return { box, token, line };
    }),
  );
  steps.forEach((_, i) =>
    stage.append(
      element(
        "span",
        {
          class: "tutor-sign tutor-step-sign",
          style: `left: ${x(i)}px; top: 0; width: ${WIDTH}px`,
        },
        String(i),
      ),
    ),
  );
  const [moreLeft, moreRight] = [element("span", {}), element("span", {})];
  const scroll = element("div", { class: "tutor-scroll", onscroll: showMore }, stage);
  const table = makeTable();
  frame.append(
    element(
      "div",
      { class: "tutor-choosers" },
      back,
      forth,
      element(
        "label",
        { class: "tutor-chooser tutor-slider" },
        element("span", {}, "Step"),
        slider,
      ),
    ),
    heading,
    readout,
    element("p", { class: "tutor-more", "aria-hidden": "true" }, moreLeft, moreRight),
    scroll,
    element(
      "p",
      { class: "tutor-legend" },
      ...["live", "finished", "best", "pruned"].map((fate) =>
        element(
          "span",
          { class: "tutor-key" },
          element(
            "span",
            { class: `tutor-box tutor-sample tutor-${fate}` },
            `${MARKS[fate]}${fate}`,
          ),
        ),
      ),
      element("span", {}, "In a box: the token, and the score of the sentence so far."),
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
    const fates = steps
      .slice(0, shown + 1)
      .map((candidates) => candidates.map(({ state }) => state));
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
    back.disabled = step === 0;
    forth.disabled = step === last;
    const counts = (what) => fate.flat().filter((x) => x === what).length;
    heading.textContent =
      `Step ${step} of ${last}: ${fate[step].filter((x) => x === "live").length} live, ` +
      `${counts("finished") + counts("best")} finished, ${counts("pruned")} pruned so far.` +
      (step === last && winner
        ? ` Best: ${path({ row: winner[1], column: winner[0] })
            .map(([i, j]) => steps[i][j].token)
            .join(" ")}`
        : "");
    stage.setAttribute(
      "aria-label",
      `Tree of the search up to step ${step}. ` +
        "Arrow keys follow the branches, Enter pins, Escape leaves.",
    );
    const won = new Set(
      step === last && winner ? path({ row: winner[1], column: winner[0] }).map(String) : [],
    );
    nodes.forEach((line, i) =>
      line.forEach((node, j) => {
        node.box.hidden = i > step;
        node.line.style.display = i > step ? "none" : "";
        if (i > step) return;
        node.token.textContent = MARKS[fate[i][j]] + steps[i][j].token;
        for (const name of Object.keys(MARKS)) {
          node.box.classList.toggle(`tutor-${name}`, fate[i][j] === name);
        }
        node.line.classList.toggle("tutor-pruned", fate[i][j] === "pruned");
        node.line.classList.toggle("tutor-best", won.has(`${i},${j}`));
      }),
    );
    if (walk.cursor?.column > step) walk.cursor = null;
    if (walk.pin?.column > step) walk.pin = null;
    table.fill(() => [
      ["step", "place", "token", "log p", "total", "score", "fate"],
      fate.flatMap((line, i) =>
        line.map((what, j) => [
          String(i),
          String(j),
          steps[i][j].token,
          write(steps[i][j].log_prob),
          write(steps[i][j].total),
          write(steps[i][j].score),
          what,
        ]),
      ),
    ]);
    showCursor();
    scrollToStep();
  }

  /** Bring the newest step into sight, or the winner once the search is over. */
  function scrollToStep() {
    const step = model.get("step");
    const column = step === last && winner ? winner[0] : step;
    const [left, right] = [x(column) - GAP, x(column) + WIDTH + GAP];
    if (right > scroll.scrollLeft + scroll.clientWidth) scroll.scrollLeft = right - scroll.clientWidth;
    else if (left < scroll.scrollLeft) scroll.scrollLeft = left;
    showMore();
  }

  /** Say how many steps are out of sight: many a browser shows no scrollbar. */
  function showMore() {
    const shown = steps.slice(0, model.get("step") + 1);
    const [left, right] = [scroll.scrollLeft, scroll.scrollLeft + scroll.clientWidth];
    const before = shown.filter((_, i) => x(i) < left).length;
    const after = shown.filter((_, i) => x(i) + WIDTH > right).length;
    moreLeft.textContent = before ? `← scroll: ${before === 1 ? "step 0" : `steps 0 to ${before - 1}`}` : "";
    const first = shown.length - after;
    moreRight.textContent = after ? `scroll: ${after === 1 ? `step ${first}` : `steps ${first} to ${shown.length - 1}`} →` : "";
  }

  /** The candidates from the first step to this cell, as [step, index]. */
  function path({ row, column }) {
    const found = [];
    for (let i = column, j = row; i >= 0; j = steps[i].at(j).parent, i--) found.unshift([i, j]);
    return found;
  }

  function showCursor() {
    const at = walk.cursor ?? walk.pin;
    const on = new Set((at ? path(at) : []).map(String));
    nodes.forEach((line, i) =>
      line.forEach(({ box, line }, j) => {
        box.classList.toggle("tutor-here", at !== null && at?.row === j && at?.column === i);
        box.classList.toggle("tutor-pinned", walk.pin?.row === j && walk.pin?.column === i);
        box.classList.toggle("tutor-path", on.has(`${i},${j}`));
        line.classList.toggle("tutor-path", on.has(`${i},${j}`));
      }),
    );
    if (!at) readout.textContent = "Point at a box, or press Tab and then the arrow keys.";
    else
      readout.textContent =
        describe(at) + (walk.pin && walk.pin !== at ? ` Pinned: ${describe(walk.pin)}` : "");
  }

  function describe(at) {
    const c = steps[at.column][at.row];
    const tokens = path(at)
      .map(([i, j]) => steps[i][j].token)
      .join(" ");
    return (
      `${tokens}: step ${at.column}, place ${at.row}, ${fate[at.column][at.row]}. ` +
      `The last token has log-probability ${write(c.log_prob)} ` +
      `(probability ${write(Math.exp(c.log_prob))}), all together ${write(c.total)}; ` +
      `the score is ${write(c.score)}.`
    );
  }

  const walk = makeWalk(stage, {
    start: () => ({ row: 0, column: 0 }),
    find: findBox,
    next(key, { row, column }) {
      const to = {
        ArrowLeft: { row: steps[column][row].parent, column: column - 1 },
        ArrowRight: {
          row: column < last ? steps[column + 1].findIndex(({ parent }) => parent === row) : -1,
          column: column + 1,
        },
        ArrowUp: { row: row - 1, column },
        ArrowDown: { row: row + 1, column },
        Home: { row: 0, column: 0 },
        End: { row: 0, column: model.get("step") },
      }[key];
      if (!to) return null;
      const there =
        to.column >= 0 &&
        to.column <= model.get("step") &&
        to.row >= 0 &&
        to.row < steps[to.column].length;
      return there ? to : { row, column };
    },
    show: showCursor,
    reveal: ({ row, column }) =>
      nodes[column][row].box.scrollIntoView({ block: "nearest", inline: "nearest" }),
  });
  show();
  const watch = new ResizeObserver(scrollToStep); // there is no width before it is on the page
  watch.observe(scroll);
  const end = listen(model, ["step"], show);
  return () => {
    watch.disconnect();
    end();
  };
}
