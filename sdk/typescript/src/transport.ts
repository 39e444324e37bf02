import { type Answer, invalid, PurveyorError, refusal } from "./error.js";
import type { Operation } from "./operation.js";
import { blame, mayRetry, pause, type Repeatable } from "./retry.js";

export const version = "1.0.0";

export interface ClientOptions {
  /** Such as `https://shop.example.com`. */
  baseUrl: string;
  apiKey: string;
  /** In place of the global one. Redirects are not followed. */
  fetch?: typeof fetch;
  /** Of a call that may be repeated; 3. */
  tries?: number;
  /** For one try; 30,000. */
  tryTimeoutMs?: number;
  /** For all tries, with the waits between them; 90,000. */
  totalTimeoutMs?: number;
  /** Put before that of the SDK. */
  userAgent?: string;
  /** Waits between tries, and for the next look of `follow` and `track`. Tests replace it. */
  sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** What changes one call. */
export interface CallOptions {
  /**
   * A key of your own, such as the number of your order. All tries send it, and so should a repeat of the
   * call. Without it a key is drawn.
   */
  idempotencyKey?: string;
  /** An id of your own, which the service logs and answers. */
  traceId?: string;
  /**
   * The header `etag` of an earlier answer. If it is still the right one, the call fails with the code
   * `not_modified`.
   */
  ifNoneMatch?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** 1 sends the request once. */
  tries?: number;
  tryTimeoutMs?: number;
  totalTimeoutMs?: number;
}

/** What a call sends. */
export interface Parts<Query, Body> {
  path?: string[];
  query?: Query;
  body?: Body;
  harmless?: boolean;
}

/** A request that can be sent several times. */
export interface Request extends Repeatable {
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
  signal: AbortSignal | undefined;
  tries: number;
  tryTimeoutMs: number;
  totalTimeoutMs: number;
}

const answers = new WeakMap<object, Answer>();

/** Returns the answer that a reply was read from, as it came. */
export function answerOf(reply: object): Answer | undefined {
  return answers.get(reply);
}

/** Sends requests until they are answered, as BEHAVIOUR.md says. */
export class Transport {
  readonly sleep: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  readonly #base: string;
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    let base: URL;
    try {
      base = new URL(options.baseUrl);
    } catch {
      throw invalid("baseUrl must be http or https, as https://shop.example.com");
    }
    if (!/^https?:$/.test(base.protocol) || base.username + base.password + base.search + base.hash !== "") {
      throw invalid("baseUrl must be http or https, as https://shop.example.com");
    }
    if (!options.apiKey || /\s/.test(options.apiKey)) {
      throw invalid("apiKey is missing, or has white space");
    }
    this.#base = options.baseUrl.replace(/\/+$/, "");
    this.#options = options;
    this.sleep = options.sleep ?? sleep;
  }

  /** Calls an operation and reads its reply; a reply that is not JSON is returned as text. */
  async call<Query, Body, Reply>(o: Operation<Query, Body, Reply>, parts: Parts<Query, Body>, options: CallOptions = {}): Promise<Reply> {
    const request = this.request(o, parts, options);
    const answer = await this.#perform(request);
    if (!/json/.test(answer.headers.get("content-type") ?? "json")) {
      return answer.body as Reply;
    }
    try {
      const reply = JSON.parse(answer.body) as Reply;
      answers.set(reply as object, answer);
      return reply;
    } catch (cause) {
      throw blame(request, new PurveyorError("bad_answer", "the answer cannot be read", { answer, cause }), answer.tries);
    }
  }

  /** Makes a request of an operation. */
  request<Query, Body, Reply>(o: Operation<Query, Body, Reply>, parts: Parts<Query, Body>, options: CallOptions): Request {
    const url = this.#base + fill(o.path, parts.path ?? []) + encodeQuery(parts.query as object | undefined);
    const body = parts.body === undefined ? undefined : JSON.stringify(parts.body);
    if (!o.keyed && options.idempotencyKey) {
      throw invalid(`${o.method} ${o.path} takes no idempotency key`);
    }
    const idempotencyKey = o.keyed ? options.idempotencyKey || crypto.randomUUID() : "";
    const headers: Record<string, string> = {
      accept: "application/json",
      "user-agent": `${this.#options.userAgent ?? ""} purveyor-typescript/${version}`.trim(),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(options.traceId ? { "x-trace-id": options.traceId } : {}),
      ...(options.ifNoneMatch ? { "if-none-match": options.ifNoneMatch } : {}),
      ...options.headers,
      ...(idempotencyKey ? { "idempotency-key": idempotencyKey } : {}),
      "x-api-key": this.#options.apiKey,
    };
    return {
      method: o.method, url, headers, body, idempotencyKey, harmless: parts.harmless ?? false, signal: options.signal,
      tries: Math.max(1, options.tries ?? this.#options.tries ?? 3),
      tryTimeoutMs: options.tryTimeoutMs ?? this.#options.tryTimeoutMs ?? 30_000,
      totalTimeoutMs: options.totalTimeoutMs ?? this.#options.totalTimeoutMs ?? 90_000,
    };
  }

  /** Sends a request until there is an answer that is not to be repeated. */
  async #perform(r: Request): Promise<Answer> {
    const deadline = Date.now() + r.totalTimeoutMs;
    for (let tries = 1; ; tries++) {
      let failure: PurveyorError;
      try {
        return await this.#try(r, Math.min(r.tryTimeoutMs, deadline - Date.now()), tries);
      } catch (error) {
        failure = blame(r, error as PurveyorError, tries);
      }
      const wait = pause(tries, failure.retryAfterMs);
      if (tries >= r.tries || !mayRetry(r, failure) || Date.now() + wait > deadline) {
        throw failure;
      }
      await this.rest(wait, r, tries);
    }
  }

