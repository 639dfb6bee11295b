#!/usr/bin/env node
import { ShardingAdmin } from '../admin/index.js';
import { run } from './run.js';
import { processTerminal } from './terminal.js';

// Whoever reads only the beginning of the output has seen what it wanted.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

process.exitCode = await run(process.argv.slice(2), processTerminal(), (options) =>
  ShardingAdmin.connect(options),
);
