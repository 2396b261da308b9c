/** The reason with which waiting requests are aborted when the application shuts down. */
export class ShutdownError extends Error {
  override readonly name = 'ShutdownError';

  constructor() {
    super('The application is shutting down.');
  }
}
