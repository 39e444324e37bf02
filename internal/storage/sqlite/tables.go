package sqlite

import (
	"strings"

	"purveyor/internal/storage/schema"
)

// table is a table of the schema with its statements.
type table[K comparable, V any] struct {
	*schema.Table[K, V]
	selectSQL, insertSQL, deleteSQL string
	updateSQL                       map[bool]string // by whether the change is confined to Often
}

func prepared[K comparable, V any](t *schema.Table[K, V]) *table[K, V] {
	where := strings.ReplaceAll(t.Key, ", ", " = ? AND ") + " = ?"
	p := &table[K, V]{Table: t,
		selectSQL: "SELECT " + t.Values() + " FROM " + t.Name + " WHERE " + where,
		insertSQL: insertInto(t.Name, t.Columns()),
		deleteSQL: "DELETE FROM " + t.Name + " WHERE " + where}
	p.updateSQL = map[bool]string{}
	for _, often := range []bool{false, true} {
		if columns, _ := t.Written(often); columns != "" {
			p.updateSQL[often] = "UPDATE " + t.Name + " SET " + strings.ReplaceAll(columns, ", ", " = ?, ") + " = ? WHERE " + where
		}
	}
	return p
}

func insertInto(name, columns string) string {
	return "INSERT INTO " + name + " (" + columns + ") VALUES (?" + strings.Repeat(", ?", strings.Count(columns, ",")) + ")"
}

var (
	partners      = prepared(&schema.Partners)
	apiKeys       = prepared(&schema.APIKeys)
	stores        = prepared(&schema.Stores)
	categories    = prepared(&schema.Categories)
	productStores = prepared(&schema.ProductStores)
	products      = prepared(&schema.Products)
	stock         = prepared(&schema.Stock)
	orders        = prepared(&schema.Orders)
	externalIDs   = prepared(&schema.ExternalIDs)
	customers     = prepared(&schema.Customers)
	replies       = prepared(&schema.Replies)
	payments      = prepared(&schema.Payments)
	refunds       = prepared(&schema.Refunds)
	deliveries    = prepared(&schema.Deliveries)
	attention     = prepared(&schema.Attention)
	places        = prepared(&schema.Places)
	endpoints     = prepared(&schema.Endpoints)
	mails         = prepared(&schema.Mails)
	jobs          = prepared(&schema.Jobs)
	sandbox       = prepared(&schema.SandboxObjects)

	insertMoves     = insertInto(schema.StockMoves.Name, schema.StockMoves.Columns())
	insertNotes     = insertInto(schema.StockNotes.Name, schema.StockNotes.Columns())
	insertTimeline  = insertInto(schema.Timeline.Name, schema.Timeline.Columns())
	insertLedger    = insertInto(schema.Ledger.Name, schema.Ledger.Columns())
	insertEvents    = insertInto(schema.WebhookEvents.Name, schema.WebhookEvents.Columns())
	insertAttempts  = insertInto(schema.Attempts.Name, schema.Attempts.Columns())
	insertCallbacks = insertInto(schema.StrayCallbacks.Name, schema.StrayCallbacks.Columns())
	insertOutbox    = insertInto(schema.Outbox.Name, schema.Outbox.Columns())
)
