package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/config"

	"github.com/mattn/go-isatty"
)

// printf writes to standard output. Printed texts may come from partners, customers
// and providers, so control characters are removed, except for line breaks and tabs.
func printf(format string, args ...any) { printTo(os.Stdout, format, args...) }

// complain is printf for standard error.
func complain(format string, args ...any) { printTo(os.Stderr, format, args...) }

func printTo(w io.Writer, format string, args ...any) {
	_, _ = io.WriteString(w, commerce.CleanText(fmt.Sprintf(format, args...), math.MaxInt))
}

// progressOutput is where progress is shown, and whether that is a terminal.
func progressOutput() (io.Writer, bool) { return os.Stderr, isTerminal(os.Stderr) }

// drawTo replaces the last line of a terminal by a text, and by as many spaces as the line
// before was longer.
func drawTo(w io.Writer, text string, longer int) {
	text = commerce.CleanText(text, math.MaxInt)
	_, _ = io.WriteString(w, "\r"+text+strings.Repeat(" ", longer)+"\r"+text)
}

// standardOutput takes data for programs as they are. On a terminal, it removes control
// characters, because the data has foreign texts.
func standardOutput() io.Writer {
	if isTerminal(os.Stdout) {
		return cleaned{os.Stdout}
	}
	return os.Stdout
}

func isTerminal(f *os.File) bool { return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()) }

type cleaned struct{ w io.Writer }

func (c cleaned) Write(p []byte) (int, error) {
	if _, err := io.WriteString(c.w, commerce.CleanText(string(p), math.MaxInt)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// printJSON writes v to standard output as one line of JSON, for programs. On a terminal,
// control characters are removed.
func printJSON(v any) error {
	e := json.NewEncoder(standardOutput())
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// table prints rows in columns. A cell stays on its line even if its text has line breaks.
type table struct{ w *tabwriter.Writer }

func newTable(heads ...any) table {
	t := table{tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)}
	t.row(heads...)
	return t
}

var oneLine = strings.NewReplacer("\n", " ", "\t", " ")

func (t table) row(cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = commerce.CleanText(oneLine.Replace(fmt.Sprint(c)), math.MaxInt)
	}
	_, _ = io.WriteString(t.w, strings.Join(texts, "\t")+"\n")
}

func (t table) flush() error { return t.w.Flush() }

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
	slog.SetDefault(slog.New(newLogHandler(c, buffer)))
	return buffer
}

func newLogHandler(c config.Log, buffer *logBuffer) slog.Handler {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.LogLevel)) // the flag allows valid names only
	options := &slog.HandlerOptions{Level: level}
	var handler slog.Handler = slog.NewTextHandler(buffer, options)
	if c.LogFormat == "json" {
		handler = slog.NewJSONHandler(buffer, options)
	}
	return urgent{onceAMinute{handler, newWarnings()}, buffer}
}

// urgent is a handler of log lines that writes errors at once: the process may be about to
// end.
type urgent struct {
	slog.Handler
	buffer *logBuffer
}

// Handle implements slog.Handler.
func (u urgent) Handle(ctx context.Context, r slog.Record) error {
	err := u.Handler.Handle(ctx, r)
	if r.Level >= slog.LevelError {
		u.buffer.Flush()
	}
	return err
}

// WithAttrs implements slog.Handler.
func (u urgent) WithAttrs(attrs []slog.Attr) slog.Handler {
	return urgent{u.Handler.WithAttrs(attrs), u.buffer}
}

// WithGroup implements slog.Handler.
func (u urgent) WithGroup(name string) slog.Handler {
	return urgent{u.Handler.WithGroup(name), u.buffer}
}
