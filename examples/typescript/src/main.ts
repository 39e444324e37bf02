// A small, whole integration with Purveyor. It reports orders and sells by card, keeps a copy of
// the catalog, and follows each order to its end. It may be killed at any time: nothing is lost,
// and nothing is done twice.
import { createServer, type IncomingMessage } from "node:http";
import { parseArgs } from "node:util";
import { Purveyor, PurveyorError, Webhooks, type CheckoutRequest, type RefundRequest, type ReportRequest } from "purveyor-sdk";
import { Books, type Change, type Outcome, type Task } from "./books.js";

const { values } = parseArgs({ options: { listen: { type: "string", default: "127.0.0.1:9000" }, data: { type: "string", default: "shop.journal" } } });
const client = new Purveyor({ baseUrl: process.env.PURVEYOR_URL ?? "", apiKey: process.env.PURVEYOR_KEY ?? "" });
const webhooks = new Webhooks(process.env.PURVEYOR_SECRET ?? "", { standardOnly: true });
const books = new Books(values.data!);

/** Ends the program: it is unknown what the disk has. */
function keep(change: Change): void {
  try {
    books.record(change);
  } catch (error) {
    console.error(error);
    process.exit(1);
  }
}

async function bodyOf(request: IncomingMessage): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > 1 << 20) {
      throw new Error("the body is too long");
    }
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/**
 * What a request says. A webhook is answered once its event is on the disk, and before anything is
 * done about it, since an answer that takes longer than five seconds counts as none.
 */
async function read(request: IncomingMessage): Promise<Change> {
  const body = await bodyOf(request);
  if (request.url === "/hooks") {
    return { event: await webhooks.verify(body, request.headers) };
  }
  return { wanted: JSON.parse(new TextDecoder().decode(body)) as Task };
}

const server = createServer(async (request, response) => {
  const route = `${request.method} ${request.url}`;
  if (route === "GET /books") {
    response.end(JSON.stringify(books));
  } else if (route === "POST /hooks" || route === "POST /tasks") {
    try {
      keep(await read(request));
      response.writeHead(204).end();
    } catch (error) {
      response.writeHead(400).end(String(error));
    }
  } else {
    response.writeHead(404).end();
  }
});

/** Receives the events that no webhook brings: those of a time when this program, or the way to it, is down. */
async function follow(): Promise<void> {
  for await (const { event, cursor } of client.events.follow(books.cursor, { onError: (error) => console.warn(error.message) })) {
    keep({ event, cursor });
  }
}

/** Does the tasks, until each is done or refused for good. */
async function work(): Promise<void> {
  for (;;) {
    let again = false;
    const changed = books.changed();
    for (const [task, orderId] of books.due()) {
      try {
        keep({ done: { id: task.id, ...(await call(task, orderId)) } });
      } catch (error) {
        if (error instanceof PurveyorError && error.safeToRepeat) { // it may have been done: the same call will tell
          console.warn(`${task.id}, again later: ${error.message}`);
          again = true;
        } else {
          keep({ done: { id: task.id, refused: error instanceof PurveyorError ? error.code : String(error) } });
        }
      }
    }
    await (again ? Promise.race([changed, new Promise((resolve) => setTimeout(resolve, 2000))]) : changed);
  }
}

/** Makes the call of a task, always with the same key. */
async function call(task: Task, orderId: string): Promise<Partial<Outcome>> {
  const key = { idempotencyKey: task.id };
  switch (task.do) {
    case "report":
      return { order_id: (await client.orders.report(task.body as ReportRequest, key)).order_id };
    case "checkout": {
      const reply = await client.checkout.start(task.body as CheckoutRequest, key);
      return { order_id: reply.order_id, pay: reply.checkout_url };
    }
    case "confirm":
      await client.orders.confirm(orderId);
      return {};
    case "cancel":
      await client.orders.cancel(orderId, { refund: true }, key);
      return {};
    case "refund":
      await client.orders.refund(orderId, task.body as RefundRequest, key);
      return {};
    case "sync":
      for await (const product of client.products.sync(books.synced)) {
        keep({ product });
      }
      return {};
    case "ack": { // a certification asks what the books have
      const orders = Object.values(books.orders).filter(({ status }) => status).map(({ order_id, status }) => ({ order_id, status }));
      await client.certify.ack({ ...(task.body as { run_id: string }), event_ids: Object.keys(books.events), orders });
      return {};
    }
    default:
      throw new Error(`unknown task ${task.do}`);
  }
}

const [host, port] = values.listen!.split(":");
server.listen(Number(port), host);
for (const part of [work, follow]) {
  part().catch((error) => {
    console.error(error);
    process.exit(1);
  });
}
