import { operations } from "./operations.js";
import type { CallOptions, Transport } from "./transport.js";
import type * as types from "./types.js";

/** The service itself. */
export class Service {
  readonly #t: Transport;
  constructor(transport: Transport) {
    this.#t = transport;
  }

  /** Confirms that the key works, and says whose it is. */
  health(options?: CallOptions): Promise<types.HealthReply> {
    return this.#t.call(operations.getHealth, {}, options);
  }

  /** Succeeds while the process runs. */
  async live(options?: CallOptions): Promise<void> {
    await this.#t.call(operations.getLiveness, {}, options);
  }

  /** Succeeds while the service can answer requests. */
  ready(query: types.GetReadinessQuery = {}, options?: CallOptions): Promise<types.Readiness> {
    return this.#t.call(operations.getReadiness, { query }, options);
  }

  /** Returns the OpenAPI document as YAML. */
  async document(options: CallOptions = {}): Promise<string> {
    const text: unknown = await this.#t.call(operations.getOpenapiDocument, {}, { ...options, headers: { ...options.headers, accept: "application/yaml" } });
    return String(text);
  }

  /** Returns the OpenAPI document as JSON. */
  documentJSON(options?: CallOptions): Promise<types.Document> {
    return this.#t.call(operations.getOpenapiJson, {}, options);
  }
}
