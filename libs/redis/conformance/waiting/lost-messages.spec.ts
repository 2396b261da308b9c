import { testLostMessages } from './lost-messages.js';

testLostMessages({ jobs: 6, workMs: 5, lostEach: 4 });
