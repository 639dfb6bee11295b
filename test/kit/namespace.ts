import { randomBytes } from 'node:crypto';

/**
 * A namespace that no other test, worker or earlier run uses, so that tests can share one server.
 * It is a plain name without slashes and has the label in front, to be recognised in a listing.
 */
export function uniqueNamespace(label = 'test'): string {
  const slug = label
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
  return `${slug || 'test'}-${randomBytes(6).toString('hex')}`;
}