  /** Waits. It throws if the signal is aborted. */
  async rest(ms: number, r: Pick<Request, "signal"> & Repeatable, tries: number): Promise<void> {
    try {
      await this.sleep(ms, r.signal);
    } catch (error) {
      throw blame(r, lost(r.signal, error, false), tries);
    }
  }

  /** Sends a request once. It throws unless the answer is a success. */
  async #try(r: Request, limitMs: number, tries: number): Promise<Answer> {
    const connection = new Connection(r.signal, limitMs);
    try {
      const response = await this.send(r, connection);
      const answer = toAnswer(response, await response.text(), r.idempotencyKey, tries);
      if (!response.ok) {
        throw refusal(answer);
      }
      return answer;
    } catch (error) {
      throw error instanceof PurveyorError ? error : lost(r.signal, error, connection.late);
    } finally {
      connection.end();
    }
  }

  /** Sends a request and returns the head of its answer. */
  send(r: Request, connection: Connection): Promise<Response> {
    const send = this.#options.fetch ?? fetch;
    return send(r.url, { method: r.method, headers: r.headers, redirect: "manual", signal: connection.signal, ...bodyOf(r) });
  }
}

/**
 * Deno sends a request again by itself when a connection breaks that it has used before, unless the body is a
 * stream. What may not be done twice is one.
 */
const repeatsByItself = "Deno" in globalThis;

function bodyOf(r: Request): { body?: BodyInit; duplex?: "half" } {
  if (repeatsByItself && r.method === "POST" && r.idempotencyKey === "") {
    return { body: new Blob([r.body ?? ""]).stream(), duplex: "half" };
  }
  return r.body === undefined ? {} : { body: r.body };
}

/** A connection that ends with a signal of the caller, or after some time. */
export class Connection {
  late = false;
  readonly #controller = new AbortController();
  readonly #given: AbortSignal | undefined;
  readonly #abort = () => this.#controller.abort(this.#given?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(given: AbortSignal | undefined, limitMs: number) {
    this.#given = given;
    given?.addEventListener("abort", this.#abort);
    if (given?.aborted) {
      this.#abort();
    }
    this.extend(limitMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Lets the connection live for some time from now on. */
  extend(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.late = true;
      this.#controller.abort();
    }, Math.max(0, ms));
  }

  /** Forgets the connection when it has been read, and cuts it otherwise. */
  end(): void {
    clearTimeout(this.#timer);
    this.#given?.removeEventListener("abort", this.#abort);
    this.#controller.abort();
  }
}

/** Makes the error of a try without an answer. */
export function lost(signal: AbortSignal | undefined, cause: unknown, late: boolean): PurveyorError {
  if (signal?.aborted) {
    return new PurveyorError("cancelled", "the call was cancelled", { cause: signal.reason });
  }
  const message = cause instanceof Error ? cause.message : String(cause);
  return new PurveyorError("no_answer", late ? "the answer takes too long" : message, { cause });
}

export function toAnswer(response: Response, body: string, idempotencyKey: string, tries: number): Answer {
  return {
    status: response.status, headers: response.headers, body, tries, idempotencyKey,
    traceId: response.headers.get("x-trace-id") ?? "", replayed: response.headers.get("idempotent-replayed") === "true",
  };
}

/** Puts values into the places of a path. */
function fill(path: string, values: string[]): string {
  let i = 0;
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[i++] ?? "";
    if (value === "" || value === "." || value === "..") {
      throw invalid(`${name} cannot be "${value}"`);
    }
    return encodeURIComponent(value);
  });
}

/** Writes members as a query, without those that are absent. */
function encodeQuery(query: object | undefined): string {
  const list = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null && value !== "") {
      list.set(name, String(value));
    }
  }
  const text = list.toString();
  return text === "" ? "" : "?" + text;
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) {
      stop();
    }
  });
}
