import { type Observable, retry } from 'rxjs';
import type { Clock } from '../registry/environment.js';
import type { NodeSnapshot, Registry } from '../registry/registry.js';
import { after } from './async.js';

/** Between attempts to see a node after access to it was denied. */
const RETRY_DELAY = 1_000;

/** The live view of a node, looked for again where it ended in an error: access may be granted later. */
export function lastingWatch(
  registry: Registry,
  clock: Clock,
  path: string,
  complain: (error: Error) => void,
): Observable<NodeSnapshot | undefined> {
  return registry.watch(path).pipe(
    retry({
      delay: (error: Error) => {
        complain(error);
        return after(clock, RETRY_DELAY);
      },
    }),
  );
}
