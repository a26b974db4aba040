// Scores, mask and weights side by side: hide cells, and see where their weight goes.

function render({ model, el }) {
  const { E, rows, columns } = model.get("facts");
  const [T, S] = [rows.length, columns.length];
  const padding = columns.map((name) => name === "[PAD]");

  const frame = makeFrame(el, "Mask view");
  const MASKS = {
    nothing: () => false,
    causal: (t, s) => s > t,
    ...(padding.some(Boolean) && {
      padding: (t, s) => padding[s],
      "causal or padding": (t, s) => s > t || padding[s],
    }),
  };
  const choices = Object.entries(MASKS).map(([name, hides]) =>
    element(
      "button",
      {
        type: "button",
        onclick: () =>
          assign(model, { mask: rows.map((_, t) => columns.map((_, s) => hides(t, s))) }),
      },
      name,
    ),
  );
  const readout = element("p", { class: "tutor-readout", "aria-live": "polite" });
  const scores = makeMatrix("scores E", rows, columns);
  const mask = makeMatrix("mask: ✕ may not be looked at", rows, columns);
  const weights = makeMatrix("weights A = softmax(E)", rows, columns);
  const notes = rows.map(() => element("span", { class: "tutor-name tutor-note" }));
  notes.forEach((note, t) => weights.boxes[t].at(-1).after(note));
  weights.node.querySelector(".tutor-grid").style.gridTemplateColumns = `repeat(${S + 2}, auto)`;
  weights.node.querySelectorAll(".tutor-top")[S - 1].after(element("span"));
  const many = Math.max(T, S) > 8;
  const all = element(
    "div",
    {
      class: `tutor-matrices ${many ? "tutor-many" : ""}`,
      role: "application",
      tabindex: 0,
      "aria-roledescription": "matrices",
      "aria-label":
        `Scores, mask and weights, ${T} rows and ${S} columns each. ` +
        "Arrow keys walk, Enter hides or shows a cell, Escape leaves.",
    },
    scores.node,
    mask.node,
    weights.node,
  );
  const table = makeTable();
  frame.append(
    element(
      "div",
      { class: "tutor-choosers", role: "group", "aria-label": "Hide" },
      element("span", {}, "Hide:"),
      ...choices,
    ),
    readout,
    all,
    element("p", { class: "tutor-legend" }, makeScale()),
    table,
    makeHelp(
      "Tab goes to the buttons and to the matrices, which share one cursor: the arrow keys walk, " +
        "Enter or a click hides a cell or shows it again. Escape leaves.",
    ),
  );

  mask.boxes.flat().forEach((box) => box.classList.add("tutor-mask"));
  weights.boxes.flat().forEach((box) => box.classList.add("tutor-weight"));

  let A;

  function show() {
    const M = model.get("mask");
    A = E.map((line, t) => softmax(line, M[t]));
    choices.forEach((button, i) => {
      const hides = Object.values(MASKS)[i];
      button.setAttribute(
        "aria-pressed",
        M.every((line, t) => line.every((hidden, s) => hidden === hides(t, s))),
      );
    });
    M.forEach((line, t) => {
      line.forEach((hidden, s) => {
        scores.boxes[t][s].textContent = write(many ? Number(E[t][s].toFixed(1)) : E[t][s], many ? 1 : 2);
        scores.boxes[t][s].classList.toggle("tutor-hidden", hidden);
        mask.boxes[t][s].textContent = hidden ? "✕" : "·";
        mask.boxes[t][s].dataset.hidden = hidden;
        const box = weights.boxes[t][s];
        box.textContent = many ? A[t][s].toFixed(2).replace(/^0/, "") : A[t][s].toFixed(2);
        box.style.background = colour(A[t][s]);
        box.style.color = isBright(A[t][s]) ? "black" : "white";
      });
      notes[t].textContent = line.every(Boolean) ? "nothing left: zeros" : "";
    });
    table.fill(() => [
      ["weights", ...columns],
      rows.map((name, t) => [name, ...A[t].map((a, s) => (M[t][s] ? "✕ " : "") + a.toFixed(2))]),
    ]);
    showCursor();
  }

  function showCursor() {
    const at = walk.cursor;
    for (const matrix of [scores, mask, weights]) matrix.light(at);
    readout.textContent = at
      ? describe(at)
      : "Point at a cell, or press Tab and then the arrow keys. Enter or a click hides it.";
  }

  function describe({ row, column }) {
    const hidden = model.get("mask")[row];
    const left = hidden.filter((x) => !x).length;
    const score = `score ${write(E[row][column])}, ${hidden[column] ? "hidden" : "seen"}`;
    const weight = `weight A[${row}, ${column}] = ${A[row][column].toFixed(3)}`;
    const cell = `${rows[row]} and ${columns[column]}: ${score}, ${weight}.`;
    if (!left)
      return `${cell} ${rows[row]} has nothing to look at: its weights are all 0, and sum to 0.`;
    return `${cell} The row's ${left} seen weight${left === 1 ? " is" : "s sum to"} 1.`;
  }

  const walk = makeWalk(all, {
    start: () => ({ row: 0, column: 0 }),
    find: findBox,
    next: (key, from) => stepInGrid(key, from, T, S),
    show: showCursor,
    act({ row, column }) {
      assign(model, {
        mask: model
          .get("mask")
          .map((line, t) =>
            line.map((hidden, s) => (t === row && s === column ? !hidden : hidden)),
          ),
      });
    },
    reveal: ({ row, column }) =>
      mask.boxes[row][column].scrollIntoView({ block: "nearest", inline: "nearest" }),
  });
  show();
  return listen(model, ["mask"], show);
}
