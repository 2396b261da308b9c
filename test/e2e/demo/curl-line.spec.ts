import { readCurlLine } from './curl-line.js';

describe('a curl line', () => {
  it('is read as curl would send it', () => {
    const call = readCurlLine(
      'curl -sZ --parallel-immediate -X PUT -m 5 -w "%{http_code}\\n" -H "X-Customer: fred" "http://localhost:3000/a?n=[2-4]"',
    );
    expect(call.urls.map(({ href }) => href)).toEqual([
      'http://localhost:3000/a?n=2',
      'http://localhost:3000/a?n=3',
      'http://localhost:3000/a?n=4',
    ]);
    expect(call).toMatchObject({
      method: 'PUT',
      headers: { 'X-Customer': 'fred' },
      isParallel: true,
      leavesAfter: 5,
    });
  });

  it.each([
    ['wget http://localhost/', 'Not a curl line'],
    ['curl -L http://localhost/', "doesn't know: -L"],
    ['curl -Z http://localhost/', '--parallel-immediate'],
    ['curl -H nonsense http://localhost/', 'Not a header'],
    ['curl http://localhost/?n=[1-2]', 'Needs quotes'],
    ['curl not-a-url', 'Invalid URL'],
  ])('is never passed unread: %s', (line, message) => {
    expect(() => readCurlLine(line)).toThrow(message);
  });
});
