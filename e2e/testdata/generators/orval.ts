import { type OrderChange, type Product, type ReportRequest, type WebhookEvent, listEvents, listProducts, listStores, reportOrder } from "./made/orval";
import { check, firstEvent, settings } from "./webhook";

const headers = { "x-api-key": settings.key };
const isOurs = (event: WebhookEvent) => event.event === "order.accepted" && (event.data as OrderChange).order.external_order_id === settings.order;
const pushed = firstEvent(isOurs);

const stores = await listStores(undefined, { headers });
check(stores.status === 200, "no stores");
const store = stores.data.stores[0]!;
const products: Product[] = [];
for (let cursor = ""; ; ) {
  const page = await listProducts({ store_id: store.id, limit: 2, ...(cursor && { cursor }) }, { headers });
  check(page.status === 200, "no products");
  products.push(...page.data.products);
  cursor = page.data.next_cursor ?? "";
  if (!cursor) break;
}
const product = products[0]!;
const order = (quantity: number): ReportRequest => ({
  external_order_id: settings.order,
  store_id: store.id,
  fulfillment_type: "pickup",
  items: [{ product_id: product.id, quantity, price: product.price }],
});

const keyed = { headers: { ...headers, "Idempotency-Key": settings.order } };
const refused = await reportOrder(order(product.available_quantity + 1), keyed);
check(refused.status === 409 && refused.data.code === "insufficient_stock", "not refused");
const reported = await reportOrder(order(2), keyed);
check(reported.status === 201, "not reported");

let listed: WebhookEvent | undefined;
for (let cursor = ""; !listed; ) {
  const page = await listEvents({ ...(cursor && { cursor }) }, { headers });
  check(page.status === 200, "no events");
  listed = page.data.events.find(isOurs);
  cursor = page.data.next_cursor ?? "";
}
check((await pushed).id === listed.id && listed.order_id === reported.data.order_id, "another event");
console.log(stores.data.count, products.length, reported.data.order_id);
process.exit();
