import { testCrashRounds } from './crash-rounds.js';

testCrashRounds(3);
