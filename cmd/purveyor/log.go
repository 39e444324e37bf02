package main

import (
	"bufio"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"purveyor/internal/config"
)

// logBuffer writes log lines in large pieces, at least every flushInterval. Close
// writes the rest.
type logBuffer struct {
	mu   sync.Mutex
	out  *bufio.Writer
	stop chan struct{}
	done sync.WaitGroup
}

const flushInterval = 200 * time.Millisecond

func newLogBuffer(to io.Writer) *logBuffer {
	b := &logBuffer{out: bufio.NewWriterSize(to, 64<<10), stop: make(chan struct{})}
	b.done.Go(func() {
		tick := time.NewTicker(flushInterval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				b.flush()
			case <-b.stop:
				b.flush()
				return
			}
		}
	})
	return b
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Write(p)
}

func (b *logBuffer) flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = b.out.Flush() // a failure cannot be reported anywhere
}

// Close writes the buffered lines.
func (b *logBuffer) Close() {
	close(b.stop)
	b.done.Wait()
}

// startLog makes the process's logger.
func startLog(c config.Log) *logBuffer {
	buffer := newLogBuffer(os.Stderr)
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.LogLevel)) // the flag allows valid names only
	options := &slog.HandlerOptions{Level: level}
	var handler slog.Handler = slog.NewTextHandler(buffer, options)
	if c.LogFormat == "json" {
		handler = slog.NewJSONHandler(buffer, options)
	}
	slog.SetDefault(slog.New(handler))
	return buffer
}
