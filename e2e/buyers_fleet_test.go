package e2e_test

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// Two processes on one database get the same calls at the same time. Each call is
// repeated if the other process has begun it: one order, one refund, one answer.
func TestSameKeysAtTwoProcesses(t *testing.T) {
	t.Parallel()
	s := &shop{t: t, postgres: database(t)}
	s.fill()
	var clients []*client
	for range 2 {
		_, c := s.serve()
		clients = append(clients, c.with(s.partner.Keys.Test))
	}
	b := &buyers{shop: s}
	const purchases = 12
	for n := range purchases {
		p := &purchase{id: string(rune('a' + n)), total: 200}
		b.all = append(b.all, p)
		for _, kind := range slices.Concat([]string{"checkout"}, plans[n%len(plans)]) {
			b.takeAtBoth(clients, p, p.next(kind))
		}
	}
	b.repeatUnanswered(clients[0], b.all)
	b.repeatUnanswered(clients[1], b.all)
	b.check(clients[0])
}

// takeAtBoth makes the request of a step at both processes at once, and expects the
// same answer from both. A client that is told to repeat does so.
func (b *buyers) takeAtBoth(clients []*client, p *purchase, st *step) {
	t := b.shop.t
	t.Helper()
	answers := make([]answer, len(clients))
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() {
			for deadline := time.Now().Add(patience); ; {
				a, err := c.click(st.request)
				tried := &step{kind: st.kind, request: st.request, answer: a, err: err}
				if !tried.inProgress() || time.Now().After(deadline) {
					answers[i] = a
					return
				}
			}
		})
	}
	wg.Wait()
	st.answer = answers[0]
	if !st.done() || st.kind != "pay" && string(answers[0].body) != string(answers[1].body) || answers[0].status != answers[1].status {
		t.Fatalf("%s of %s was answered %d: %s\nand %d: %s", st.kind, p.id, answers[0].status, answers[0].body, answers[1].status, answers[1].body)
	}
	if st.kind == "checkout" {
		p.checkedOut(t, answers[0])
	}
	if st.kind != "pay" && (answers[0].header.Get("Idempotent-Replayed") == "true") == (answers[1].header.Get("Idempotent-Replayed") == "true") {
		t.Errorf("%s of %s: one of the answers, and only one, is a repeat: %v, %v", st.kind, p.id, answers[0].header, answers[1].header)
	}
}
