/** The `REASON_PHRASE` of a refusal for lack of a store: nobody reached a limit. Over HTTP it is 503, not 429. */
export const STORE_UNAVAILABLE = 'STORE_UNAVAILABLE';
