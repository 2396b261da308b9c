import { chat } from './chat/chat.scenario.js';
import { disabled } from './disabled/disabled.scenario.js';
import { events } from './events/events.scenario.js';
import { exportsPerCustomer } from './exports/exports.scenario.js';
import { perClient } from './per-client/per-client.scenario.js';
import { plans } from './plans/plans.scenario.js';
import { queue } from './queue/queue.scenario.js';
import type { Scenario } from './scenario.js';
import { shapes } from './shapes/shapes.scenario.js';
import { twoPolicies } from './two-policies/two-policies.scenario.js';

/** Everything there is to try, in the order in which it is shown. */
export const SCENARIOS: readonly Scenario[] = [
  perClient,
  twoPolicies,
  queue,
  plans,
  exportsPerCustomer,
  events,
  disabled,
  shapes,
  chat,
];
