/** Every check there is, in one command. All of them run, so that one round shows all there is to mend. */
import { attempt } from './run.mjs';

const checks = [
  ['prettier', '--check', '--log-level', 'warn', '.'],
  ['oxlint', '--type-aware', '--deny-warnings'],
  ['tsc', '--noEmit'],
  ['depcruise', '--config', '.dependency-cruiser.cjs', '.'],
];

const failed = [];
for (const [tool, ...args] of checks) {
  console.log(`— ${tool}`);
  if ((await attempt(tool, args)) !== 0) failed.push(tool);
}
if (failed.length > 0) console.error(`check failed: ${failed.join(', ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;
