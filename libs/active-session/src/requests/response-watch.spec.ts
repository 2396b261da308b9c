import { once } from 'node:events';
import type { Http2Server, Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { connect, constants, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { ResponseWatch } from './response-watch.js';

const MORE_THAN_A_WINDOW = 200_000;

describe('the end of a response over HTTP/2', () => {
  const servers: Http2Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  /** What is told of a response, whose client then does with its stream as it likes. */
  async function toldOf(answer: (response: Http2ServerResponse) => unknown, code?: number): Promise<boolean> {
    const watch = new ResponseWatch();
    const server = createServer();
    servers.push(server);
    const told = new Promise<boolean>((resolve) => {
      server.on('request', (request: Http2ServerRequest, response: Http2ServerResponse) => {
        watch.watch(request, response, resolve);
        answer(response);
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const stream = session.request({ [constants.HTTP2_HEADER_PATH]: '/' });
    stream.on('error', () => undefined);
    stream.end();
    await once(stream, 'response');
    if (code === undefined) stream.resume();
    else stream.close(code);
    const isAnswered = await told;
    session.destroy();
    return isAnswered;
  }

  it('is an answer when all was sent', async () => {
    expect(await toldOf((response) => response.end('all'))).toBe(true);
  });

  it.each([
    ['with an error code, while it is sent', MORE_THAN_A_WINDOW, constants.NGHTTP2_CANCEL],
    ['without an error code, while it is sent', MORE_THAN_A_WINDOW, constants.NGHTTP2_NO_ERROR],
    ['when nothing is to be sent for now', 1, constants.NGHTTP2_CANCEL],
  ])('is none when the client cancels it %s', async (_when, size, code) => {
    const begun = (response: Http2ServerResponse): boolean => {
      response.write(Buffer.alloc(size));
      return response.write('more');
    };
    expect(await toldOf(begun, code)).toBe(false);
  });
});
