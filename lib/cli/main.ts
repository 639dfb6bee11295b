#!/usr/bin/env node
import { ShardingAdmin } from '../admin/index.js';
import { EXIT } from './exit-codes.js';
import { run } from './run.js';
import { processTerminal } from './terminal.js';

// Whoever reads only the beginning has seen what it wanted; for the rest there is nobody left to tell.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', ({ code }: NodeJS.ErrnoException) => {
    process.exit(code === 'EPIPE' ? process.exitCode : EXIT.failed);
  });
}

process.exitCode = await run(process.argv.slice(2), processTerminal(), (options) =>
  ShardingAdmin.connect(options),
);
