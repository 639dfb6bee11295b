/** @publicApi */
export interface ShardingHookOptions {
  /** The name of the registration that the method belongs to. @default the unnamed registration */
  readonly sharding?: string | undefined;
}

/** @publicApi */
export interface PerShardOptions extends ShardingHookOptions {
  /** How many shards are worked at the same time. @default Infinity */
  readonly concurrency?: number | undefined;
}

/** Decorates a method that can be called with these arguments; no other compiles. @publicApi */
export type ShardingHookDecorator<Arguments extends readonly unknown[]> = <
  Method extends (...args: Arguments) => unknown,
>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Method>,
) => void;

/** Decorates a method that can be called with these arguments and has no result. @publicApi */
export type ShardingGateDecorator<Arguments extends readonly unknown[]> = <
  Method extends (...args: Arguments) => unknown,
>(
  target: object,
  key: string | symbol,
  // Whoever does not run the method has no result to give back.
  descriptor: TypedPropertyDescriptor<Method> &
    (ReturnType<Method> extends void | Promise<void> ? unknown : never),
) => void;
