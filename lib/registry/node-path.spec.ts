import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { assertPath, childPath, nodeName, parentPath, pathProblem } from './node-path.js';

const name = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
  .filter((text) => !text.includes('/') && pathProblem(`/${text}`) === undefined);
const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((parts) => `/${parts.join('/')}`);

/** The characters that ZooKeeper's PathUtils refuses, and half surrogate pairs, which no UTF-8 has. */
const isForbidden = (code: number): boolean =>
  code <= 0x1f ||
  (code >= 0x7f && code <= 0x9f) ||
  (code >= 0xd800 && code <= 0xf8ff) ||
  (code >= 0xfff0 && code <= 0xffff);

describe('a node path', () => {
  it('is put together and taken apart again', () => {
    fc.assert(
      fc.property(path, name, (parent, child) => {
        const whole = childPath(parent, child);
        expect([parentPath(whole), nodeName(whole)]).toEqual([parent, child]);
        expect(() => assertPath(whole)).not.toThrow();
      }),
    );
  });

  it('has the root for a parent at the top', () => {
    expect(parentPath('/a')).toBe('/');
    expect(parentPath('/')).toBe('/');
    expect(childPath('/', 'a')).toBe('/a');
    expect(() => assertPath('/')).not.toThrow();
  });

  it('is refused exactly where there is a problem with it, by an error that shows both', () => {
    const parts = fc.array(fc.constantFrom('a', '', '.', '..', '...', ' ', 'b\n', '\u0000', '/'));
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          parts.map((all) => all.join('/')),
        ),
        (text) => {
          const problem = pathProblem(text);
          if (problem === undefined) return expect(() => assertPath(text)).not.toThrow();
          expect(() => assertPath(text)).toThrow(
            expect.objectContaining({
              code: 'INVALID',
              message: expect.stringContaining(problem) as unknown,
            }),
          );
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('may hold every character that ZooKeeper takes, and no other', () => {
    const codes = Array.from({ length: 0x10000 }, (_, code) => code);
    const refused = codes.filter((code) => pathProblem(`/a${String.fromCharCode(code)}b`));
    expect(refused).toEqual(codes.filter(isForbidden));
  });

  it.each([
    ['', 'empty'],
    ['a/b', 'does not start with a slash'],
    ['/a/', 'ends with a slash'],
    ['/a//b', 'empty part'],
    ['//', 'ends with a slash'],
    ['/a/../b', 'part ".."'],
    ['/./a', 'part "."'],
    ['/a\tb', 'control'],
  ])('%j is refused: %s', (text, reason) => {
    expect(pathProblem(text)).toContain(reason);
  });

  it.each([null, undefined, 5, {}])('%p is refused', (value) => {
    expect(() => assertPath(value as string)).toThrow(expect.objectContaining({ code: 'INVALID' }));
  });
});
