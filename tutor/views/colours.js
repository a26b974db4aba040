// Colours of weights: matplotlib's cividis, as in the figures.
import { clamp, range, tag } from "./common.js";

const CIVIDIS = // 256 colours as "rrggbb"
  "00224d00234f00235000245200255400265500265700275900285b00285c00295e002a60002a62002b64002c66002c67002d69002e6b002f6d002f6f0030700030700031700031700432700833700b33700e347011356f14366f16366f18376f1a386f1c386e1d396e1f3a6e213b6e223b6e243c6e253d6d273d6d283e6d2a3f6d2b3f6d2c406d2e416c2f426c30426c31436c32446c34446c35456c36466c37466c38476c39486c3a486b3b496b3d4a6b3e4b6b3f4b6b404c6b414d6b424d6b434e6b444f6b454f6b46506b47516b48516b49526b4a536b4b546c4c546c4d556c4e566c4e566c4f576c50586c51586c52596c535a6c545a6c555b6d565c6d575d6d585d6d595e6d595f6d5a5f6d5b606e5c616e5d616e5e626e5f636e60646e61646f61656f62666f63666f64676f656870666970676970686a70686b71696b716a6c716b6d716c6d726d6e726e6f726e70736f70737071737172737273747373747474757475757575757676767777767878767978777979777a7a777b7b777c7b787d7c787e7d787f7d78807e78817f788280788380788481788582788583788683788784788885788986788a86788b87788c88788d89788e89788f8a77908b77918c77928c77938d77948e77958f77968f779790769891769992769a93769b93769c94769d95759e96759f9675a09775a19874a29974a39a74a49a74a59b73a69c73a79d73a89e73a99e72aa9f72aba072aca171ada271aea271afa370b0a470b1a570b2a66fb3a66fb4a76fb5a86eb6a96eb7aa6db8ab6db9ab6dbaac6cbbad6cbcae6bbdaf6bbeb06abfb06ac1b169c2b269c3b368c4b468c5b567c6b567c7b666c8b765c9b865cab964cbba64ccbb63cdbc62cebc62cfbd61d0be60d2bf60d3c05fd4c15ed5c25ed6c35dd7c35cd8c45bd9c55adac65adbc759dcc858dec957dfca56e0cb55e1cc54e2cc53e3cd52e4ce51e5cf50e6d04fe8d14ee9d24dead34cebd44becd54aedd648eed747efd846f1d944f2da43f3da42f4db40f5dc3ff6dd3df8de3bf9df3afae038fbe136fde234fde333fde534fde636fde737";

const COLOURS = CIVIDIS.match(/.{6}/g).map((hex) => parseInt(hex, 16));

/** The place of a weight between 0 and 1 in the colours, as matplotlib counts. */
const shade = (weight) => clamp(Math.floor(weight * 256), 0, 255);

export const colour = (weight) => `#${COLOURS[shade(weight)].toString(16).padStart(6, "0")}`;

/** A canvas with one pixel a weight, row after row; to be copied from, not to be shown.
 *
 * `strength(row, column)`: 0 to 255, less where a cell shall stand back.
 */
export function makePixels(weights, rows, columns, strength = (_row, _column) => 255) {
  const canvas = tag("canvas", { width: columns, height: rows });
  const image = new ImageData(columns, rows);
  weights.forEach((weight, i) => {
    const rgb = COLOURS[shade(weight)];
    const alpha = strength(Math.floor(i / columns), i % columns);
    image.data.set([rgb >> 16, (rgb >> 8) & 255, rgb & 255, alpha], 4 * i);
  });
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

/** A picture of a canvas. Many canvases on a page cost time in every frame, pictures do not. */
export const picture = (canvas) => tag("img", { src: canvas.toDataURL(), alt: "" });

/** Is black, not white, legible on its colour? */
export const isBright = (weight) => weight >= 0.47; // there both have a contrast of 4.5

/** The scale: what the colours mean; `name` says what its left end is. */
export function makeScale(name = "weight 0") {
  const stops = range(9)
    .map((i) => colour(i / 8))
    .join(", ");
  const bar = tag("span.tutor-bar", { style: `background: linear-gradient(to right, ${stops})` });
  return tag("span.tutor-key", `${name} `, bar, " 1");
}
