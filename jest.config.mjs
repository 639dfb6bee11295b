import { readFileSync } from 'node:fs';

const swc = JSON.parse(readFileSync(new URL('.swcrc', import.meta.url), 'utf8'));

/** Nest 12 is ESM only, so jest runs in ESM mode: see the `jest` script for the flag that it needs. */
export default {
  testMatch: [
    '<rootDir>/lib/**/*.spec.ts',
    '<rootDir>/test/**/*.spec.ts',
    '<rootDir>/test/**/*.e2e-spec.ts',
  ],
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  // Sources name what the compiler will write (`./x.js`); jest reads what we wrote (`./x.ts`).
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  // Build output holds a second package.json of our name and compiled specs.
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.build/', '<rootDir>/.cache/'],
  transform: { '^.+\\.ts$': ['@swc/jest', { ...swc, swcrc: false }] },
  setupFiles: ['reflect-metadata'],
  // These run test/kit/jest-global-setup.ts and test/kit/jest-global-teardown.ts, compiled.
  globalSetup: './tools/jest-global-setup.mjs',
  globalTeardown: './tools/jest-global-teardown.mjs',
  reporters: ['default', './tools/closing-line-reporter.mjs'],
  // Most suites wait for sessions to end rather than for a core, so two at a time halve the time.
  maxWorkers: 2,
  testTimeout: 30_000,
  // Nothing is left outside the checkout.
  cacheDirectory: '<rootDir>/.cache/jest',
};
