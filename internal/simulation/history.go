package simulation

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// history takes the lines of a history, and makes their digest.
type history struct {
	sum hash.Hash
	to  *bufio.Writer // nil: the lines are not kept
}

func newHistory(to io.Writer) *history {
	h := &history{sum: sha256.New()}
	if to != nil {
		h.to = bufio.NewWriterSize(to, 1<<20)
	}
	return h
}

func (h *history) Write(line []byte) (int, error) {
	_, _ = h.sum.Write(line) // never fails
	if h.to != nil {
		return h.to.Write(line)
	}
	return len(line), nil
}

func (h *history) digest() string {
	if h.to != nil {
		_ = h.to.Flush() // the first error of a write stays
	}
	return hex.EncodeToString(h.sum.Sum(nil))
}

// told is a value as the history shows it.
func told(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// traceCommit writes down what a batch changes.
func (w *world) traceCommit(name string, b storage.Batch) {
	r := b.Rows()
	a := &r.Appended
	w.sim.Tracef("%s commits %d: orders %d, stock %d, moves %d, jobs %d+%d, events %d, attempts %d, replies %d", name, b.Stamp(),
		r.Orders.Changed(), r.Stock.Changed(), len(a.StockMoves), r.Jobs.Changed(), len(a.NewJobs), len(a.Webhooks), len(a.Attempts), r.Replies.Changed())
	if !w.Rows {
		return
	}
	traceRows(w, "stock", &r.Stock)
	traceRows(w, "order", &r.Orders)
	traceRows(w, "payment", &r.Payments)
	traceRows(w, "refund", &r.Refunds)
	traceRows(w, "delivery", &r.Deliveries)
	traceRows(w, "attention", &r.Attention)
	traceRows(w, "endpoint", &r.Endpoints)
	traceRows(w, "reply", &r.Replies)
	traceRows(w, "job", &r.Jobs)
	traceRows(w, "sandbox", &r.Sandbox)
	traceLog(w, "move", a.StockMoves)
	traceLog(w, "timeline", a.Timeline)
	traceLog(w, "ledger", a.Ledger)
	traceLog(w, "event", a.Webhooks)
	traceLog(w, "attempt", a.Attempts)
	traceLog(w, "unsent", a.Outbox)
	traceLog(w, "new job", a.NewJobs)
}

func traceRows[K comparable, V any](w *world, what string, rows *commerce.Table[K, V]) {
	for i := range rows.Changed() {
		if k, v, _ := rows.Change(i); v != nil {
			w.sim.Tracef("  %s %s", what, told(*v))
		} else {
			w.sim.Tracef("  %s %v is deleted", what, k)
		}
	}
}

func traceLog[V any](w *world, what string, rows []V) {
	for _, v := range rows {
		w.sim.Tracef("  %s %s", what, told(v))
	}
}
