import { show, typeError } from './errors.js';

/**
 * The typed name of a piece of lease metadata. Two names are the same when their `name` is, whichever copy of
 * this package made them.
 *
 * @typeParam T - the type of the value behind the name.
 */
export class MetadataName<T> {
  /** How long to wait, in whole milliseconds (at least 1), until the same request would be granted. */
  static readonly retryAfter: MetadataName<number> = new MetadataName<number>('RETRY_AFTER');
  /** Why a lease was refused, in a few words. */
  static readonly reasonPhrase: MetadataName<string> = new MetadataName<string>('REASON_PHRASE');

  /** The name itself. */
  readonly name: string;
  /** @internal */
  declare protected readonly valueType: T;

  private constructor(name: string) {
    this.name = name;
  }

  /**
   * A name of your own, for the leases of your own limiters.
   *
   * @throws TypeError `ERR_RL_INVALID_ARGUMENT` - when the name is not a string.
   */
  static create<T>(name: string): MetadataName<T> {
    if (typeof name !== 'string') {
      throw typeError('ERR_RL_INVALID_ARGUMENT', `A metadata name must be a string, but got ${show(name)}.`);
    }
    return new MetadataName<T>(name);
  }

  /** The name, for logs. */
  toString(): string {
    return this.name;
  }
}
