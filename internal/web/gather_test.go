package web

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"purveyor/internal/env"

	"pgregory.net/rapid"
)

// recorder is a connection that notes what is written to it.
type recorder struct {
	net.Conn
	arrived bytes.Buffer
	room    int // bytes until writes fail; 0: they never do
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.room > 0 && r.arrived.Len()+len(b) > r.room {
		n, _ := r.arrived.Write(b[:r.room-r.arrived.Len()])
		return n, io.ErrShortWrite
	}
	return r.arrived.Write(b)
}

// What is written arrives in its order, whatever waits meanwhile, and nothing waits when
// while has returned.
func TestGather(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		conn := &recorder{}
		g, want := &gather{Conn: conn}, []byte{}
		for range rapid.IntRange(1, 4).Draw(t, "answers") {
			write := func() (n int, err error) {
				for _, size := range rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 500, mostHeld - 1, mostHeld, mostHeld + 1, 50_000}), 0, 4).Draw(t, "sizes") {
					part := bytes.Repeat([]byte{byte(len(want))}, size)
					want = append(want, part...)
					if n, err = g.Write(part); n != size || err != nil {
						t.Fatalf("%d of %d: %v", n, size, err)
					}
				}
				return n, err
			}
			if rapid.Bool().Draw(t, "alone") {
				_, _ = write()
			} else if _, err := g.while(write); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(conn.arrived.Bytes(), want) {
				t.Fatalf("%d bytes arrived, want %d", conn.arrived.Len(), len(want))
			}
		}
	})
}

// The first part waits for the second. One that comes alone is sent at the end.
func TestGatherWaits(t *testing.T) {
	conn := &recorder{}
	g := &gather{Conn: conn}
	_, _ = g.while(func() (int, error) {
		_, _ = g.Write(make([]byte, mostHeld))
		if conn.arrived.Len() != 0 {
			t.Error("the first part is sent by itself")
		}
		return g.Write(make([]byte, 50_000))
	})
	_, _ = g.while(func() (int, error) { return g.Write(make([]byte, 10)) })
	if conn.arrived.Len() != mostHeld+50_010 {
		t.Errorf("%d bytes arrived", conn.arrived.Len())
	}
	if n := testing.AllocsPerRun(100, func() {
		_, _ = g.while(func() (int, error) { return g.Write(nil) })
	}); n > 2 {
		t.Errorf("%v allocations", n)
	}
}

// A connection that fails reports how much of the part was sent.
func TestGatherFails(t *testing.T) {
	for room, want := range map[int]int{10: 0, 100: 0, 150: 50} {
		g := &gather{Conn: &recorder{room: room}}
		n, err := g.while(func() (int, error) {
			_, _ = g.Write(make([]byte, 100))
			return g.Write(make([]byte, 100))
		})
		if n != want || !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("room for %d: %d, %v", room, n, err)
		}
		g = &gather{Conn: &recorder{room: 10}}
		if _, err := g.while(func() (int, error) { return g.Write(make([]byte, 100)) }); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("the failure of the last part is lost: %v", err)
		}
	}
}

// Answers of every length arrive over TCP, and what a stream flushes arrives at once, even
// where it fills the buffer exactly.
func TestGatheredAnswers(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	next := make(chan bool)
	server := http.Server{ConnContext: Gather, Handler: Trace(env.Env{}, slog.New(slog.DiscardHandler), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gatherOf(r.Context()) == nil {
			t.Error("Trace does not know the connection")
		}
		size, _ := strconv.Atoi(r.URL.Query().Get("size"))
		body := bytes.Repeat([]byte("x"), size)
		if r.URL.Path == "/stream" {
			_, _ = w.Write(body)
			_ = http.NewResponseController(w).Flush()
			<-next
			return
		}
		WriteJSON(w, http.StatusOK, body)
	}))}
	go func() { _ = server.Serve(LimitConnections(env.Env{}, inner, 10, 10, nil)) }()
	defer func() { _ = server.Shutdown(context.Background()) }()
	get := func(path string, size int) *http.Response {
		answer, err := http.Get("http://" + inner.Addr().String() + path + "?size=" + strconv.Itoa(size))
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	sizes := []int{0, 1, 2047, 2048, 2049, 50_000, 1 << 20}
	for size := 3500; size <= 4200; size++ { // with the header about as long as the buffer of net/http
		sizes = append(sizes, size)
	}
	for _, size := range sizes {
		answer := get("/", size)
		if body, err := io.ReadAll(answer.Body); err != nil || string(body) != strings.Repeat("x", size) {
			t.Errorf("%d bytes of %d, %v", len(body), size, err)
		}
		_ = answer.Body.Close()
	}
	for _, size := range slices.Concat([]int{1, 2048, 4096, 8192}, sizes[len(sizes)-701:]) {
		answer := get("/stream", size)
		if _, err := io.ReadFull(answer.Body, make([]byte, size)); err != nil {
			t.Errorf("stream of %d: %v", size, err)
		}
		next <- true
		_ = answer.Body.Close()
	}
}
