package web

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
)

// sent returns a request with a body of unknown length.
func sent(body io.Reader) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", body)
	r.ContentLength = -1
	return r
}

// decodeOf reads a body and returns its length.
func decodeOf(b *Bodies, r *http.Request, caller string, most int) (length int, err error) {
	err = b.Decode(httptest.NewRecorder(), r, caller, most, func(data []byte) error {
		length = len(data)
		return nil
	})
	return length, err
}

func statusOf(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Status
	}
	if e, ok := errors.AsType[*commerce.Error](err); ok {
		return statuses[e.Kind]
	}
	return 0
}

// roomy is a body that fails on a read into an empty buffer, which would loop
// forever.
type roomy struct {
	*bytes.Reader
	t *testing.T
}

func (r roomy) Read(b []byte) (int, error) {
	if len(b) == 0 {
		r.t.Errorf("the body is read on although it fills its largest size; %d bytes are left", r.Len())
		return 0, errors.New("there is no room")
	}
	return r.Reader.Read(b)
}

// The largest body is the same whether or not its length is announced.
func TestLargestBody(t *testing.T) {
	b := NewBodies(env.Env{})
	for _, announced := range []bool{true, false} {
		for size, status := range map[int]int{0: 0, 1: 0, 512: 0, 16 << 10: 0, MaxBody - 1: 0, MaxBody: 0, MaxBody + 1: 400, 2 << 20: 400} {
			r := sent(roomy{bytes.NewReader(make([]byte, size)), t})
			if announced {
				r.ContentLength = int64(size)
			}
			length, err := decodeOf(b, r, "ptn_1", MaxBody)
			if statusOf(err) != status || (err == nil && length != size) {
				t.Errorf("%d bytes, announced %t: read %d, %v", size, announced, length, err)
			}
			if err != nil && !strings.Contains(err.Error(), "256 KiB") {
				t.Error(err)
			}
		}
	}
	if _, err := decodeOf(b, sent(roomy{bytes.NewReader(make([]byte, MaxLargeBody+1)), t}), "ptn_1", MaxLargeBody); err == nil || !strings.Contains(err.Error(), "1 MiB") {
		t.Error(err)
	}
	if b.budget.taken != 0 || len(b.budget.callers) != 0 {
		t.Errorf("%d bytes are still taken, %v", b.budget.taken, b.budget.callers)
	}
}

// The budget bounds concurrent bodies: any number pass one after another.
func TestBodiesOneAfterAnother(t *testing.T) {
	b := NewBodies(env.Env{})
	for i := range 61 { // MiB
		if _, err := decodeOf(b, sent(bytes.NewReader(make([]byte, MaxLargeBody))), "ptn_1", MaxLargeBody); err != nil {
			t.Fatalf("after %d MiB: %v", i, err)
		}
	}
	broken := io.MultiReader(bytes.NewReader(make([]byte, 600<<10)), errReader{})
	if _, err := decodeOf(b, sent(broken), "ptn_1", MaxLargeBody); statusOf(err) != 400 {
		t.Error(err)
	}
	if b.budget.taken != 0 || len(b.budget.callers) != 0 {
		t.Errorf("%d bytes are still taken, %v", b.budget.taken, b.budget.callers)
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errors.New("gone") }

// stalled is a body that stops after so many bytes.
type stalled struct {
	bodies *Bodies
	wg     sync.WaitGroup
	ends   []*io.PipeWriter
}

func (s *stalled) send(t *testing.T, caller string, n int) {
	t.Helper()
	r, w := io.Pipe()
	s.ends = append(s.ends, w)
	s.wg.Go(func() { _, _ = decodeOf(s.bodies, sent(r), caller, MaxLargeBody) })
	if _, err := w.Write(make([]byte, n)); err != nil {
		t.Errorf("%s: the body is not taken: %v", caller, err)
	}
	synctest.Wait()
}

func (s *stalled) end() {
	for _, w := range s.ends {
		_ = w.Close()
	}
	s.wg.Wait()
}

// A caller with many large bodies at once uses up its share, and all callers together
// the budget. Small bodies still pass, and so do large ones after the others have
// been read.
func TestBodiesShareTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBodies(env.Env{})
		large := func() *http.Request { return sent(bytes.NewReader(make([]byte, 900<<10))) }
		s := &stalled{bodies: b}
		for range 12 {
			s.send(t, "ptn_1", 900<<10)
		}
		rest := bytes.NewReader(make([]byte, 900<<10))
		if _, err := decodeOf(b, sent(rest), "ptn_1", MaxLargeBody); statusOf(err) != http.StatusTooManyRequests {
			t.Errorf("beyond the share: %v", err)
		}
		if rest.Len() > 0 {
			t.Errorf("%d bytes of the refused body are not read, so that its sender meets a closed connection", rest.Len())
		}
		if _, err := decodeOf(b, large(), "ptn_2", MaxLargeBody); err != nil {
			t.Errorf("another partner: %v", err)
		}
		for _, caller := range []string{"ptn_2", "ptn_3", "ptn_4"} {
			for range 12 {
				s.send(t, caller, 900<<10)
			}
		}
		if _, err := decodeOf(b, large(), "ptn_5", MaxLargeBody); statusOf(err) != http.StatusTooManyRequests {
			t.Errorf("beyond the budget: %v", err)
		}
		if _, err := decodeOf(b, sent(bytes.NewReader(make([]byte, 10<<10))), "ptn_1", MaxLargeBody); err != nil {
			t.Errorf("a small body: %v", err)
		}
		s.end()
		if _, err := decodeOf(b, large(), "ptn_1", MaxLargeBody); err != nil || b.budget.taken != 0 || len(b.budget.callers) != 0 {
			t.Errorf("afterwards: %v, %d bytes are still taken, %v", err, b.budget.taken, b.budget.callers)
		}
	})
}

