import { createRequire } from 'node:module';

const { version } = createRequire(import.meta.url)('@nestjs/core/package.json') as {
  version: string;
};

/** The major release of Nest that the tests run on. */
export const VERSION_MAJOR = Number(version.split('.')[0]);
