package simulation

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"purveyor/internal/commerce"
)

// pays is how many cents the customer pays.
func (s *story) pays() int64 {
	if s.bank == paidLess {
		return s.expected().Total - 1
	}
	return s.expected().Total
}

// short goes on after too little was paid: the order stays as it is until the partner
// cancels it.
func (s *story) short() {
	s.wait(30*time.Minute, 2*time.Hour)
	if s.ping() != "pending_payment" {
		s.broke("the customer has paid a cent less, and the order is %s", s.status)
	}
	s.shortTill = s.w.env.Now()
	s.cancel()
}

// askBack asks once more for the money of a cancelled order, which a bank has refused to take. It
// refuses again, and staff are to look again.
func (s *story) askBack() {
	s.wait(time.Hour, 3*time.Hour)
	began, ctx, key := s.w.env.Now(), context.Background(), commerce.OrderKey{StoreID: storeID(s.store), OrderID: s.id}
	payment, _ := s.w.reader.Payment(ctx, key) // without it a conflict is wrong
	var status int
	var answer string
	s.moves(func() { status, answer = s.keyed("/v1/orders/"+s.id+"/refund", `{"reason": "it was cancelled"}`) })
	if status == http.StatusConflict && payment.PendingCents > 0 { // the first refund was not decided yet
		return
	}
	open, err := s.w.reader.Attention(ctx, key)
	asked := slices.ContainsFunc(open, func(a commerce.Attention) bool {
		return slices.Contains(aboutMoney, a.Code) && (a.Open() || !a.ResolvedOn.Time().Before(began.Add(-mostSkew)))
	})
	if status != http.StatusBadGateway || err != nil || !asked {
		s.broke("a refund of the cancelled order was answered %d %s, and staff have these reasons to look: %s, %v", status, answer, told(open), err)
	}
}

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
	err := decode([]byte(answer), &done)
	switch {
	case (s.bank == refuses || s.bank == returns) && status == http.StatusBadGateway: // that the money came back may be told first
		s.refunded -= rest
		s.read()
		return
	case s.bank == returns && status == http.StatusOK: // the money comes back at any time from here on
		if done.Amount < rest || cents > 0 && done.Amount != cents { // the rest is more if some has come back before
			s.broke("a refund of %d cents was answered %s", rest, answer)
		}
		s.see(done.Status, "the answer of refund")
		s.ping()
		return
	}
	if err != nil || status != http.StatusOK || done.Amount != rest || done.Total != s.refunded || done.Status != want {
		s.broke("a refund of %d cents was answered %d %s", rest, status, answer)
	}
	s.see(want, "the answer of refund")
	s.read()
}
