import { relativeBase } from './page-address.js';

describe('the base of the page', () => {
  it.each([
    ['/rate-limits', '/rate-limits/assets/main.js'],
    ['/rate-limits/', '/rate-limits/assets/main.js'],
    ['/api/v1/ops?x=/y', '/api/v1/ops/assets/main.js'],
    ['/', '/assets/main.js'],
  ])('leads from %s to its files', (address, file) => {
    expect(new URL(`${relativeBase(address)}assets/main.js`, `http://host${address}`).pathname).toBe(file);
  });
});
