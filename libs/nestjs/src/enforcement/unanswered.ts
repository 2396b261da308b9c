/**
 * What Nest waits for where the application's callback has sent the response: no answer, no exception filter, no
 * handler may follow. It is a new promise each time, because one that never settles keeps whoever waits for it.
 */
export function unanswered(): Promise<never> {
  return new Promise<never>(() => undefined);
}
