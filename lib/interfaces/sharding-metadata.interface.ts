import type { CoordinatorHooks } from '../coordinator/coordinator.types.js';

/** What a method can listen to. */
export type HookKind = keyof CoordinatorHooks;

/** What a method can stand behind. */
export type GuardKind = 'leader' | 'shard';

/** One hook decorator on a method. */
export interface HookMetadata {
  readonly kind: HookKind;
  /** As the user knows it: `@OnLeader`. */
  readonly decorator: string;
  readonly sharding: string | undefined;
}

/** One guarding decorator on a method. */
export interface GuardMetadata {
  readonly kind: GuardKind;
  readonly decorator: string;
  readonly sharding: string | undefined;
}
