package storagetest

import (
	"context"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// countReplies: what engines store adds up over processes and restarts, by
// partner, and goes with the hour in which it was made.
func countReplies(t *testing.T, db Database) {
	const hour = 60 * 60 * 1000
	ctx, now := context.Background(), int64(500*hour+7)
	one, two := db.Open(t, time.Now), db.Open(t, time.Now)
	store := func(e storage.Engine, partner, key string, body int) {
		k := commerce.ReplyKey{PartnerID: partner, Op: "o", Key: key}
		Change(t, e, commerce.Needs{Replies: []commerce.ReplyKey{k}}, func(*commerce.Rows, commerce.Millis) commerce.Changes {
			return commerce.Changes{Replies: []commerce.Reply{{ReplyKey: k, Body: make([]byte, body), CreatedOn: commerce.Millis(now)}}}
		})
	}
	want := func(e storage.Engine, a, b int64) {
		t.Helper()
		got, err := e.CountReplies(ctx, commerce.Millis(now))
		if err != nil || got["a"] != a || got["b"] != b {
			t.Errorf("counted %v, %v; want %d and %d", got, err, a, b)
		}
	}
	large := int64(256 + 1 + 37) // of 10,000 zeros, compressed
	store(one, "a", "1", 0)
	want(one, 256, 0)
	want(one, 256, 0) // nothing is counted twice
	store(one, "a", "2", 10_000)
	store(two, "b", "1", 0)
	store(two, "a", "3", 0)
	got, err := one.CountReplies(ctx, commerce.Millis(now))
	if err != nil || got["a"] <= 512 || got["a"] > 256+2*large {
		t.Errorf("counted %v, %v", got, err)
	}
	sofar := got["a"]
	want(two, sofar+256, 256)
	want(db.Open(t, time.Now), sofar+256, 256)
	now += 2 * hour
	store(two, "b", "2", 0)
	want(two, sofar+256, 512)
	for _, before := range []int64{now - hour, now - hour + 1, now} { // the hour of the first ones ended an hour ago
		if _, err := one.Sweep(ctx, commerce.Millis(before).Add(schema.ReplyKeep)); err != nil {
			t.Fatal(err)
		}
	}
	want(one, 0, 256)
}

func sweep(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	keys := []commerce.ReplyKey{{PartnerID: "p", Op: "o", Key: "old"}, {PartnerID: "p", Op: "o", Key: "young"}}
	Change(t, e, commerce.Needs{Replies: keys}, func(*commerce.Rows, commerce.Millis) commerce.Changes {
		return commerce.Changes{Replies: []commerce.Reply{{ReplyKey: keys[0], CreatedOn: 99}, {ReplyKey: keys[1], CreatedOn: 100}}}
	})
	if n, err := e.Sweep(context.Background(), commerce.Millis(100).Add(schema.ReplyKeep)); n != 1 || err != nil {
		t.Errorf("swept %d, %v; want 1", n, err)
	}
	look(t, e, commerce.Needs{Replies: keys}, func(rows *commerce.Rows) {
		_, old := rows.Replies.Get(keys[0])
		_, young := rows.Replies.Get(keys[1])
		if old || !young {
			t.Errorf("old kept: %v, young kept: %v", old, young)
		}
	})
}
