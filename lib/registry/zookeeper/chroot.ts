/**
 * The node that stands for `/`. Done here rather than by the native client, which neither creates the
 * node nor says so when it is missing.
 */
export class Chroot {
  constructor(
    /** Empty for the real root. */
    readonly path: string,
  ) {}

  /** The store's path of a node. */
  add(path: string): string {
    return path === '/' ? this.path || '/' : this.path + path;
  }

  /** The path of a node as the user of the registry knows it. */
  strip(path: string): string {
    return path.slice(this.path.length) || '/';
  }
}
