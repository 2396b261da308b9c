import { inspect } from 'node:util';
import type { Verdict } from './verdict.js';
import { answerOf, decisionOf, FailedDecision, isFailed } from './verdict.js';

const unanswered = (): Promise<never> => Promise.reject(new Error('unanswered'));
const answer = (verdict: Verdict): boolean | Promise<boolean> => answerOf(verdict, unanswered);

describe('what a guard answers', () => {
  it('is true at once where the request goes on', () => {
    expect(answer(true)).toBe(true);
  });

  it('fails for a refusal, and not before somebody can wait for it', async () => {
    const refusal = new Error('refused');
    const answered = answer(new FailedDecision(refusal));
    expect(inspect(answered)).toContain('<pending>');
    await expect(answered).rejects.toBe(refusal);
  });

  it('waits where the decision takes time', async () => {
    await expect(answer(Promise.resolve(true))).resolves.toBe(true);
    await expect(answer(Promise.reject(new Error('late')))).rejects.toThrow('late');
  });

  it('is no answer where the response was sent already', async () => {
    await expect(answer(false)).rejects.toThrow('unanswered');
    await expect(answer(Promise.resolve(false))).rejects.toThrow('unanswered');
  });
});

describe('a refusal that another loaded copy of the package has decided', () => {
  /** Loads the class once more, as a program does that gets the package as ESM and as CommonJS. */
  const refusalOfOtherCopy = (error: Error): FailedDecision => {
    let other: typeof import('./verdict.js') | undefined;
    jest.isolateModules(() => {
      other = jest.requireActual('./verdict.js');
    });
    return new other!.FailedDecision(error);
  };

  it('is one here as well', async () => {
    const refusal = new Error('refused');
    const verdict = refusalOfOtherCopy(refusal);
    expect(verdict).not.toBeInstanceOf(FailedDecision);
    expect(isFailed(verdict)).toBe(true);
    expect(() => decisionOf(verdict)).toThrow(refusal);
    await expect(answer(verdict)).rejects.toBe(refusal);
  });
});
