/** Reproducible chance (mulberry32): all contestants see the same keys in the same order. */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Flat, as a header gives it: below 13 characters V8 makes no ropes. */
export function keyOf(number) {
  return `user-${number}`;
}

/** @returns {string[]} `draws` keys out of `size`, each as likely as the others */
export function uniformKeys(size, draws) {
  const random = randomNumbers(1);
  const keys = Array.from({ length: size }, (_, number) => keyOf(number));
  return Array.from({ length: draws }, () => keys[Math.floor(random() * size)]);
}

/** @returns {string[]} `draws` keys out of `size`, the n-th as likely as 1/n: a few hot ones and a long tail */
export function zipfKeys(size, draws) {
  const random = randomNumbers(2);
  const keys = Array.from({ length: size }, (_, number) => keyOf(number));
  const cumulated = new Float64Array(size);
  let sum = 0;
  for (let rank = 0; rank < size; rank++) cumulated[rank] = sum += 1 / (rank + 1);
  return Array.from({ length: draws }, () => keys[firstAbove(cumulated, random() * sum)]);
}

function firstAbove(sorted, value) {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
