// Answers that need no code: judged in the page with the words of `tutor.check`, and remembered by
// this browser alone.

// ---- predictions

/** Whether an answer is a value, in which {"any": true} stands for all and {"near": x} for about. */
function same(answer, value, tolerance) {
  if (value.any) return true;
  if (Array.isArray(value))
    return (
      Array.isArray(answer) &&
      answer.length === value.length &&
      value.every((item, i) => same(answer[i], item, tolerance))
    );
  if (value.items)
    return Object.keys(value.items).every((key) => same(answer[key], value.items[key], tolerance));
  if (!("near" in value)) return answer === value.is;
  const near = { inf: Infinity, "-inf": -Infinity }[value.near] ?? Number(value.near);
  if (typeof answer !== "number") return false;
  if (answer === near || (Number.isNaN(answer) && Number.isNaN(near))) return true;
  const size = Math.max(1, Math.abs(answer), Math.abs(near));
  return Number.isFinite(size) && Math.abs(answer - near) <= tolerance * size;
}

/** What is said of a prediction. */
function judgePrediction(exercise, answer) {
  const { right, guesses, tolerance, because, section, chapter } = exercise;
  if (same(answer, right, tolerance)) return `Right. ${because}`.trim();
  const fitting = guesses.filter((guess) => same(answer, guess.value, tolerance));
  const least = Math.min(...fitting.map((guess) => guess.open));
  const said = new Set(fitting.filter((guess) => guess.open === least).map((guess) => guess.said));
  if (said.size > 1)
    return `Not yet. Several mistakes look like this one:\n${[...said].map((s) => `- ${s}`).join("\n")}`;
  const [one] = said;
  const nothing = `That is not it. Look again at the section “${section}” of chapter ${chapter}.`;
  return `Not yet. ${one ?? nothing}`;
}

// ---- explanations

function shortened(text, width) {
  if (text.length <= width) return text;
  const words = text.split(" ");
  while (words.length && `${words.join(" ")} [...]`.length > width) words.pop();
  return `${words.join(" ")} [...]`.trim();
}

/** What to tell a text that states a known misconception in so many words; null if none does. */
function misconception(exercise, text) {
  const hedge = new RegExp(exercise.hedge, "i");
  const takesBack = new RegExp(`^(?:${exercise.takesBack})`, "i");
  const parts = text.split(/(?<=[.!?])\s+|\n\s*\n/);
  const sentences = parts.map((said) => said.trim().split(/\s+/).join(" "));
  for (const [i, sentence] of sentences.entries())
    for (const [expression, told] of exercise.misconceptions) {
      const found = new RegExp(expression, "di").exec(sentence);
      if (!found || takesBack.test(sentences[i + 1] ?? "")) continue;
      const [start, end] = found.indices.groups?.own ?? [0, 0];
      if (!hedge.test(sentence.slice(0, start) + sentence.slice(end)))
        return `You write “${shortened(sentence, 120)}” ${told}`;
    }
  return null;
}

/** What stands in the way of a text; null if nothing does. */
function judgeText(exercise, text) {
  if (text.match(/[\p{L}\p{N}_]+/gu)?.length >= exercise.least) {
    const told = misconception(exercise, text);
    return told && `Not yet. ${told}`;
  }
  if (text.trim())
    return `Not yet. This is too short: explain in at least ${exercise.least} words.`;
  return `Not yet. This is not written yet: explain in at least ${exercise.least} words.`;
}

// ---- the page

/** What this browser remembers of the exercises: {name: {tries, solved, texts, ticked}}. */
const answered = {
  all() {
    try {
      return JSON.parse(localStorage.getItem("exercises")) ?? {};
    } catch {
      return {};
    }
  },
  change(name, change) {
    const all = answered.all();
    all[name] = { tries: 0, ...all[name], ...change };
    try {
      localStorage.setItem("exercises", JSON.stringify(all));
    } catch {
      // a browser that remembers nothing
    }
    return all[name];
  },
};

