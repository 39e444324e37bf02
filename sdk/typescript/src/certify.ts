import { operations } from "./operations.js";
import type { CallOptions, Transport } from "./transport.js";
import type * as types from "./types.js";

/** Plays the script that an integration passes before it sells. It needs a test key. */
export class Certify {
  readonly #t: Transport;
  constructor(transport: Transport) {
    this.#t = transport;
  }

  /** Begins a run. There is one at a time. */
  start(body: types.NewCertification, options?: CallOptions): Promise<types.CertificationReply> {
    return this.#t.call(operations.startCertification, { body }, options);
  }

  /** Reads your newest run. */
  get(runId: string, options?: CallOptions): Promise<types.CertificationFound> {
    return this.#t.call(operations.getCertification, { path: [runId] }, options);
  }

  /** Names the events that are in your books. It may be repeated. */
  ack(body: types.CertificationAck, options?: CallOptions): Promise<types.CertificationAcked> {
    return this.#t.call(operations.ackCertification, { body, harmless: true }, options);
  }
}
