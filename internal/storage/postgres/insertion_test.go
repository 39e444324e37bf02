package postgres

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/storagetest"

	"github.com/jackc/pgx/v5"
)

// TestInsertsInKeyOrder: whatever the order of its commands, a batch inserts rows
// whose keys another process may insert, too, in the order of their keys. In any
// other order two processes wait for each other's rows. A new table has its rows
// in the order in which they were inserted.
func TestInsertsInKeyOrder(t *testing.T) {
	const rows = 100 // more than one statement inserts
	ctx := context.Background()
	url := database(t)
	e := address(url).Open(t, time.Now).(*Engine)
	var needs commerce.Needs
	var changes commerce.Changes
	for i := range rows {
		n := fmt.Sprintf("%03d", i*37%rows)
		external := commerce.ExternalRef{ExternalKey: commerce.ExternalKey{PartnerID: "ptn_1", Mode: commerce.Live, ExternalID: n}}
		customer := commerce.Customer{CustomerKey: commerce.CustomerKey{StoreID: "sto_1", PartnerID: "ptn_1", Mode: commerce.Live, Contact: n}}
		reply := commerce.Reply{ReplyKey: commerce.ReplyKey{PartnerID: "ptn_1", Op: "op", Key: n}, Status: 200, Body: []byte("{}")}
		place := commerce.GeocodedAddress{Address: n}
		object := commerce.SandboxObject{ID: n, Data: []byte("{}")}
		needs.External, changes.External = append(needs.External, external.ExternalKey), append(changes.External, external)
		needs.Customers, changes.Customers = append(needs.Customers, customer.CustomerKey), append(changes.Customers, customer)
		needs.Replies, changes.Replies = append(needs.Replies, reply.ReplyKey), append(changes.Replies, reply)
		needs.Places, changes.Places = append(needs.Places, n), append(changes.Places, place)
		needs.Sandbox, changes.Sandbox = append(needs.Sandbox, n), append(changes.Sandbox, object)
	}
	storagetest.Change(t, e, needs, func(*commerce.Rows, commerce.Millis) commerce.Changes { return changes })
	for table, key := range map[string]string{"external_ids": "external_id", "customers": "contact", "replies": "encode(digest, 'hex')",
		"places": "address", "sandbox_objects": "id"} {
		found, err := e.readers.Query(ctx, "SELECT "+key+" FROM "+table+" ORDER BY ctid")
		if err != nil {
			t.Fatal(err)
		}
		keys, err := pgx.CollectRows(found, pgx.RowTo[string])
		if err != nil || len(keys) != rows || !slices.IsSorted(keys) {
			t.Errorf("%s: %v: inserted as %v", table, err, keys)
		}
	}
}
