import type { Provider } from '@nestjs/common';
import { CALL } from './tokens.js';

let calls = 0;

/**
 * Tells calls apart that make dynamic modules. With `moduleIdGeneratorAlgorithm: 'deep-hash'` Nest takes two of them
 * for the same where their texts are the same, and functions that differ by what they enclose have the same text:
 * without this, it would drop the options of the second call without a word.
 */
export function callMark(): Provider {
  calls++;
  return { provide: CALL, useValue: calls };
}
