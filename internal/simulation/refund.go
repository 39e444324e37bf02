package simulation

import (
	"fmt"
	"net/http"
)

// What the banks of some customers do with refunds, as tags of docs/SANDBOX.md.
const (
	refuses = "refund-refused"
	returns = "refund-fails-later"
)

// refund gives money back: some cents, or 0: the rest.
func (s *story) refund(cents int64) {
	total := s.expected().Total
	body, rest := `{"reason": "it was stale"}`, total-s.refunded
	if cents > 0 {
		body, rest = fmt.Sprintf(`{"amount_cents": %d, "reason": "it was stale"}`, cents), cents
	}
	s.refunded += rest
	s.mayRefund = s.refunded
	want := "picked_up"
	if s.delivery {
		want = "delivered"
	}
	if s.refunded == total {
		want = "refunded"
	}
	var done struct {
		Amount int64  `json:"amount_refunded_cents"`
		Total  int64  `json:"total_refunded_cents"`
		Status string `json:"status"`
	}
	var status int
	var answer string
	s.moves(func() { status, answer = s.keyed("/v1/orders/"+s.id+"/refund", body) })
	switch {
	case s.bank != "" && status == http.StatusBadGateway: // that the money came back may be told first
		s.refunded -= rest
		s.read()
		return
	case s.bank == returns && status == http.StatusOK: // the money comes back at any time from here on
		s.see(s.ping(), "a read")
		return
	}
	if err := decode([]byte(answer), &done); err != nil || status != http.StatusOK || done.Amount != rest || done.Total != s.refunded || done.Status != want {
		s.broke("a refund of %d cents was answered %d %s", rest, status, answer)
	}
	s.see(want, "the answer of refund")
	s.read()
}
