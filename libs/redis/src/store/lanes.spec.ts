import { defineFixedWindow } from '../remote/define-limiter.js';
import type { DecisionRequest } from './decision-request.js';
import { Lanes } from './lanes.js';
import { LimiterGroup } from './limiter-group.js';

const WINDOW = defineFixedWindow(
  { permitLimit: 1, windowMs: 1_000 },
  { commandTimeoutMs: 250, refusalCacheMs: 0, whenUnavailable: 'deny', instances: 1 },
);
const groupOf = (key: string): LimiterGroup => new LimiterGroup(key, [WINDOW]);
const REQUEST = { isSettled: false, isSent: false } as DecisionRequest;
const GIVING_BACK = { grant: ['1'], done: (): void => undefined };

/** How many lanes are known at most while 10,000 groups ask, each once. */
function mostKnown(lanes: Lanes, name: string): number {
  let most = 0;
  for (let index = 0; index < 10_000; index++) {
    lanes.of(groupOf(`${name} ${index}`));
    most = Math.max(most, lanes.size);
  }
  return most;
}

describe('lanes to the store', () => {
  it('are the same for groups of one name', () => {
    const lanes = new Lanes();
    const lane = lanes.of(groupOf('a'));
    expect(lanes.of(groupOf('a'))).toBe(lane);
    expect(lanes.of(groupOf('b'))).not.toBe(lane);
  });

  it('are bounded in number, however many groups have asked', () => {
    const lanes = new Lanes();
    expect(mostKnown(lanes, 'key')).toBe(4_096);
  });

  it('stay as long as something goes on there, and are bounded by that', () => {
    const lanes = new Lanes();
    const busy = Array.from({ length: 3_000 }, (_, index) => {
      const lane = lanes.of(groupOf(`busy ${index}`));
      if (index % 3 === 0) lane.isBusy = true;
      else if (index % 3 === 1) lane.add(REQUEST);
      else lane.addGivingBack(GIVING_BACK);
      return lane;
    });
    expect(mostKnown(lanes, 'idle')).toBe(6_000);
    for (const [index, lane] of busy.entries()) expect(lanes.of(groupOf(`busy ${index}`))).toBe(lane);
    expect(new Set(lanes).size).toBe(lanes.size);
  });

  it('are forgotten once nothing goes on there any more', () => {
    const lanes = new Lanes();
    const group = groupOf('a');
    const lane = lanes.of(group);
    lane.add(REQUEST);
    expect(lane.takeNext()).toEqual([REQUEST]);
    for (let index = 0; index < 4_096; index++) lanes.of(groupOf(`other ${index}`));
    const another = lanes.of(groupOf('a'));
    expect(another).not.toBe(lane);
    // The group that knows the first one still goes by the second.
    expect(lanes.of(group)).toBe(another);
  });
});
