// Runs one test with its hooks, and finds out when it can never end.

/** Captured before a test can put its own in their place. */
const { setTimeout, clearTimeout, setImmediate } = globalThis;

/** The longest that a test may take which waits for real time. */
const LONGEST_TEST_MS = 5_000;
/** Turns of the event loop after which a test that waits for nothing that could come is given up. */
const PATIENT_TURNS = 50;

/** The connections to the process that asks for the runs. */
const CONNECTIONS = new Set(['PipeWrap', 'TTYWrap']);

/** What has failed outside of every promise, while a test ran. */
let uncaught = [];
process.on('uncaughtException', (error) => void uncaught.push(error));

/** Runs a test. Returns what it failed with, or `undefined`. */
export async function runTest({ block, run }) {
  uncaught = [];
  let failure;
  try {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    for (const hook of block.hooksOf('beforeEach')) await hook();
    await settledOrStuck(run());
  } catch (error) {
    failure = error ?? new Error('Something empty was thrown.');
  }
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  for (const hook of block.hooksOf('afterEach').reverse()) await hook();
  return failure ?? uncaught[0];
}

/** What a promise settles to; an error where nothing is left that could settle it. */
async function settledOrStuck(promise) {
  if (typeof promise?.then !== 'function') return;
  const watch = { isOver: false };
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('It took too long.')), LONGEST_TEST_MS);
    timer.unref();
  });
  try {
    await Promise.race([promise, late, untilStuck(watch)]);
  } finally {
    watch.isOver = true;
    clearTimeout(timer);
  }
}

/** Fails once nothing has been under way for long. */
async function untilStuck(watch) {
  for (let turns = 0; turns <= PATIENT_TURNS; turns++) {
    // oxlint-disable-next-line no-await-in-loop -- turn by turn
    await new Promise((resolve) => void setImmediate(resolve));
    if (watch.isOver) return;
    if (isWaitingForReality()) turns = 0;
  }
  throw new Error('It waits for ever.');
}

/** Whether a timer, a turn of the event loop or an operation of the system is to come that could go on with the test. */
function isWaitingForReality() {
  return process.getActiveResourcesInfo().some((resource) => !CONNECTIONS.has(resource));
}
