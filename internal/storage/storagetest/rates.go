package storagetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

var rates = map[string]func(*testing.T, Database){
	"a window is leased up to its limit":              leaseSteps,
	"two processes lease each number once":            leaseTogether,
	"windows stay for minutes and are then forgotten": leasesForgotten,
	"leases go on while a batch is open":              leaseBesideBatch,
	"a lease outlasts its process":                    leaseStays,
}

func window(partner string, mode commerce.Mode, minute int64) commerce.RateWindow {
	return commerce.RateWindow{PartnerID: partner, Mode: mode, Minute: minute}
}

func mustGrant(t *testing.T, e storage.Engine, w commerce.RateWindow, limit, want int64) (granted, used int64) {
	t.Helper()
	granted, used, err := e.GrantQuota(context.Background(), w, limit, want)
	if err != nil {
		t.Fatal(err)
	}
	return granted, used
}

func leaseSteps(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	a := window("ptn_a", commerce.Live, 1000)
	for i, step := range []struct {
		window        commerce.RateWindow
		limit, want   int64
		granted, used int64
	}{
		{a, 10, 4, 4, 4},
		{a, 10, 4, 4, 8},
		{a, 10, 4, 2, 10},
		{a, 10, 4, 0, 10},
		{window("ptn_a", commerce.Live, 1001), 10, 4, 4, 4},
		{window("ptn_a", commerce.Test, 1000), 10, 11, 10, 10},
		{window("ptn_b", commerce.Live, 1000), 1, 1, 1, 1},
		{a, 12, 9, 2, 12},                          // raised
		{a, 11, 1, 0, 11},                          // lowered: at least the limit is used
		{a, 1 << 40, 5, 5, 17},                     // raised again
		{a, 1 << 40, 1, 1, 18},                     // after a grant that was larger
		{a, 1 << 40, 1 << 41, 1<<40 - 18, 1 << 40}, // larger than an int32
	} {
		granted, used := mustGrant(t, e, step.window, step.limit, step.want)
		if granted != step.granted || (used != step.used && (granted > 0 || used < step.limit)) {
			t.Errorf("step %d: granted %d, used %d; want %d, %d", i, granted, used, step.granted, step.used)
		}
	}
}

func leaseTogether(t *testing.T, db Database) {
	engines := []storage.Engine{db.Open(t, time.Now), db.Open(t, time.Now)}
	const limit = 100
	w := window("ptn_a", commerce.Live, 1000)
	var mu sync.Mutex
	holders := make([]int, limit+1) // of each number
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for {
				granted, used, err := engines[i%2].GrantQuota(context.Background(), w, limit, int64(1+i%3))
				if err != nil {
					t.Error(err)
				}
				if err != nil || granted == 0 {
					return
				}
				mu.Lock()
				for n := used - granted + 1; n <= min(used, limit); n++ {
					holders[n]++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for n, count := range holders[1:] {
		if count != 1 {
			t.Errorf("number %d was leased %d times", n+1, count)
		}
	}
}

func leasesForgotten(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	for i, step := range []struct{ minute, granted int64 }{
		{1000, 3}, {1000 + storage.WindowsKept, 3}, {1000, 0}, {1001 + storage.WindowsKept, 3}, {1000, 3},
	} {
		if granted, _ := mustGrant(t, e, window("ptn_a", commerce.Live, step.minute), 3, 9); granted != step.granted {
			t.Errorf("step %d, minute %d: granted %d, want %d", i, step.minute, granted, step.granted)
		}
	}
}

func leaseStays(t *testing.T, db Database) {
	w := window("ptn_a", commerce.Live, 1000)
	mustGrant(t, db.Open(t, time.Now), w, 10, 7)
	if granted, used := mustGrant(t, db.Open(t, time.Now), w, 10, 7); granted != 3 || used != 10 {
		t.Errorf("the next process was granted %d of %d used", granted, used)
	}
}

func leaseBesideBatch(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	key := seedProducts(t, e, 1, 1, 5)[0]
	b, err := e.Load(context.Background(), stockOf(key))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Discard()
	if granted, _ := mustGrant(t, e, window("ptn_a", commerce.Live, 1000), 10, 7); granted != 7 {
		t.Errorf("granted %d", granted)
	}
}
