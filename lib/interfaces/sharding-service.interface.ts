/** @publicApi */
export interface WhenReadyOptions {
  /** Milliseconds after which waiting ends in an error. @default Infinity */
  readonly timeout?: number;
  /** Ends the waiting with an error. @default none */
  readonly signal?: AbortSignal;
}
