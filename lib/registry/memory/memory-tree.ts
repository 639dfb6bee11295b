import { childPath, nodeName, parentPath } from '../node-path.js';
import type { NodeSnapshot, NodeStat } from '../registry.js';
import type { WatchEvent } from '../live-views.js';

/** One committed change; every replica applies the same changes in the same order. */
export type Change =
  | {
      readonly kind: 'create';
      readonly path: string;
      readonly data: Buffer;
      readonly owner: string | undefined;
    }
  | { readonly kind: 'set'; readonly path: string; readonly data: Buffer }
  | { readonly kind: 'delete'; readonly path: string }
  | { readonly kind: 'close-session'; readonly session: string };

/** Told about each watchable effect of a change, in order. */
export type Effect = (path: string, event: WatchEvent) => void;

class TreeNode {
  readonly children = new Set<string>();
  /** Counts the children ever created: the source of sequence numbers. */
  created = 0;
  deleted = 0;
  version = 0;
  modifiedId: bigint;
  #stat: NodeStat | undefined;

  constructor(
    public data: Buffer,
    readonly createdId: bigint,
    readonly owner: string | undefined,
  ) {
    this.modifiedId = createdId;
  }

  get stat(): NodeStat {
    this.#stat ??= {
      createdId: this.createdId,
      modifiedId: this.modifiedId,
      version: this.version,
      owner: this.owner,
      childCount: this.children.size,
      childChanges: this.created + this.deleted,
    };
    return this.#stat;
  }

  write(data: Buffer, id: bigint): void {
    this.data = data;
    this.modifiedId = id;
    this.version += 1;
    this.changed();
  }

  changed(): void {
    this.#stat = undefined;
  }
}

/** The nodes of one replica. Callers check what is allowed; `apply` only does what was decided. */
export class MemoryTree {
  readonly #nodes = new Map<string, TreeNode>([
    ['/', new TreeNode(Buffer.alloc(0), 0n, undefined)],
  ]);
  readonly #ephemerals = new Map<string, Set<string>>();

  get size(): number {
    return this.#nodes.size;
  }

  stat(path: string): NodeStat | undefined {
    return this.#nodes.get(path)?.stat;
  }

  snapshot(path: string): NodeSnapshot | undefined {
    const node = this.#nodes.get(path);
    // A copy: what a reader does with it must not change the node.
    return node && { data: Buffer.from(node.data), stat: node.stat };
  }

  children(path: string): readonly string[] | undefined {
    const node = this.#nodes.get(path);
    return node && [...node.children].toSorted();
  }

  /** The number that the next sequential child of this node gets. */
  nextSequence(path: string): number {
    return this.#nodes.get(path)?.created ?? 0;
  }

  apply(change: Change, id: bigint, effect: Effect): void {
    switch (change.kind) {
      case 'create':
        return this.#create(change.path, change.data, change.owner, id, effect);
      case 'set':
        this.#nodes.get(change.path)!.write(change.data, id);
        return effect(change.path, 'changed');
      case 'delete':
        return this.#delete(change.path, effect);
      case 'close-session':
        for (const path of this.#ephemerals.get(change.session) ?? []) this.#delete(path, effect);
        this.#ephemerals.delete(change.session);
    }
  }

  #create(path: string, data: Buffer, owner: string | undefined, id: bigint, effect: Effect): void {
    const parent = this.#nodes.get(parentPath(path))!;
    this.#nodes.set(path, new TreeNode(data, id, owner));
    parent.children.add(nodeName(path));
    parent.created += 1;
    parent.changed();
    if (owner !== undefined) {
      const owned = this.#ephemerals.get(owner) ?? new Set();
      this.#ephemerals.set(owner, owned.add(path));
    }
    effect(path, 'created');
    effect(parentPath(path), 'children');
  }

  #delete(path: string, effect: Effect): void {
    const node = this.#nodes.get(path)!;
    const parent = this.#nodes.get(parentPath(path))!;
    this.#nodes.delete(path);
    parent.children.delete(nodeName(path));
    parent.deleted += 1;
    parent.changed();
    if (node.owner !== undefined) this.#ephemerals.get(node.owner)?.delete(path);
    effect(path, 'deleted');
    effect(parentPath(path), 'children');
  }
}

/** A sequential node's path: the parent's counter as ten digits behind the name asked for. */
export function sequentialPath(path: string, sequence: number): string {
  return childPath(parentPath(path), nodeName(path) + String(sequence).padStart(10, '0'));
}
