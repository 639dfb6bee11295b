/** Decorators stack, so what they say is a list; the outermost decorator comes last. */
export function appendMetadata(key: symbol, value: unknown, method: object): void {
  const former = (Reflect.getOwnMetadata(key, method) ?? []) as readonly unknown[];
  Reflect.defineMetadata(key, [...former, value], method);
}

/** A wrapped method has to be to other libraries what it was before. */
export function copyMetadata(from: object, to: object): void {
  for (const key of Reflect.getOwnMetadataKeys(from)) {
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, from), to);
  }
}

/** As messages name a method: `Class@method`. */
export function methodLabel(owner: object, key: string | symbol): string {
  const type = typeof owner === 'function' ? owner : owner.constructor;
  return `${type?.name || 'anonymous class'}@${String(key)}`;
}
