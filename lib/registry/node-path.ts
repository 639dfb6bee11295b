import { InvalidArgumentError } from './registry.errors.js';

/** The parent of `/a/b` is `/a`, that of `/a` is `/`. */
export function parentPath(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 1));
}

/** The last part of a path. */
export function nodeName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

export function childPath(parent: string, name: string): string {
  return parent === '/' ? `/${name}` : `${parent}/${name}`;
}

// Control characters, surrogates and the ranges that ZooKeeper refuses in a path.
// eslint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f\ud800-\uf8ff\ufff0-\uffff]/;

/** Why this is no path of a node, or undefined if it is one. */
export function pathProblem(path: string): string | undefined {
  if (typeof path !== 'string' || path === '') return 'it is empty';
  if (!path.startsWith('/')) return 'it does not start with a slash';
  if (path === '/') return undefined;
  if (path.endsWith('/')) return 'it ends with a slash';
  if (FORBIDDEN.test(path)) return 'it contains a control or private character';
  for (const part of path.slice(1).split('/')) {
    if (part === '') return 'it has an empty part';
    if (part === '.' || part === '..') return `it has a part "${part}"`;
  }
  return undefined;
}

// One pass for the common case, since every operation checks its path.
const VALID =
  /^(?:\/(?!\.{1,2}(?:\/|$))[^/\u0000-\u001f\u007f-\u009f\ud800-\uf8ff\ufff0-\uffff]+)+$/;

/** Throws before anything is sent if `path` cannot be the path of a node. */
export function assertPath(path: string): void {
  if (VALID.test(path)) return;
  const problem = pathProblem(path);
  if (problem) {
    throw new InvalidArgumentError(
      `${JSON.stringify(path)} is not a valid node path: ${problem}; expected something like "/a/b"`,
    );
  }
}
