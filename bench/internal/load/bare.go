package load

import (
	"context"
	"encoding/gob"
	"errors"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

// The baseline of the reads: net/http alone, in a process of its own, which
// writes the same bytes. It looks them up by the URI of the request.

func writeBodies(path string, bodies map[string][]byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(gob.NewEncoder(f).Encode(bodies), f.Close())
}

func readBodies(path string) (bodies map[string][]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	err = gob.NewDecoder(f).Decode(&bodies)
	return bodies, errors.Join(err, f.Close())
}

// ServeBare is the hidden command "bare ADDRESS BODIES".
func ServeBare(ctx context.Context, addr, path string) error {
	bodies, err := readBodies(path)
	if err != nil {
		return err
	}
	return ServeUntilDone(ctx, addr, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := bodies[r.RequestURI]
		if !ok {
			http.NotFound(w, r)
			return
		}
		h := w.Header()
		h["Content-Type"] = []string{"application/json"}
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(body) // the caller has gone
	}))
}

// ServeUntilDone serves with the limits of the real server.
func ServeUntilDone(ctx context.Context, addr string, h http.Handler) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second,
		WriteTimeout: 30 * time.Second, IdleTimeout: 90 * time.Second, MaxHeaderBytes: 16 << 10}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
		return server.Close()
	}
}

// UntilSignal ends with Ctrl-C or SIGTERM.
func UntilSignal() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
}