// A body counts until it is decoded, and only a few large ones are decoded at once.
func TestLargeBodiesAreDecodedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBodies(env.Env{})
		var wg sync.WaitGroup
		var mu sync.Mutex
		var now, small int
		for range 10 {
			wg.Go(func() {
				err := b.Decode(httptest.NewRecorder(), sent(bytes.NewReader(make([]byte, 100<<10))), "ptn_1", MaxBody, func([]byte) error {
					mu.Lock()
					now++
					mu.Unlock()
					time.Sleep(time.Second)
					mu.Lock()
					now--
					mu.Unlock()
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
			wg.Go(func() {
				if _, err := decodeOf(b, sent(strings.NewReader("{}")), "ptn_2", MaxBody); err == nil {
					mu.Lock()
					small++
					mu.Unlock()
				}
			})
		}
		synctest.Wait()
		mu.Lock()
		if want := max(1, runtime.GOMAXPROCS(0)/2); now != want || small != 10 || b.budget.callers["ptn_1"] < 10*80<<10 {
			t.Errorf("%d are being decoded, want %d; %d small ones were; %d bytes are taken", now, want, small, b.budget.callers["ptn_1"])
		}
		mu.Unlock()
		wg.Wait()
		if b.budget.taken != 0 {
			t.Errorf("%d bytes are still taken", b.budget.taken)
		}
	})
}

// The share of a stranger is small, and separate from the partners' budget.
func TestStrangersBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewStrangersBodies(env.Env{})
		s := &stalled{bodies: b}
		for range 4 {
			s.send(t, "10.0.0.1", 250<<10)
		}
		if _, err := decodeOf(b, sent(bytes.NewReader(make([]byte, 30<<10))), "10.0.0.1", MaxBody); statusOf(err) != http.StatusTooManyRequests {
			t.Errorf("beyond the share: %v", err)
		}
		if _, err := decodeOf(b, sent(bytes.NewReader(make([]byte, 200<<10))), "10.0.0.2", MaxBody); err != nil {
			t.Errorf("another address: %v", err)
		}
		s.end()
	})
}

// Recording a callback may wait for a call to its provider. Callbacks of other
// providers do not wait for that, however large they are.
func TestCallbacksWaitForNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewStrangersBodies(env.Env{})
		slow := make(chan struct{})
		var recorded sync.WaitGroup
		for range 2 * runtime.GOMAXPROCS(0) {
			recorded.Go(func() {
				if err := b.Decode(httptest.NewRecorder(), sent(bytes.NewReader(make([]byte, 16<<10))), "stripe", MaxBody, func([]byte) error {
					<-slow
					return nil
				}); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		quick := make(chan error, 1)
		go func() {
			_, err := decodeOf(b, sent(bytes.NewReader(make([]byte, 16<<10))), "uber", MaxBody)
			quick <- err
		}()
		synctest.Wait()
		select {
		case err := <-quick:
			if err != nil {
				t.Error(err)
			}
		default:
			t.Error("a callback waits for those of another provider")
		}
		close(slow)
		recorded.Wait()
	})
}

// A body that arrives below the lowest rate is cut off; a faster one has all of the
// time.
func TestLeastSpeed(t *testing.T) {
	for name, c := range map[string]struct {
		every time.Duration // between two pieces
		piece int
		cut   time.Duration // 0: it passes
	}{
		"never begins":              {time.Hour, 1, 15 * time.Second}, // the server ends it
		"stops":                     {8 * time.Second, 10 << 10, 8 * time.Second},
		"a byte now and then":       {time.Second, 1, 5 * time.Second},
		"half the speed":            {time.Second, 32 << 10, 9 * time.Second},
		"fast enough":               {time.Second, 100 << 10, 0},
		"fast, and never at an end": {time.Second, 64 << 10, 15 * time.Second},
		"late, but much at once":    {3500 * time.Millisecond, 300 << 10, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				d := &slow{ResponseRecorder: httptest.NewRecorder(), deadline: began.Add(15 * time.Second), every: c.every, piece: c.piece}
				err := NewBodies(env.Env{}).Decode(d, sent(d), "ptn_1", MaxLargeBody, func([]byte) error { return nil })
				took := time.Since(began)
				if statusOf(err) != map[bool]int{true: 0, false: 400}[c.cut == 0] || (c.cut != 0 && (took < c.cut-time.Second || took > c.cut+time.Second)) {
					t.Errorf("%v after %v", err, took)
				}
			})
		})
	}
}

// slow is a connection whose sender sends a piece from time to time, 1 MiB in all,
// and which observes its read deadline.
type slow struct {
	*httptest.ResponseRecorder
	every    time.Duration
	piece    int
	deadline time.Time
	sent     int
	waiting  int // bytes of a piece that are still to be read
}

func (s *slow) SetReadDeadline(t time.Time) error { s.deadline = t; return nil }

func (s *slow) Read(b []byte) (int, error) {
	if s.sent == MaxLargeBody {
		return 0, io.EOF
	}
	if s.waiting == 0 {
		left := time.Until(s.deadline)
		time.Sleep(min(s.every, left))
		if left < s.every {
			return 0, errors.New("i/o timeout")
		}
		s.waiting = min(s.piece, MaxLargeBody-s.sent)
	}
	n := min(s.waiting, len(b))
	s.waiting -= n
	s.sent += n
	return n, nil
}
