// JourneyView: one sentence all the way. Where its numbers come from: journey_source.js.

function render({ model, el }) {
  const source = makeSource(model);
  const frame = makeFrame(el, `Journey of “${model.get("facts").text}”`);
  frame.append(element("p", {}, `${model.get("facts").text} → ${model.get("facts").translation}`));
  return () => source.close();
}
