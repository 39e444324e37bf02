package storagetest

import (
	"context"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema/schematest"
)

func newestEvents(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	c := sample()
	c.Timeline = nil
	for seq := range int64(12) {
		c.Timeline = append(c.Timeline, commerce.TimelineEvent{StoreID: "sto_1", OrderID: "ord_1", Seq: seq + 1, Kind: commerce.TimelineNote})
	}
	Change(t, e, schematest.Needs(c), func(*commerce.Rows, commerce.Millis) commerce.Changes { return c })
	events, err := e.Reader().Timeline(context.Background(), c.Orders[0].Key(), 3)
	if err != nil || len(events) != 3 || events[0].Seq != 10 || events[2].Seq != 12 {
		t.Errorf("timeline: %+v, %v; want events 10, 11, 12", events, err)
	}
}
