import { networkOf, normalAddress } from './client-address.js';

describe('the normal spelling of an address', () => {
  it.each([
    ['198.51.100.7', '198.51.100.7'],
    ['198.51.100.7:50001', '198.51.100.7'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['::FFFF:c633:6407', '198.51.100.7'],
    ['[::ffff:198.51.100.7]:443', '198.51.100.7'],
    ['64:ff9b::198.51.100.7', '198.51.100.7'],
    ['64:FF9B::c633:6407', '198.51.100.7'],
    ['64:ff9b:1::c633:6407', '64:ff9b:1::c633:6407'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['[2001:DB8::1]', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::1', '::1'],
    ['not an address', 'not an address'],
    ['not:an:address', 'not:an:address'],
    ['1:2:3', '1:2:3'],
    ['::ffff:999.1.1.1', '::ffff:999.1.1.1'],
    ['', ''],
  ])('%j is %j', (text, expected) => {
    expect(normalAddress(text)).toBe(expected);
  });
});

describe('the network of an address', () => {
  it.each([
    ['198.51.100.7', 64, '198.51.100.7'],
    ['2001:db8:1:2:3:4:5:6', 64, '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', 64, '2001:db8:1:2::/64'],
    ['2001:db8:1:3::9', 64, '2001:db8:1:3::/64'],
    ['2001:db8:ffff::', 40, '2001:db8:ff00::/40'],
    ['2001:db8::1', 128, '2001:db8::1/128'],
    ['::1', 64, '::/64'],
    ['1:0:0:2:0:0:0:3', 128, '1:0:0:2::3/128'],
    ['10:0:0:2:100:0:0:3', 128, '10::2:100:0:0:3/128'],
    ['1:2:3:4:5:6:7:8', 128, '1:2:3:4:5:6:7:8/128'],
    ['no:address', 64, 'no:address'],
  ])('%s cut to %d bits is %s', (address, bits, expected) => {
    expect(networkOf(address, bits)).toBe(expected);
  });

  it('is the same for all spellings of an address', () => {
    const spellings = ['2001:db8::1', '2001:0db8:0:0:0:0:0:1', '2001:DB8:0::0001', '[2001:db8::1]:99'];
    expect(new Set(spellings.map((text) => networkOf(normalAddress(text), 64)))).toEqual(
      new Set(['2001:db8::/64']),
    );
  });
});
