import { type WebhookEvent, type Product, type ReportRequest, listEvents, listProducts, listStores, reportOrder } from "./made/hey-api";
import { client } from "./made/hey-api/client.gen";
import { check, firstEvent, settings } from "./webhook";

check(client.getConfig().baseUrl === settings.baseUrl, "the document has no address");
client.setConfig({ headers: { "x-api-key": settings.key } });
const isOurs = (event: WebhookEvent) => event.event === "order.accepted" && event.data.order.external_order_id === settings.order;
const pushed = firstEvent(isOurs);

const stores = await listStores({ throwOnError: true });
const store = stores.data.stores[0]!;
const products: Product[] = [];
for (let cursor = ""; ; ) {
  const page = await listProducts({ throwOnError: true, query: { store_id: store.id, limit: 2, ...(cursor && { cursor }) } });
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

const refused = await reportOrder({ headers: { "Idempotency-Key": settings.order }, body: order(product.available_quantity + 1) });
check(refused.error?.code === "insufficient_stock", "not refused");
const reported = await reportOrder({ throwOnError: true, headers: { "Idempotency-Key": settings.order }, body: order(2) });

let listed: WebhookEvent | undefined;
for (let cursor = ""; !listed; ) {
  const { data: page } = await listEvents({ throwOnError: true, query: { ...(cursor && { cursor }) } });
  listed = page.events.find(isOurs);
  cursor = page.next_cursor ?? "";
}
check((await pushed).id === listed.id && listed.order_id === reported.data.order_id, "another event");
console.log(stores.data.count, products.length, reported.data.order_id);
process.exit();
