package main

import (
	"bufio"
	"log/slog"
	"os"
	"sync"
	"time"

	"purveyor/internal/config"
)

// logBuffer writes log lines in large pieces, each line after flushInterval at the latest.
type logBuffer struct {
	mu  sync.Mutex
	out *bufio.Writer
}

const flushInterval = 200 * time.Millisecond

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.out.Buffered() == 0 {
		time.AfterFunc(flushInterval, b.Flush)
	}
	return b.out.Write(p)
}

// Flush writes the buffered lines.
func (b *logBuffer) Flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = b.out.Flush() // a failure cannot be reported anywhere
}

// startLog makes the process's logger.
func startLog(c config.Log) *logBuffer {
	buffer := &logBuffer{out: bufio.NewWriterSize(os.Stderr, 64<<10)}
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
