package requestlog

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
)

// fake is a store that remembers what was written.
type fake struct {
	mu     sync.Mutex
	fails  int // so many writes
	writes []int64
	chunks []Chunk
	wrote  []time.Time
	days   []Day
	drops  []Day
}

func (f *fake) Write(_ context.Context, _ Day, chunks []Chunk, _ []Count) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fails > 0 {
		f.fails--
		return errors.New("away")
	}
	rows := int64(0)
	for _, c := range chunks {
		rows += c.Count
		c.Rows = append([]byte{}, c.Rows...)
		f.chunks = append(f.chunks, c)
	}
	f.writes, f.wrote = append(f.writes, rows), append(f.wrote, time.Now())
	return nil
}

func (f *fake) Chunks(context.Context, Query) ([]Chunk, error) { return nil, nil }

func (f *fake) Counts(context.Context, Day, string, commerce.Millis) ([]Count, error) {
	return nil, nil
}

func (f *fake) Days(context.Context) ([]Day, error) { return f.days, nil }

func (f *fake) Drop(_ context.Context, d Day) error { f.drops = append(f.drops, d); return nil }

func (f *fake) Size(context.Context) (int64, error) { return 0, nil }

func (f *fake) Close() error { return nil }

// written are the numbers of rows of the writes.
func (f *fake) written() []int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.writes
}

// waiting is how many bytes wait.
func (l *Log) waiting() int {
	l.queue.mu.Lock()
	defer l.queue.mu.Unlock()
	return l.queue.bytes
}

// running runs a log in a bubble of synctest until the test function returns.
func running(t *testing.T, f *fake, test func(l *Log)) {
	synctest.Test(t, func(t *testing.T) {
		l := New(env.Env{}, f, Options{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); l.Run(ctx) }()
		synctest.Wait()
		test(l)
		cancel()
		<-done
	})
}

func add(l *Log, n int) {
	for range n {
		call := readCall()
		call.At = time.Now()
		l.Add(&call)
	}
	synctest.Wait()
}

// Rows are written together 200 ms after the first, and nothing is written while there is nothing.
func TestFlushes(t *testing.T) {
	var f fake
	running(t, &f, func(l *Log) {
		begin := time.Now()
		add(l, 2)
		time.Sleep(150 * time.Millisecond)
		add(l, 3)
		time.Sleep(49 * time.Millisecond)
		synctest.Wait()
		if got := f.written(); len(got) != 0 {
			t.Errorf("written before 200 ms: %v", got)
		}
		time.Sleep(time.Hour)
		add(l, 1)
		time.Sleep(time.Second)
		synctest.Wait()
		if got := f.written(); len(got) != 2 || got[0] != 5 || got[1] != 1 || f.wrote[0].Sub(begin) != flushPause || f.wrote[1].Sub(begin) != time.Hour+199*time.Millisecond+flushPause {
			t.Errorf("written are %v at %v, begun at %v", got, f.wrote, begin)
		}
		add(l, 4) // they are written at the stop
	})
	if len(f.writes) != 3 || f.writes[2] != 4 {
		t.Errorf("written are %v", f.writes)
	}
}

// While the store is away rows wait, and are written once it is back; one warning tells of it.
func TestStoreAway(t *testing.T) {
	var said strings.Builder
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&said, nil)))
	defer slog.SetDefault(before)
	f := fake{fails: 3}
	running(t, &f, func(l *Log) {
		add(l, 2)
		time.Sleep(time.Second)
		add(l, 1)
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if kept, dropped := l.Rows(); kept != 3 || dropped != 0 || l.waiting() != 0 {
			t.Errorf("%d rows are kept, %d dropped, %d bytes wait", kept, dropped, l.waiting())
		}
	})
	if len(f.writes) != 2 || f.writes[0] != 2 || f.writes[1] != 1 || strings.Count(said.String(), "WARN") != 1 {
		t.Errorf("written are %v, said is %s", f.writes, said.String())
	}
}

