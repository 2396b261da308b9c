import { HttpException } from '@nestjs/common';

/** What nginx logs for a client that closed the connection before its answer; no standard status fits. */
const CLIENT_CLOSED_REQUEST = 499;

/**
 * Ends the handling of a request whose client left while it waited for a permit. Nobody receives it; it lets
 * interceptors and middleware of the application finish as they do for every failed request.
 */
export class ClientGoneException extends HttpException {
  constructor() {
    super('The client closed the request.', CLIENT_CLOSED_REQUEST);
    this.name = 'ClientGoneException';
  }
}
