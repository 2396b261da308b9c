import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FakeClock } from '../src/testing/index.js';
import { BIG_AND_SMALL_CLIENTS } from './big-among-small.js';
import type { Figures } from './figures.js';
import { overloadTable } from './markdown.js';
import { simulateOverload, SIMULATED_MS } from './overload.js';
import type { OverloadTable } from './overload.js';
import { CHAIN_CLIENTS } from './saturated-chains.js';
import { settle } from './stage.js';
import { BOUNDARY_WAITERS, BOUNDARY_WINDOW_MS, crowdAtBoundary } from './window-boundary.js';

describe('under overload', () => {
  let tables: readonly OverloadTable[] = [];

  beforeAll(async () => {
    tables = await simulateOverload(SIMULATED_MS);
  });

  function rows(title: string): OverloadTable['rows'] {
    return tables.find((table) => table.title === title)!.rows;
  }

  function figures(title: string, row: string): Figures {
    return rows(title).find(({ name }) => name === row)!.figures;
  }

  describe('of all members of chains', () => {
    it('nobody starves: everyone is served after a bounded number of turns of the slowest member', () => {
      for (const { figures: route } of rows('Saturated chains')) {
        expect(route.refused).toBe(0);
        expect(route.served).toBeGreaterThan(100);
        // At its turn a request is passed over four times at most, each time behind a queue, and then it reserves.
        expect(route.mostTurns).toBeLessThanOrEqual(3 * CHAIN_CLIENTS);
        expect(route.maxMs).toBeLessThanOrEqual(1_500);
      }
    });

    it('all clients of a way are served alike', () => {
      for (const { figures: route } of rows('Saturated chains')) {
        expect(route.fairness).toBeGreaterThan(0.99);
      }
    });
  });

  describe('by one key', () => {
    const title = 'A greedy key among patient ones';

    it('only that key is refused, and gets no more than its limit', () => {
      const [patient, greedy] = [
        figures(title, 'patient, each key limited'),
        figures(title, 'greedy, each key limited'),
      ];
      expect(patient.refused).toBe(0);
      expect(greedy.refused).toBeGreaterThan(0.9 * greedy.asked);
      // Two of ten permits, for as long as the work takes.
      expect(greedy.served).toBeLessThanOrEqual((2 * SIMULATED_MS) / 50);
    });

    it('the others wait for the permits that it may have, not for its queue', () => {
      const patient = figures(title, 'patient, each key limited');
      const alone = figures(title, 'patient, nobody greedy');
      expect(patient.asked).toBe(alone.asked);
      expect(patient.maxMs - alone.maxMs).toBeLessThan(150);
    });

    it('would take nearly everything where only the total is limited', () => {
      expect(figures(title, 'patient, only the total limited').refused).toBeGreaterThan(500);
      expect(figures(title, 'greedy, only the total limited').share).toBeGreaterThan(0.8);
    });
  });

  describe('by small requests', () => {
    const title = 'Big requests among small ones';

    it.each(['concurrency', 'token bucket'])('a big one of a %s is served after those before it', (kind) => {
      const big = figures(title, `big, ${kind}`);
      expect(big.served).toBeGreaterThan(100);
      expect(big.mostTurns).toBeLessThan(BIG_AND_SMALL_CLIENTS);
    });

    it('but never where the newest is served first', () => {
      expect(figures(title, 'big, concurrency, newest first').served).toBe(0);
    });
  });

  it('at one boundary of a window ten thousand are served in their order', async () => {
    const clock = new FakeClock();
    const served = crowdAtBoundary(clock);
    clock.advance(BOUNDARY_WINDOW_MS);
    await settle();
    expect(served).toEqual(Array.from({ length: BOUNDARY_WAITERS }, (_, waiter) => waiter));
    expect(clock.pendingTimers).toBe(0);
  });

  it('the figures are those of the documentation', () => {
    const documentation = readFileSync(join(__dirname, '../../../docs/proof.md'), 'utf8')
      .split('\n')
      .map(withoutSpaces);
    for (const table of tables) {
      const [head, , ...body] = overloadTable(table);
      for (const line of [head!, ...body]) expect(documentation).toContain(withoutSpaces(line));
    }
  });
});

function withoutSpaces(line: string): string {
  return line.replaceAll(/\s+/g, '');
}
