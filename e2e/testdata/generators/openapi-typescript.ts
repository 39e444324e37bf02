import createClient from "openapi-fetch";
import type { components, paths } from "./made/openapi-typescript";
import { check, firstEvent, settings } from "./webhook";

type WebhookEvent = components["schemas"]["WebhookEvent"];

const client = createClient<paths>({ baseUrl: settings.baseUrl, headers: { "x-api-key": settings.key } });
const isOurs = (event: WebhookEvent) => event.event === "order.accepted" && event.data.order.external_order_id === settings.order;
const pushed = firstEvent(isOurs);

const stores = await client.GET("/v1/stores");
check(stores.data !== undefined, "no stores");
const store = stores.data.stores[0]!;
const products: components["schemas"]["Product"][] = [];
for (let cursor = ""; ; ) {
  const page = await client.GET("/v1/products", { params: { query: { store_id: store.id, limit: 2, ...(cursor && { cursor }) } } });
  check(page.data !== undefined, "no products");
  products.push(...page.data.products);
  cursor = page.data.next_cursor ?? "";
  if (!cursor) break;
}
const product = products[0]!;
const order = (quantity: number): components["schemas"]["ReportRequest"] => ({
  external_order_id: settings.order,
  store_id: store.id,
  fulfillment_type: "pickup",
  items: [{ product_id: product.id, quantity, price: product.price }],
});

const refused = await client.POST("/v1/orders/report", {
  params: { header: { "Idempotency-Key": settings.order } },
  body: order(product.available_quantity + 1),
});
check(refused.error?.code === "insufficient_stock", `not refused: ${refused.response.status}`);
const reported = await client.POST("/v1/orders/report", { params: { header: { "Idempotency-Key": settings.order } }, body: order(2) });
check(reported.data !== undefined, "not reported");

let listed: WebhookEvent | undefined;
for (let cursor = ""; !listed; ) {
  const page = await client.GET("/v1/events", { params: { query: { ...(cursor && { cursor }) } } });
  check(page.data !== undefined, "no events");
  listed = page.data.events.find(isOurs);
  cursor = page.data.next_cursor ?? "";
}
check((await pushed).id === listed.id && listed.order_id === reported.data.order_id, "another event");
console.log(stores.data.count, products.length, reported.data.order_id);
process.exit();
