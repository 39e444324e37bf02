import { PurveyorError } from "./error.js";
import type { Transport } from "./transport.js";

/** The longest time between two looks while the service fails. */
const longestWaitMs = 60_000;

/** Waits after failures that pass: as long as the service asks, and twice as long each time, up to a minute. */
export class Patience {
  #waitMs: number;
  readonly #usualMs: number;
  readonly #transport: Transport;
  readonly #signal: AbortSignal | undefined;
  readonly #tell: ((error: PurveyorError) => void) | undefined;

  constructor(transport: Transport, usualMs: number, signal: AbortSignal | undefined, tell: ((error: PurveyorError) => void) | undefined) {
    this.#transport = transport;
    this.#usualMs = this.#waitMs = usualMs;
    this.#signal = signal;
    this.#tell = tell;
  }

  /** Waits after a failure. It throws an error that would not pass. */
  async outlast(error: unknown): Promise<void> {
    if (!(error instanceof PurveyorError) || !error.safeToRepeat || error.code === "cancelled") {
      throw error;
    }
    this.#tell?.(error);
    this.#waitMs = Math.min(2 * this.#waitMs, longestWaitMs);
    await this.rest(Math.max(this.#waitMs / 2 + Math.random() * (this.#waitMs / 2), error.retryAfterMs));
  }

  /** Forgets the failures. */
  reset(): void {
    this.#waitMs = this.#usualMs;
  }

  rest(ms: number): Promise<void> {
    return this.#transport.rest(ms, { signal: this.#signal, method: "GET", idempotencyKey: "", harmless: true }, 0);
  }
}
