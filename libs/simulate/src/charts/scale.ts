/** A number as a place on an axis. */
export interface Scale {
  /** Where a value stands, in pixels from the beginning of the axis. */
  at(value: number): number;
  /** Values to mark. */
  readonly ticks: readonly number[];
}

const STEPS = [1, 2, 5, 10];

/** From 0 to a little above the largest value, marked at round numbers. */
export function linearScale(largest: number, lengthPx: number, marks: number = 4): Scale {
  const rough = (largest > 0 ? largest : 1) / marks;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = STEPS.map((factor) => factor * power).find((one) => one >= rough * 0.999) ?? 10 * power;
  const count = Math.max(1, Math.ceil(largest / step - 1e-9));
  const end = count * step;
  const ticks = Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(12)));
  return { at: (value) => (value / end) * lengthPx, ticks };
}

/** Whole powers of ten around the values; what is below the smallest stands at the beginning. */
export function logScale([smallest, largest]: readonly [number, number], lengthPx: number): Scale {
  const first = Math.floor(Math.log10(smallest) + 1e-9);
  const last = Math.max(first + 1, Math.ceil(Math.log10(largest) - 1e-9));
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index));
  const at = (value: number): number =>
    (Math.max(0, Math.log10(Math.max(value, Number.MIN_VALUE)) - first) / (last - first)) * lengthPx;
  return { at, ticks };
}

/** A number on an axis: never long. */
export function tickText(value: number): string {
  for (const [size, letter] of [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ] as const) {
    if (Math.abs(value) >= size) return `${Number((value / size).toPrecision(3))}${letter}`;
  }
  return String(Number(value.toPrecision(3)));
}
