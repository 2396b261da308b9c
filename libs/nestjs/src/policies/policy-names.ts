/**
 * The names of the application's policies. Empty as it comes: any text is a name then. Declare yours, and a typo
 * in `@EnableRateLimiting('…')` is a compile error:
 *
 * ```ts
 * declare module '@ratelease/nestjs' {
 *   interface RateLimitingPolicies {
 *     perUser: true;
 *     burst: true;
 *   }
 * }
 * ```
 */
// oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type
export interface RateLimitingPolicies {}

/** A declared policy name, or any text while none is declared. */
export type PolicyName = [keyof RateLimitingPolicies] extends [never]
  ? string
  : Extract<keyof RateLimitingPolicies, string>;
