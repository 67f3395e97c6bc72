// Runs a program for wasm32-wasip1: `node .ci/more/wasi.mjs PROGRAM ARGUMENT…`, with the caller's environment and all files. Relative
// paths begin at the root: a second folder that is opened for them would hide it.
import { readFile } from "node:fs/promises";
import { env, exit } from "node:process";
import { WASI } from "node:wasi";

const [, , program, ...rest] = process.argv;
const wasi = new WASI({
  version: "preview1",
  args: [program, ...rest],
  env,
  preopens: { "/": "/" },
});
const module = await WebAssembly.compile(await readFile(program));
exit(wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject())));
