// Bundles for those who have no Node: the views, and the model of a page with its Worker.
//
// node build.mjs [folder]: into the packages, or below another folder, to be compared.
import { copyFileSync, existsSync, readdirSync } from "node:fs";
import { build } from "esbuild";

const out = process.argv[2] ?? ".";
const [VIEWS, PAGE] = ["tutor/views", "tutor/exchange/page"];
const common = { bundle: true, format: "iife", charset: "utf8", target: "es2022" };

// A view is a script beside a module of Python.
const scripts = readdirSync(VIEWS).filter((name) => name.endsWith(".js"));
const views = scripts.filter((name) => existsSync(`${VIEWS}/${name.replace(".js", ".py")}`));

await build({
  ...common,
  entryPoints: views.map((name) => `${VIEWS}/${name}`),
  globalName: "tutorView",
  outdir: `${out}/${VIEWS}/bundles`,
});
await build({
  ...common,
  entryPoints: [`${PAGE}/source.js`],
  globalName: "tutorPage",
  outdir: `${out}/${PAGE}/bundles`,
});
await build({
  ...common,
  entryPoints: [`${PAGE}/worker.js`],
  outdir: `${out}/${PAGE}/bundles`,
  minify: true, // most of it is the library
  banner: { js: "// The tokenizer within is @huggingface/tokenizers 0.2.0, Apache-2.0." },
});
const licence = "node_modules/@huggingface/tokenizers/LICENSE";
copyFileSync(licence, `${out}/${PAGE}/bundles/LICENSE-tokenizers`);
