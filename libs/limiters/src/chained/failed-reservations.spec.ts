import type { RateLimitLease } from '../index.js';
import { ChainLink } from './chain-link.js';
import type { ChainParticipant, Reservation } from './chain-participant.js';
import { reserveEach } from './shared-source.js';

/** A link of which permits are set aside as told. */
function linkThat(reserveInTurn: () => Reservation): ChainLink {
  return new ChainLink({ reserveInTurn } as unknown as ChainParticipant, 0);
}

function failing(message: string): never {
  throw new Error(message);
}

const grant = (): RateLimitLease => failing('Nothing is taken.');

describe('a reservation by several of which one fails', () => {
  it('is undone by those before, the last first, and tells also what fails in that', () => {
    const undone: string[] = [];
    const first = linkThat(() => ({ grant, undo: () => void undone.push('first') }));
    const second = linkThat(() => ({
      grant,
      undo: () => {
        undone.push('second');
        failing('The clock fails.');
      },
    }));
    const store = linkThat(() => failing('The store fails.'));
    expect(() => reserveEach([first, second, store], 1)).toThrow(
      expect.objectContaining({
        message: 'Several members of a chain failed.',
        errors: [
          expect.objectContaining({ message: 'The clock fails.' }),
          expect.objectContaining({ message: 'The store fails.' }),
        ],
      }),
    );
    expect(undone).toEqual(['second', 'first']);
  });

  it('is told as it is where the others are undone', () => {
    const first = linkThat(() => ({ grant, undo: () => undefined }));
    const store = linkThat(() => failing('The store fails.'));
    expect(() => reserveEach([first, store], 1)).toThrow(new Error('The store fails.'));
  });
});
