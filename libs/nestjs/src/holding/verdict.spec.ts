import { inspect } from 'node:util';
import type { Verdict } from './verdict.js';
import { answerOf, FailedDecision } from './verdict.js';

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
