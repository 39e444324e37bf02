package geocode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
)

func TestKey(t *testing.T) {
	same := []Query{
		Text("350 5th Ave, New York, NY 10118"),
		Text("  350 5TH AVE. new york   ny 10118-0110 , usa"),
		Text("350 5th Ave; New York; New York 10118"),
		Text("350 5th Ave\nNew York, 10118 NY\nUnited States"),
		Parts(commerce.Address{Line1: "350 5th Ave", City: "New York", State: "NY", PostalCode: "10118"}),
		Parts(commerce.Address{Line1: "350  5th Ave.", Line2: "Floor 86", City: "NEW YORK", State: "new york", PostalCode: "10118-0110", Country: "U.S."}),
		Parts(commerce.Address{Line1: "350 5th Ave, New York, NY 10118"}),
	}
	for _, q := range same {
		if Key(q) != Key(same[0]) || len(Key(q)) != 64 || strings.Trim(Key(q), "0123456789abcdef") != "" {
			t.Errorf("%+v: %q", q, Key(q))
		}
	}
	keys := map[string]string{}
	for _, text := range []string{
		"350 5th Ave, New York, NY 10118", "350 5th Ave, New York, NY 10119", "350 5th Ave, New York, NY", "350 5th Ave, New York, NJ 10118", "350 15th Ave, New York, NY 10118",
		"35 05th Ave, New York, NY 10118", "3.50 5th Ave, New York, NY 10118", "35-0 5th Ave, New York, NY 10118", "350 ½ 5th Ave, New York, NY 10118", "10118", "New York, NY",
	} {
		key := Key(Text(text))
		if other, taken := keys[key]; taken || key == "" {
			t.Errorf("%q and %q have the key %q", text, other, key)
		}
		keys[key] = text
	}
	for _, q := range []Query{{}, Text("東京 10118"), Text("Main St"), Parts(commerce.Address{PostalCode: "10118", Country: "DE"})} {
		if Key(q) != "" {
			t.Errorf("%+v has the key %q", q, Key(q))
		}
	}
}

func TestQueryIsTidy(t *testing.T) {
	if q := Text(" 350\t5th \x00Ave,\r\n New\u00a0York\xff "); q.Text != "350 5th Ave, New York" {
		t.Errorf("%q", q.Text)
	}
	if long := strings.Repeat(" x", 10_000); Text(long).Text != long {
		t.Error("a text that is too long was looked up")
	}
	q := Parts(commerce.Address{Line1: " 1  Main St ", Line2: "\tB ", City: "St.  Louis", State: " MO", PostalCode: "63101 ", Country: " us"})
	if q.Address != (commerce.Address{Line1: "1 Main St", Line2: "B", City: "St. Louis", State: "MO", PostalCode: "63101", Country: "us"}) {
		t.Errorf("%+v", q.Address)
	}
	if q.Line() != "1 Main St, St. Louis, MO 63101" {
		t.Errorf("%q", q.Line())
	}
	for q, street := range map[Query]bool{
		q:                                true,
		Text("1 Main St, Oakland, CA"):   true,
		Text("Pier 39 San Francisco CA"): true,
		Text("Unheard Of, CA"):           true, // it may be a street
		Text("Oakland, CA"):              false,
		Text("94102"):                    false,
		Text("1 Main St"):                false,
		{}:                               false,
		Parts(commerce.Address{City: "Unheard Of", State: "CA"}):      false,
		Parts(commerce.Address{Line1: "Oakland, CA"}):                 false,
		Parts(commerce.Address{Line1: "1 Main St", Country: "DE"}):    false,
		Parts(commerce.Address{Line1: "1 Main", PostalCode: "94102"}): true,
	} {
		if q.HasStreet() != street {
			t.Errorf("%+v: %v", q, !street)
		}
	}
}

func TestCacheAsksOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		online := &scripted{answer: func(ctx context.Context) (Place, error) { <-release; return door, ctx.Err() }}
		c := NewCache(env.Env{}, online, "census", nil, quiet)
		leaves, leave := context.WithCancel(t.Context())
		results := make(chan error)
		go func() { // the caller that makes the lookup
			_, err := c.Find(leaves, empireState)
			results <- err
		}()
		synctest.Wait()
		for i := range 20 {
			go func() {
				q := []Query{empireState, inParts}[i%2]
				p, err := c.Find(t.Context(), q)
				if err == nil && p != door {
					err = fmt.Errorf("found %+v", p)
				}
				results <- err
			}()
		}
		synctest.Wait()
		leave()
		if err := <-results; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		close(release)
		for range 20 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		if p, err := c.Find(t.Context(), inParts); err != nil || p != door || online.times() != 1 {
			t.Errorf("%+v, %v", p, err)
		}
	})
}

func TestCacheForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, online := &notebook{places: map[string]Place{}}, scriptedAs(Place{}, ErrNotFound)
		c := NewCache(env.Env{}, online, "census", memory, quiet)
		asks := func(times int, want error) {
			t.Helper()
			for range 3 {
				if _, err := c.Find(t.Context(), empireState); !errors.Is(err, want) {
					t.Error(err)
				}
			}
			if n := online.times(); n != times {
				t.Errorf("asked %d times", n)
			}
		}
		asks(1, ErrNotFound)
		time.Sleep(keepMissing - time.Second)
		asks(0, ErrNotFound)
		if len(memory.places) != 0 {
			t.Error("that there is no such place is kept")
		}
		time.Sleep(time.Second)
		online.will(Place{}, errDead)
		asks(3, errDead) // failures are not stored
		online.will(door, nil)
		asks(1, nil)
		time.Sleep(keepPlace)
		asks(0, nil) // it is in the memory
		delete(memory.places, Key(empireState))
		time.Sleep(keepPlace)
		asks(1, nil)
	})
}

// Processes share what they found. A memory that fails is ignored.
func TestCacheMemory(t *testing.T) {
	memory, online := &notebook{places: map[string]Place{}}, scriptedAs(door, nil)
	for range 2 {
		if p, err := NewCache(env.Env{}, online, "census", memory, quiet).Find(t.Context(), inParts); err != nil || p != door {
			t.Errorf("%+v, %v", p, err)
		}
	}
	if online.times() != 1 || memory.source != "census" {
		t.Errorf("asked again; kept of %q", memory.source)
	}
	memory.places[Key(inParts)] = Place{Point: commerce.Point{Lat: 900}, Precision: Rooftop}
	if p, err := NewCache(env.Env{}, online, "census", memory, quiet).Find(t.Context(), inParts); err != nil || p != door || online.times() != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	var log bytes.Buffer
	memory.err = errors.New("no database")
	c := NewCache(env.Env{}, online, "census", memory, slog.New(slog.NewTextHandler(&log, nil)))
	for range 3 {
		if p, err := c.Find(t.Context(), inParts); err != nil || p != door {
			t.Errorf("%+v, %v", p, err)
		}
	}
	if n := online.times(); n != 1 || strings.Count(log.String(), "no database") != 2 || strings.Contains(log.String(), "5th") {
		t.Errorf("asked %d times; %s", n, log.String())
	}
	if _, err := c.Find(t.Context(), Text("nowhere")); !errors.Is(err, ErrNotFound) || online.times() != 0 {
		t.Error(err)
	}
}

func TestCacheIsBounded(t *testing.T) {
	online := scriptedAs(door, nil)
	c := NewCache(env.Env{}, online, "census", nil, quiet)
	for i := range 2 * maxPlaces {
		if _, err := c.Find(t.Context(), Text(fmt.Sprintf("%d Main St, Oakland, CA", i))); err != nil {
			t.Fatal(err)
		}
	}
	c.entries.CleanUp()
	if n := c.entries.EstimatedSize(); n > maxPlaces || n < maxPlaces/2 {
		t.Errorf("%d places are in memory", n)
	}
}

func BenchmarkCache(b *testing.B) {
	c := New(Options{Online: scriptedAs(door, nil), Log: quiet})
	b.ReportAllocs()
	for b.Loop() {
		if p, err := c.Find(b.Context(), empireState); err != nil || p != door {
			b.Fatal(p, err)
		}
	}
}
