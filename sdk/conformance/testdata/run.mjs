// Makes the calls of a job with the SDK for TypeScript.
import { answerOf, Purveyor, PurveyorError, WebhookError, Webhooks } from "purveyor-sdk";

export async function run(job) {
  const outcomes = [];
  for (const call of job.calls) {
    outcomes.push(await make(job, call));
  }
  return outcomes;
}

async function make(job, call) {
  const outcome = { pauses: [], told: 0 };
  const controller = new AbortController();
  const client = new Purveyor({
    baseUrl: job.baseUrl, apiKey: job.apiKey, ...job.client,
    sleep: async (ms, signal) => {
      outcome.pauses.push(ms);
      if (outcome.pauses.length === call.cancelAtPause) {
        controller.abort(new Error("enough"));
      }
      signal?.throwIfAborted();
    },
  });
  try {
    if (call.do === "webhooks.verify") {
      outcome.result = await verify(call.with[0]);
      return outcome;
    }
    const [subject, method] = call.do.split(".");
    const args = (call.with ?? []).map((arg) => (arg && typeof arg === "object" && /follow|track/.test(method) ? { ...arg, onError: () => outcome.told++ } : arg));
    const returned = client[subject][method](...args, { signal: controller.signal, ...call.options });
    if (returned[Symbol.asyncIterator]) {
      outcome.result = [];
      for await (const value of returned) {
        if (outcome.result.push(value) === call.take) {
          break;
        }
      }
      return outcome;
    }
    const reply = await returned;
    outcome.result = reply ?? null;
    outcome.answer = reply && typeof reply === "object" ? answerOf(reply) : undefined;
  } catch (error) {
    outcome.error = failure(error, call);
  }
  return outcome;
}

function failure(error, call) {
  if (error instanceof WebhookError) {
    return { webhook: true };
  }
  if (!(error instanceof PurveyorError)) {
    return `${error?.stack ?? error}`;
  }
  if (call.cancelAtPause && error.cause?.message !== "enough") {
    return `it does not have the signal's reason: ${error.cause}`;
  }
  const { status, code, message, field, traceId, safeToRepeat, idempotencyKey, retryAfterMs, tries, body } = error;
  return { status, code, message, field, traceId, safeToRepeat, idempotencyKey, retryAfterMs, tries, body };
}

async function verify({ secrets, body, headers, now, standardOnly }) {
  const webhooks = new Webhooks(secrets, { standardOnly: standardOnly ?? false, ...(now ? { now: () => now } : {}) });
  const event = await webhooks.verify(body, headers);
  // Bytes and the headers of fetch must do as well.
  const again = await webhooks.verify(new TextEncoder().encode(body), new Headers(headers));
  if (JSON.stringify(event) !== JSON.stringify(again)) {
    throw new Error("the same request gives two events");
  }
  return event;
}