// What does not fit is dropped while the store is away. The log tells of it once a minute, and the
// next chunk of the partner, too.
func TestDropped(t *testing.T) {
	var said strings.Builder
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&said, nil)))
	defer slog.SetDefault(before)
	f := fake{fails: 1 << 30}
	body := Body{Text: []byte(strings.Repeat("x", BodyRoom))}
	running(t, &f, func(l *Log) {
		for range 100 { // each second, as tries fail
			for range 40 {
				call := readCall()
				call.At, call.RequestBody, call.ResponseBody = time.Now(), body, body
				l.Add(&call)
				if l.waiting() > queueRoom {
					t.Fatalf("%d bytes wait", l.waiting())
				}
			}
			time.Sleep(time.Second)
		}
		if l.waiting() < partnerRoom*9/10 {
			t.Errorf("%d bytes wait", l.waiting())
		}
		f.mu.Lock()
		f.fails = 0
		f.mu.Unlock()
		time.Sleep(3 * time.Second)
		add(l, 1)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		kept, dropped := l.Rows()
		var rows, lost int64
		for _, c := range f.chunks {
			rows, lost = rows+c.Count, lost+c.Lost
		}
		if rows != kept || lost != dropped || kept+dropped != 4001 || l.waiting() != 0 {
			t.Errorf("kept %d, written %d; dropped %d, told %d; %d bytes wait", kept, rows, dropped, lost, l.waiting())
		}
	})
	if n := strings.Count(said.String(), "no room for some"); n != 2 {
		t.Errorf("the log told %d times: %s", n, said.String())
	}
}

// A write of few rows is indexed, a larger one is not.
func TestIndex(t *testing.T) {
	var f fake
	running(t, &f, func(l *Log) {
		add(l, mostIndexed)
		time.Sleep(time.Second)
		add(l, mostIndexed+1)
		time.Sleep(time.Second)
	})
	for _, c := range f.chunks[:2] {
		if !c.Indexed || len(c.Refs) != 1 || c.Refs[0] != refOf(c.PartnerID, "trace", readCall().TraceID) {
			t.Errorf("a chunk of a small write has %v, indexed %v", c.Refs, c.Indexed)
		}
	}
	for _, c := range f.chunks[2:] {
		if c.Indexed || len(c.Refs) > 0 {
			t.Errorf("a chunk of a large write has %v, indexed %v", c.Refs, c.Indexed)
		}
	}
}

// A chunk spans at most a second, and a clock that goes back begins another.
func TestClock(t *testing.T) {
	var f fake
	l := New(env.Env{}, &f, Options{})
	begin := time.UnixMilli(1_795_000_000_000)
	for _, ms := range []int{0, 400, 300, 1000, 1001, 700, 90_000, 5} {
		call := readCall()
		call.At = begin.Add(time.Duration(ms) * time.Millisecond)
		l.Add(&call)
	}
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got [][2]int64
	for _, c := range f.chunks {
		got = append(got, [2]int64{int64(c.First) - begin.UnixMilli(), int64(c.Last) - begin.UnixMilli()})
	}
	want := [][2]int64{{0, 1000}, {1001, 1001}, {90_000, 90_000}, {5, 5}}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] || got[3] != want[3] {
		t.Errorf("the chunks are %v, want %v", got, want)
	}
}

// FuzzRows: no bytes that a store may give back stop the reader.
func FuzzRows(f *testing.F) {
	var store fake
	l := New(env.Env{}, &store, Options{})
	for range 3 {
		call := readCall()
		l.Add(&call)
	}
	if err := l.Flush(f.Context()); err != nil {
		f.Fatal(err)
	}
	f.Add(store.chunks[0].Rows)
	f.Fuzz(func(t *testing.T, rows []byte) {
		c := Chunk{Rows: rows}
		_ = c.rows(func(r *stored) { _, _ = r.entry() })
	})
}

// FuzzCall: whatever a client sends as path, header, trace id or method, no secret is in the row.
func FuzzCall(f *testing.F) {
	f.Add("/v1/orders/%s?email=%s", "shop %s", "%s", "GET", uint8(0))
	f.Add("/v1/x?a=b&%s", "", "", "%s", uint8(5))
	f.Fuzz(func(t *testing.T, target, header, trace, method string, which uint8) {
		secret := secrets[int(which)%len(secrets)]
		plant := func(s string) string { return strings.ReplaceAll(s, "%s", "."+secret+".") }
		var store fake
		l := New(env.Env{}, &store, Options{})
		call := readCall()
		call.Target, call.TraceID, call.Method = plant(target), plant(trace), plant(method)
		call.StoreID, call.OrderID = plant(header), plant(trace)
		call.RequestHeaders = map[string][]string{"User-Agent": {plant(header)}, "X-Trace-Id": {call.TraceID}, "Idempotency-Key": {plant(trace)}, "Content-" + plant(header): {"x"}}
		l.Add(&call)
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, c := range store.chunks {
			err := c.rows(func(r *stored) {
				e, err := r.entry()
				if err != nil {
					t.Fatal(err)
				}
				texts := []string{e.Path, e.TraceID, e.Method, e.StoreID, e.OrderID}
				for _, h := range e.RequestHeaders {
					texts = append(texts, h.Name, h.Value)
				}
				if all := strings.Join(texts, "\n"); strings.Contains(all, secret) {
					t.Fatalf("%q has %s", all, secret)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}
