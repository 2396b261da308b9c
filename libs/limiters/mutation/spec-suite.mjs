// What a spec sees of Jest, for running the same tests many times in one process.
import { jestExpect } from '@jest/expect';
import { ModernFakeTimers } from '@jest/fake-timers';
import { bind } from 'jest-each';
import { ModuleMocker } from 'jest-mock';
import { isolateModules, loadSpecs } from './spec-loader.mjs';

/** `describe` and what stands in it. */
class Block {
  constructor(name, parent) {
    this.name = name;
    this.parent = parent;
    this.hooks = { beforeEach: [], afterEach: [], afterAll: [] };
    this.entries = [];
  }

  get path() {
    return this.parent === undefined ? [] : [...this.parent.path, this.name];
  }

  /** The hooks of a kind, the outermost first. */
  hooksOf(kind) {
    return [...(this.parent?.hooksOf(kind) ?? []), ...this.hooks[kind]];
  }
}

/** Tests that measure how long something takes, and those whose point is that they do it ten thousand times. */
const LEFT_OUT = new RegExp(
  [
    'the cost of cancelling',
    'lets one of 50,000 leave',
    'a leak of permits is none after 1,000',
    'drift-10000',
    'after 10,000 windows',
    '10,000 attempts that race',
    'a leak of listeners is none after',
    'two thousand million permits',
    'keys stay told apart when there are many',
    'keys leave all of them, and come again',
    'no slower: none is mistaken',
    'is served within a bounded number of turns',
  ].join('|'),
);

/** All tests of all specs. */
export class SpecSuite {
  /** @type {{ id: string, name: string, fileName: string, block: Block, run: () => unknown }[]} */
  tests = [];
  #block = new Block('', undefined);
  #fileName = '';
  #require;

  load() {
    this.#install();
    loadSpecs((fileName, requireFromSpec) => {
      this.#fileName = fileName;
      this.#require = requireFromSpec;
      globalThis.jest.requireActual = requireFromSpec;
      this.#block = new Block(fileName, new Block('', undefined));
    });
  }

  #install() {
    const describe = (name, define) => this.#describe(name, define);
    const it = (name, run) => this.#test(name, run);
    describe.each = bind(describe, false);
    it.each = bind(it, false);
    const hook = (kind) => (run) => void this.#block.hooks[kind].push(run);
    Object.assign(globalThis, {
      describe,
      it,
      expect: jestExpect,
      jest: fakes(),
      beforeEach: hook('beforeEach'),
      afterEach: hook('afterEach'),
      afterAll: hook('afterAll'),
    });
  }

  #describe(name, define) {
    const outer = this.#block;
    this.#block = new Block(name, outer);
    define();
    this.#block = outer;
  }

  #test(name, run) {
    const fullName = [...this.#block.path, name].join(' ');
    if (LEFT_OUT.test(fullName)) return;
    const again = this.tests.filter(({ name: other }) => other === fullName).length;
    const id = again === 0 ? fullName : `${fullName} (${again + 1})`;
    const requireActual = this.#require;
    const runFromSpec = () => {
      globalThis.jest.requireActual = requireActual;
      return run();
    };
    this.tests.push({ id, name: fullName, fileName: this.#fileName, block: this.#block, run: runFromSpec });
  }
}

/** What the specs use of `jest`. */
function fakes() {
  const mocker = new ModuleMocker(globalThis);
  const timers = new ModernFakeTimers({ config: { fakeTimers: {} }, global: globalThis });
  return {
    spyOn: (object, method) => mocker.spyOn(object, method),
    restoreAllMocks: () => mocker.restoreAllMocks(),
    useFakeTimers: (config) => timers.useFakeTimers(config),
    useRealTimers: () => timers.useRealTimers(),
    advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
    runAllTimers: () => timers.runAllTimers(),
    getTimerCount: () => timers.getTimerCount(),
    isolateModules,
  };
}
