import { testLostMessages } from './lost-messages.js';

testLostMessages({ jobs: 50, workMs: 20, lostEach: 7 });
