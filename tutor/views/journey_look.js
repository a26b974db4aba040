// What the model looks at while it writes a token, for the view of the bars alone: the source's
// tokens, and from each a line as wide as its share (the mean of the last layer's heads), to the
// token that is read.
import { range, tag } from "./common.js";
import { two } from "./journey_parts.js";

const [FALL, FULL] = [56, 16]; // px: how far the lines fall; the width of the share 1

/** { node, show }: `show` draws it for the step of `state`. */
export function makeLook(state) {
  const lines = tag("svg.journey-lines", { "aria-hidden": "true" });
  const source = tag("div.journey-asked");
  const read = tag("span.journey-chip.journey-decoder");
  const written = tag("b.journey-decoder");
  const words = tag(
    "p.journey-key",
    "The wider a line, the more the model looks there before it writes the next piece. " +
      "An underscore is a space; [BOS] and [EOS] are start and end.",
  );
  const wrote = tag("div.journey-wrote", read, " → ", written);
  const picture = tag("div.journey-seen", { role: "img" }, lines, source, wrote);
  const node = tag("div.journey-look", picture, words);

  async function show() {
    const { facts, step } = state;
    const A = await state.numbers(`decoder.${facts.config.layers - 1}.cross.A`);
    if (facts !== state.facts || step !== state.step) return;
    const [heads, T, S] = A.shape;
    const at = (s) => range(heads).map((m) => A.data[(m * T + step) * S + s]);
    const shares = facts.source.map((_, s) => at(s).reduce((a, b) => a + b) / heads);
    source.replaceChildren(
      ...facts.source.map((token) => tag("span.journey-chip.journey-encoder", token)),
    );
    read.textContent = facts.read[step];
    written.textContent = facts.target[step];
    const most = range(S)
      .sort((a, b) => shares[b] - shares[a])
      .slice(0, 2);
    const said = most.map((s) => `${facts.source[s]} ${two(shares[s])}`).join(", ");
    picture.setAttribute("aria-label", `At ${facts.read[step]} it looks most at ${said}.`);
    const from = picture.getBoundingClientRect();
    const to = read.getBoundingClientRect();
    const [x, y] = [to.left - from.left + to.width / 2, to.top - from.top];
    const path = (chip, s) => {
      const box = chip.getBoundingClientRect();
      const [left, top] = [box.left - from.left + box.width / 2, box.bottom - from.top];
      const middle = y - FALL / 2;
      return tag("path.journey-encoder", {
        d: `M${left} ${top}C${left} ${middle} ${x} ${middle} ${x} ${y}`,
        "stroke-width": (shares[s] * FULL).toFixed(2),
        opacity: 0.55,
      });
    };
    lines.replaceChildren(...[...source.children].map(path));
  }

  return { node, show };
}
