import type { PurveyorError } from "./error.js";

/** What decides whether a call may be repeated. */
export interface Repeatable {
  method: string;
  idempotencyKey: string;
  /** A POST that changes nothing, or nothing more when it is repeated. */
  harmless: boolean;
}

/** Reports whether a call is sent again by itself. */
export function mayRetry(r: Repeatable, e: PurveyorError): boolean {
  if (r.method !== "GET" && r.idempotencyKey === "") {
    return false;
  }
  switch (e.status) {
    case 0:
      return e.code === "no_answer";
    case 409:
      return e.code === "in_progress";
    case 429:
    case 502:
      return true;
    case 500:
      return e.code === "unavailable" || e.code === "outcome_unknown";
  }
  return false;
}

/** Completes an error with what it means for a repeat. */
export function blame(r: Repeatable, e: PurveyorError, tries: number): PurveyorError {
  e.idempotencyKey = r.idempotencyKey;
  e.tries = tries;
  const passing = e.status === 0 || e.status >= 500 || e.status === 429 || e.code === "in_progress" || e.code === "bad_answer";
  const once = r.method === "GET" || r.idempotencyKey !== "" || r.harmless;
  const untouched = e.status === 429 || (e.status === 500 && e.code === "unavailable");
  e.safeToRepeat = passing && (once || untouched);
  return e;
}

// Waits before another try, unless the service says how long.
const shortestPauseMs = 500;
const longestPauseMs = 8000;

/**
 * Returns how long to wait after some tries: what the service asks for, else a random time from 0.5 s to
 * 2 s after the first try, and to 8 s after the others.
 */
export function pause(tries: number, askedMs: number): number {
  if (askedMs > 0) {
    return askedMs;
  }
  const longest = tries === 1 ? longestPauseMs / 4 : longestPauseMs;
  return shortestPauseMs + Math.random() * (longest - shortestPauseMs);
}
