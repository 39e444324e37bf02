package postgres

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
)

// kept is memory that a connection uses again and again. pgx begins each statement, and each
// batch, with a small buffer, lets append enlarge it by a quarter many times, and then gives
// it up. That was a third of all that a process under load allocated.
type kept []byte

// mostKept is the most that is kept, in bytes. A large import does not stay in memory.
const mostKept = 1 << 20

// grow returns buf with room for n bytes more. Only one buf is in use at a time.
func (k *kept) grow(buf []byte, n int) []byte {
	all := len(buf) + n
	switch {
	case all <= cap(buf):
		return buf
	case all > mostKept:
		return slices.Grow(buf, n)
	case all > cap(*k):
		*k = make([]byte, 0, min(all*3/2, mostKept))
	}
	return append((*k)[:0], buf...)
}

// room is a message without a byte: it goes before the messages of a batch and makes room for them.
type room struct {
	kept
	bytes int
}

// Frontend implements pgproto3.FrontendMessage, as do the others.
func (*room) Frontend() {}

// Encode appends nothing.
func (r *room) Encode(sent []byte) ([]byte, error) { return r.grow(sent, r.bytes), nil }

// Decode is not called: no server sends this message.
func (*room) Decode([]byte) error { return errors.ErrUnsupported }

// send sends the statements of a batch, and their arguments, at once.
func (w *writer) send(ctx context.Context, q *pgx.Batch) pgx.BatchResults {
	w.room.bytes = 0
	for _, statement := range q.QueuedQueries {
		w.room.bytes += 128 + 8*len(statement.Arguments) // names, formats and lengths
		for _, arg := range statement.Arguments {
			if own, is := arg.(argument); is {
				w.room.bytes += own.reserves()
			}
		}
	}
	w.conn.PgConn().Frontend().Send(w.room)
	return w.conn.SendBatch(ctx, q)
}

// execute sends statements that return no rows, until one fails. It returns how many were tried.
func (w *writer) execute(ctx context.Context, q *request) (tried int, err error) {
	for part := range q.parts() {
		results := w.send(ctx, &pgx.Batch{QueuedQueries: part})
		for n := 0; n < len(part) && err == nil; n++ {
			_, err = results.Exec()
			tried++
		}
		if err = errors.Join(err, results.Close()); err != nil {
			return tried, err
		}
	}
	return tried, nil
}
