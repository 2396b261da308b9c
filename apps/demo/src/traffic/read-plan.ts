import { BadRequestException } from '@nestjs/common';
import { TARGETS } from './targets.js';
import type { Shape, TrafficPlan } from './traffic-plan.js';

const SHAPES: readonly Shape[] = ['steady', 'burst', 'ramp', 'greedy'];
const LIMITS = { rate: 200, clients: 50, concurrency: 200, seconds: 60 } as const;

/**
 * Reads what came from the page.
 *
 * @throws BadRequestException - for what is no plan, or beyond what the demo does to itself.
 */
export function readPlan(body: unknown): TrafficPlan {
  if (typeof body !== 'object' || body === null) throw new BadRequestException('A plan is a JSON object.');
  const plan = body as Partial<Record<keyof TrafficPlan, unknown>>;
  if (!TARGETS.some(({ id }) => id === plan.target))
    throw badChoice(
      'target',
      TARGETS.map(({ id }) => id),
    );
  if (!SHAPES.includes(plan.shape as Shape)) throw badChoice('shape', SHAPES);
  for (const [name, most] of Object.entries(LIMITS)) {
    const value = plan[name as keyof typeof LIMITS];
    if (!Number.isInteger(value) || Number(value) < 1 || Number(value) > most) {
      throw new BadRequestException(`${name} must be an integer from 1 to ${most}.`);
    }
  }
  return plan as TrafficPlan;
}

function badChoice(name: string, allowed: readonly string[]): BadRequestException {
  return new BadRequestException(`${name} must be one of ${allowed.join(', ')}.`);
}
