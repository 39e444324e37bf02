import type { Product, WebhookEvent } from "purveyor-sdk";
import { Journal } from "./journal.js";

/**
 * Something to do once. Its id is the idempotency key of the call, so that it is the same whenever
 * the call is made again, also after a crash.
 */
export interface Task {
  id: string;
  do: string; // report, checkout, confirm, cancel, refund, sync or ack
  order?: string; // our number of it
  body?: unknown; // of the call
}

/** What became of a task. */
export interface Outcome {
  id: string;
  order_id?: string; // that the service gave a new order
  pay?: string; // where its customer pays
  refused?: string; // why it will never be done; absent: it is done
}

/** A line of the journal. */
export interface Change {
  wanted?: Task;
  done?: Outcome;
  event?: WebhookEvent;
  cursor?: string; // all events before it were received
  product?: Product;
}

/** What the books say of an order. */
interface Order {
  order_id: string;
  status: string;
  at: string; // of the newest event
  pay?: string;
  look?: string; // what a person must look at
}

/** The state of the shop: what the lines of its journal say together. */
export class Books {
  tasks: Record<string, Task> = {}; // that are not done
  done: Record<string, Outcome> = {};
  orders: Record<string, Order> = {}; // by our number
  events: Record<string, WebhookEvent> = {};
  products: Record<string, Product> = {};
  cursor = "";
  synced = 0; // of the newest product
  #journal: Journal;
  #changed = () => {};

  constructor(path: string) {
    this.#journal = new Journal(path, (change) => this.#apply(change as Change));
  }

  /** Makes a change once it is on the disk, unless it says nothing new. */
  record(change: Change): void {
    if (this.#known(change)) {
      return;
    }
    this.#journal.append(change);
    this.#apply(change);
    this.#changed();
  }

  /** Waits for the next change. */
  changed(): Promise<void> {
    return new Promise((resolve) => { this.#changed = resolve; });
  }

  /** Tasks and events come more than once. */
  #known({ wanted, event, cursor }: Change): boolean {
    if (wanted) {
      return wanted.id in this.tasks || wanted.id in this.done;
    }
    return event !== undefined && event.id in this.events && (cursor === undefined || cursor === this.cursor);
  }

  #apply({ wanted, done, event, cursor, product }: Change): void {
    if (wanted) {
      this.tasks[wanted.id] = wanted;
      if (wanted.order) {
        this.orders[wanted.order] ??= { order_id: "", status: "", at: "" };
      }
    }
    if (done) {
      const order = this.orders[this.tasks[done.id]?.order ?? ""];
      delete this.tasks[done.id];
      this.done[done.id] = done;
      if (order && done.order_id) {
        order.order_id = done.order_id;
        order.pay = done.pay ?? "";
        Object.values(this.events).forEach((event) => hear(order, event)); // those that came before the answer
      }
    }
    if (event) {
      this.events[event.id] = event;
      Object.values(this.orders).forEach((order) => hear(order, event));
    }
    if (product) {
      this.products[product.id] = product;
      this.synced = Math.max(this.synced, product.updated_on);
    }
    this.cursor = cursor ?? this.cursor;
  }

  /**
   * The tasks that can be done now: those that are wanted, and those that follow from what is known
   * of the orders. Each comes with the service's id of its order.
   */
  due(): [Task, string][] {
    for (const [order, { status }] of Object.entries(this.orders)) {
      let next: Task = { id: `confirm ${order}`, do: "confirm", order };
      if (this.done[next.id]?.refused === "insufficient_stock") { // sold meanwhile: the money goes back
        next = { id: `cancel ${order}`, do: "cancel", order };
      }
      if (status === "paid" && !(next.id in this.done)) {
        this.tasks[next.id] = next;
      }
    }
    return Object.values(this.tasks)
      .map((task): [Task, string] => [task, this.orders[task.order ?? ""]?.order_id ?? ""])
      .filter(([task, id]) => id || !task.order || task.do === "report" || task.do === "checkout");
  }
}

/**
 * Notes what an event says of an order. Events come in any order, and an older one says nothing
 * about now.
 */
function hear(order: Order, event: WebhookEvent): void {
  if (event.order_id !== order.order_id || !("order" in event.data)) {
    return;
  }
  if (event.event === "order.refund_failed") {
    order.look = "a refund failed, and the customer waits for the money";
  }
  if (event.timestamp > order.at) {
    order.status = (event.data.order as { status: string }).status;
    order.at = event.timestamp;
  }
}
