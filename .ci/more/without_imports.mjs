// Calls the module of tests/attribute/fixtures/without_imports.rs, and compares what it says with what was done.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

const module = await WebAssembly.compile(await readFile(process.argv[2]));
assert.deepEqual(WebAssembly.Module.imports(module), []);
const { exports } = await WebAssembly.instantiate(module, {});
assert.equal(exports.calls(), 0n);
for (let number = 0; number < 10; number++) {
  assert.equal(exports.call(number), 3 * number);
}
assert.equal(exports.calls(), 10n);
assert.equal(exports.says_why(), 1);
console.log("10 calls, 10 reported, and why they have no ticks");
