package web

import (
	"net/http"
	"time"

	"purveyor/internal/env"
)

// Push sends a part of a stream to a client that has limit to read it. The next part
// follows after pause at the latest.
func Push(e env.Env, w http.ResponseWriter, part []byte, limit, pause time.Duration) error {
	c := http.NewResponseController(w)
	if err := c.SetWriteDeadline(e.Now().Add(limit)); err != nil {
		return err
	}
	if _, err := w.Write(part); err != nil {
		return err
	}
	if err := c.Flush(); err != nil {
		return err
	}
	// HTTP/1 minds the deadline of a write alone. HTTP/2 ends the stream when it passes.
	return c.SetWriteDeadline(e.Now().Add(pause + limit))
}