function make(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;

/** The number that a text names, a fraction too; null if it names none. */
function numberIn(text) {
  const parts = text.replaceAll("\u2212", "-").replaceAll(",", ".").split("/");
  if (parts.length > 2 || !parts.every((part) => NUMBER.test(part.trim()))) return null;
  return parts.map(Number).reduce((a, b) => a / b);
}

/** The fields of a value of this form, and a function that reads them (null for an empty one). */
function fieldsFor(form, label) {
  if (Array.isArray(form) || form.items) {
    const keys = form.items ? Object.keys(form.items) : form.map((_, i) => `${i + 1}`);
    const parts = keys.map((key, i) => fieldsFor(form.items?.[key] ?? form[i], label + key));
    const read = () => {
      const values = parts.map((part) => part.read());
      return form.items ? Object.fromEntries(keys.map((key, i) => [key, values[i]])) : values;
    };
    return { nodes: parts.flatMap((part) => part.nodes), read };
  }
  if (typeof form.is === "boolean") {
    const options = ["", "True", "False"].map((text) => make("option", {}, text));
    const field = make("select", {}, ...options);
    const read = () => (field.value ? field.value === "True" : null);
    return { nodes: [make("label", {}, `${label} `, field)], read };
  }
  const field = make("input", { autocomplete: "off", spellcheck: false, size: 12 });
  field.autocapitalize = "off";
  const read = () => {
    const text = field.value.trim();
    if (!text) return null;
    return typeof form.is === "string" ? text.toLowerCase() : (numberIn(text) ?? undefined);
  };
  return { nodes: [make("label", {}, `${label} `, field)], read };
}

const flat = (value) =>
  typeof value === "object" && value ? Object.values(value).flatMap(flat) : [value];

function predicting(exercise) {
  const several = Array.isArray(exercise.right) || exercise.right.items;
  const { nodes, read } = fieldsFor(exercise.right, several ? "" : "Your prediction");
  const judge = () => {
    const answer = read();
    const values = flat(answer);
    if (values.includes(null)) return "There is no prediction yet: fill in all fields.";
    if (values.includes(undefined)) return "Not yet. Write numbers as 0.25, -3 or 1/4.";
    const said = judgePrediction(exercise, answer);
    const { tries } = answered.all()[exercise.name] ?? { tries: 0 };
    answered.change(exercise.name, { tries: tries + 1 });
    if (said.startsWith("Right.")) answered.change(exercise.name, { solved: true });
    return said;
  };
  return { nodes, judge };
}

function explaining(exercise, more) {
  const { name, points, questions } = exercise;
  const known = answered.all()[name];
  const field = make("textarea", { rows: 8, value: known?.texts?.at(-1) ?? "" });
  const list = (said) => make("ol", {}, ...said.map((line) => make("li", {}, line)));
  const showPoints = () => {
    const ticked = new Set(answered.all()[name]?.ticked);
    const boxes = points.map((point, i) => {
      const box = make("input", { type: "checkbox", checked: ticked.has(i) });
      box.addEventListener("change", () => {
        box.checked ? ticked.add(i) : ticked.delete(i);
        answered.change(name, { ticked: [...ticked], solved: ticked.size === points.length });
      });
      return make("li", {}, make("label", {}, box, ` ${point}`));
    });
    const asked = make("p", {}, "Compare. Tick what your text says; add what it leaves out.");
    more.replaceChildren(asked, make("ol", {}, ...boxes));
  };
  const judge = () => {
    const text = field.value.trim();
    const wrong = judgeText(exercise, text);
    if (wrong) return wrong;
    const { tries, texts = [] } = answered.change(name, {});
    if (texts.at(-1) !== text) texts.push(text);
    answered.change(name, { tries: tries + 1, texts: texts.slice(-2) });
    if (texts.length > 1) return (showPoints(), "");
    const show = make("button", { type: "button", onclick: showPoints }, "Show the points");
    const after = "Add what is missing, and check again: a second text is shown our points. ";
    more.replaceChildren(list(questions), make("p", {}, after, show));
    return "Noted. Does your text answer these questions?";
  };
  return { nodes: [make("label", {}, "Your explanation", field)], judge };
}

for (const place of document.querySelectorAll(".course-answer")) {
  const exercise = JSON.parse(place.querySelector("script").textContent);
  const said = make("p", { className: "said", role: "status" });
  const more = make("div", {});
  const { nodes, judge } = exercise.points ? explaining(exercise, more) : predicting(exercise);
  const button = make("button", {}, "Check");
  const form = make("form", { noValidate: true }, ...nodes, button);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    more.replaceChildren();
    said.textContent = judge();
  });
  place.append(form, said, more);
}

// What was solved is ticked where exercises are listed.
const solved = answered.all();
const listed = /** @type {NodeListOf<HTMLAnchorElement>} */ (
  document.querySelectorAll("article li > p > a, article li > a")
);
for (const link of listed) {
  const name = link.pathname.match(/exercises\/(\w+)\.html$/)?.[1];
  if (!solved[name]?.solved) continue;
  link.classList.add("solved");
  link.title = "Solved";
}
