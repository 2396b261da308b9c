const BLOCKS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** Values as blocks of a height each; nothing is a space, and anything at all is seen. */
export function sparkline(values: readonly number[], largest: number): string {
  return values
    .map((value) =>
      value === 0 ? ' ' : BLOCKS[Math.max(0, Math.ceil((value / largest) * BLOCKS.length) - 1)],
    )
    .join('')
    .trimEnd();
}

/** Values put together so that there are at most so many, each the sum of as many neighbours. */
export function gathered(values: readonly number[], most: number): number[] {
  const size = Math.max(1, Math.ceil(values.length / most));
  const sums: number[] = [];
  for (const [index, value] of values.entries()) {
    const at = Math.floor(index / size);
    sums[at] = (sums[at] ?? 0) + value;
  }
  return sums;
}
