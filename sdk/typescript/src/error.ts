import type { ErrorBody, ErrorCode } from "./types.js";

/** An answer as it came. */
export interface Answer {
  status: number;
  headers: Headers;
  body: string;
  traceId: string;
  /** Whether it is the first answer to this idempotency key, again. */
  replayed: boolean;
  /** The key that was sent; empty if none was. */
  idempotencyKey: string;
  tries: number;
}

/**
 * Codes of errors that are not those of the service: the connection failed or the answer took too long, the
 * answer is not what the API promises, the signal was aborted, nothing was sent, what `ifNoneMatch` names is
 * still the answer.
 */
export type LocalCode = "no_answer" | "bad_answer" | "cancelled" | "invalid_argument" | "not_modified";

/** Why a call failed. */
export class PurveyorError extends Error {
  override readonly name = "PurveyorError";
  /** Of the answer; 0: there was none. */
  readonly status: number;
  /** Stable; empty if something between here and the service answered. */
  readonly code: ErrorCode | LocalCode;
  /** What is at fault in a 400; empty if nothing is named. */
  readonly field: string;
  /** Quote it when you ask for help. */
  readonly traceId: string;
  /** What the service asks to wait; 0: it does not say. */
  readonly retryAfterMs: number;
  /** All that the service says. */
  readonly body: ErrorBody | undefined;
  /** The answer as it came, if there was one. */
  readonly answer: Answer | undefined;
  /**
   * Whether the same call may succeed later, and is not done twice then. Give a repeat of a POST the
   * `idempotencyKey`.
   */
  safeToRepeat = false;
  idempotencyKey = "";
  tries = 0;

  constructor(code: ErrorCode | LocalCode, message: string, more: { answer?: Answer; body?: ErrorBody; cause?: unknown } = {}) {
    super(message, "cause" in more ? { cause: more.cause } : undefined);
    this.code = code;
    this.answer = more.answer;
    this.body = more.body;
    this.status = more.answer?.status ?? 0;
    this.field = more.body?.field ?? "";
    this.traceId = more.body?.trace_id || more.answer?.traceId || "";
    this.retryAfterMs = more.answer ? retryAfter(more.answer.headers, Date.now()) : 0;
  }
}

/** Makes the error of an answer that is no success. */
export function refusal(answer: Answer): PurveyorError {
  try {
    const body = JSON.parse(answer.body) as ErrorBody;
    if (typeof body.code === "string" && body.code !== "") {
      return new PurveyorError(body.code, String(body.error), { answer, body });
    }
  } catch {
    // something between here and the service answered
  }
  return new PurveyorError(answer.status === 304 ? "not_modified" : "", `the answer is ${answer.status}`, { answer });
}

/** Returns what the header Retry-After asks to wait, in seconds or until a time. */
function retryAfter(headers: Headers, now: number): number {
  const text = headers.get("retry-after") ?? "";
  if (/^\d+$/.test(text)) {
    return Number(text) * 1000;
  }
  const at = Date.parse(text);
  return Number.isNaN(at) ? 0 : Math.max(0, at - now);
}

export function invalid(message: string): PurveyorError {
  return new PurveyorError("invalid_argument", message);
}
