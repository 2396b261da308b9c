// The order of the test files: first what takes longest by far. Jest knows that from earlier runs; on a clean checkout, as
// in CI, it goes by the size of the files, and a short one that installs applications or compiles all the documents
// begins late: at the end one core waits for it.
const { default: Sequencer } = require('@jest/test-sequencer');

const SLOW = [
  'test/packages/fresh-applications.',
  'test/browser/',
  'test/docs/snippets.',
  'test/docs/snippet-types.',
  'test/docs/quick-start.',
  'libs/limiters/conformance/scenarios.',
  'test/e2e/nestjs/visibility/metrics.',
  'libs/redis/conformance/waiting/lost-messages.',
  'libs/redis/conformance/leases/crash-rounds.',
];

module.exports = class SlowFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    // Jest's own order, by the times of this machine, is the better one.
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    const rank = ({ path }) => {
      const index = SLOW.findIndex((part) => path.includes(part));
      return index === -1 ? SLOW.length : index;
    };
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
};
