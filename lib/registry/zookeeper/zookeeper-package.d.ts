/** The package is optional and may be absent where this is built; `NativeClient` says what we use of it. */
declare module 'zookeeper' {
  const client: unknown;
  export default client;
}
