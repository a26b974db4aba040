// How a view comes onto a page: as a widget, whose model is anywidget's, or without a kernel.
import { tag } from "./common.js";

/** What the file of a view hands on: `render({ model, el })` for anywidget, and `open`.
 *
 * `open(el, state, translator)` is for a page without kernel, and returns what `makeModel` makes.
 */
export const makeView = (render) => ({
  render(context) {
    hidePicture(context);
    return render(context);
  },
  open(el, state, translator) {
    const model = makeModel(state, translator);
    render({ el, model });
    return model;
  },
});

/** Hide the picture that stands for the view in a saved notebook, while the view is on the page. */
function hidePicture({ model, el }) {
  const still = `[data-view="${model.get("_still")}"]`;
  el.append(tag("style", `${still}, .jp-OutputArea-child:has(${still}) { display: none }`));
}

/** As much of a widget's model as a view asks for.
 *
 * state: its traits as JSON, bytes as {"base64": ...}. translator: the model that answers where a
 * kernel would (tutor/exchange/page), or undefined.
 */
function makeModel(state, translator) {
  const traits = JSON.parse(state, (_, value) =>
    value?.base64 === undefined
      ? value
      : new DataView(Uint8Array.from(atob(value.base64), (c) => c.charCodeAt(0)).buffer),
  );
  const updates = new EventTarget();
  const model = {
    translator,
    get: (name) => traits[name],
    set(name, value) {
      if (traits[name] === value) return;
      traits[name] = value;
      updates.dispatchEvent(new Event("change:" + name));
    },
    on: (event, update) => updates.addEventListener(event, update),
    off: (event, update) => updates.removeEventListener(event, update),
    save_changes() {},
  };
  /** The question of an AttentionView, or that of a BeamView, which says how to search. */
  async function send({ sentence, ...search }) {
    try {
      if (search.beams) Object.assign(traits, await translator.search(sentence, search));
      else {
        const { weights, ...answer } = await translator.record(sentence);
        Object.assign(traits, answer, { weights: new DataView(weights.buffer) });
      }
    } catch (error) {
      traits.message = error.message;
    }
    model.set("answers", traits.answers + 1);
  }
  if (translator) model.send = send;
  return model;
}
