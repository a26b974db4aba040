// Small things of which the picture of a journey is made.
import { tag } from "./common.js";

export const SAVED =
  "A saved page: your own sentence, switching off and other tokens need the kernel.";

/** A number with two decimals, as everywhere in this view. */
export const two = (x) => x.toFixed(2).replace("-", "\u2212");

/** A probability; one that two decimals cannot tell from 0 says so. */
export const asShare = (p) => (p > 0 && p < 0.005 ? "< 0.01" : two(p));

export const SUB_LAYERS = { self: "self-attention", cross: "cross-attention", ff: "feed-forward" };

/** The same where there is little room. */
export const SHORT = { self: "self", cross: "cross", ff: "FF" };

/** Is a head off because its sub-layer is? */
export const isOffWith = (scales, { sub, head }) => head !== null && scales[sub] === 0;

/** What its factor does to a part, for screen readers. */
export const sayFactor = (factor) =>
  factor === 1 ? "" : factor === 0 ? ", switched off" : `, counts ${two(factor)} times`;

/** The sub-layers of a layer, in order. */
export const kindsOf = (side) => (side === "encoder" ? ["self", "ff"] : ["self", "cross", "ff"]);

/** The position that a place's numbers are shown of: the source token's, or the step. */
export const positionOf = ({ source, step }, place) =>
  place.startsWith("encoder") ? source : step;

/** The token at that position. */
export const tokenOf = (state, place) =>
  state.facts[place.startsWith("encoder") ? "source" : "read"][positionOf(state, place)];

/** The parts of a place: "decoder.2.cross.head.3" -> { side, layer, kind, head, sub }, sub being
 * the place of the sub-layer. Of what is not named: undefined, head null.
 */
export function parsePlace(place) {
  const [side, layer, kind, , head] = place.split(".");
  const sub = place.replace(/\.head\..*/, "");
  return { side, layer, kind, head: head === undefined ? null : Number(head), sub };
}

/** The head or feed-forward sub-layer that is drawn open: that of the place, or the likeliest. */
export function shownPlace({ place, head, facts }) {
  const {
    side,
    layer,
    kind,
    head: own,
  } = parsePlace(place || `decoder.${facts.config.layers - 1}`);
  const sub = `${side}.${layer}.${kind ?? (side === "encoder" ? "self" : "cross")}`;
  return kind === "ff" ? sub : `${sub}.head.${own ?? head}`;
}

/** A place in words: "decoder layer 2, cross-attention, head 3". */
export function namePlace(place) {
  const { side, layer, kind, head } = parsePlace(place);
  const words = [
    `${side} layer ${layer}`,
    kind && SUB_LAYERS[kind],
    head !== null && `head ${head}`,
  ];
  return words.filter(Boolean).join(", ");
}

/** Something that the arrow keys reach: a button that knows its name (`key`) and what it says. */
export function makeStop(key, says, act, { class: name = "", ...others }, ...children) {
  const attributes = { "data-key": key, "aria-label": says, tabindex: -1, onclick: act, ...others };
  return tag("button", { class: `journey-stop ${name}`, ...attributes }, ...children);
}

const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Make `area` one stop for Tab; arrow keys lead to the nearest of its stops in their direction. */
export function roam(area) {
  const stops = () =>
    [...area.querySelectorAll(".journey-stop")].filter(
      (stop) => stop.offsetParent && !stop.disabled,
    );
  const mark = (stop) => {
    for (const other of area.querySelectorAll('.journey-stop[tabindex="0"]')) other.tabIndex = -1;
    if (stop) stop.tabIndex = 0;
  };
  area.addEventListener("focusin", ({ target }) => target.matches(".journey-stop") && mark(target));
  area.addEventListener("keydown", (event) => {
    const from = event.target;
    const way = WAYS[event.key];
    const modified = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
    if (!way || modified || !from.matches(".journey-stop")) return;
    event.preventDefault();
    const centre = (node) => {
      const { left, top, width, height } = node.getBoundingClientRect();
      return [left + width / 2, top + height / 2];
    };
    const [x, y] = centre(from);
    const own = from.getBoundingClientRect();
    /** Above or below a wide stop, a way to the side does not lead; nor beside a tall one, up. */
    const past = (stop) => {
      const it = stop.getBoundingClientRect();
      const [cx, cy] = centre(stop);
      return way[0]
        ? cx < own.left || cx > own.right || (it.top < own.bottom && it.bottom > own.top)
        : cy < own.top || cy > own.bottom || (it.left < own.right && it.right > own.left);
    };
    let [best, least] = [null, Infinity];
    for (const stop of stops()) {
      const [dx, dy] = [centre(stop)[0] - x, centre(stop)[1] - y];
      const along = dx * way[0] + dy * way[1];
      const aside = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
      const cost = along + 3 * aside;
      if (stop !== from && along > 2 && cost < least && past(stop)) [best, least] = [stop, cost];
    }
    best?.focus();
  });
  /** After a drawing: one stop is reached by Tab. */
  return () => {
    if (!area.querySelector('.journey-stop[tabindex="0"]')) mark(stops()[0]);
  };
}

/** A row of numbers as bars that go up (above 0) or down (below 0) from a line.
 *
 * `foot`: the line is at the bottom, for numbers that are never below 0.
 */
export function makeStrip(numbers, largest, height = 18, foot = false) {
  const middle = foot ? height - 1 : height / 2;
  const room = foot ? height - 2 : height / 2 - 1;
  const of = largest || 1;
  const n = numbers.length;
  let path = "";
  numbers.forEach((x, i) => {
    const length = Math.max(-room, Math.min(room, (x / of) * room));
    path += `M${i + 0.12} ${middle}v${(-length).toFixed(2)}h.76V${middle}z`;
  });
  return tag(
    "svg.journey-strip",
    {
      viewBox: `0 0 ${n} ${height}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
      style: `height: ${height}px`,
    },
    tag("path.journey-axis", { d: `M0 ${middle}H${n}` }),
    tag("path.journey-bars", { d: path }),
  );
}

/** The largest of some numbers without their signs. */
export const reach = (numbers) => numbers.reduce((most, x) => Math.max(most, Math.abs(x)), 0);

/** A bar from 0 to `share` of the width. */
export const makeMeter = (share, name = "") =>
  tag(`span.journey-meter.${name}`, { style: `--share: ${share.toFixed(4)}` });

/** Row `r` of a slice `m` of numbers of shape (h, rows, width). */
export function rowOf({ shape, data }, m, r) {
  const [, rows, width] = shape;
  const start = (m * rows + r) * width;
  return data.subarray(start, start + width);
}
