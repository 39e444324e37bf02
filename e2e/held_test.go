package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"purveyor/internal/testkit/check"
)

// owedRefund leaves a refund that its processor could not be asked for, and returns its request.
func (s *shop) owedRefund(c *client) request {
	s.t.Helper()
	b := &purchase{id: "a", total: 400}
	checkout := b.next("checkout").request
	checkout.body.(map[string]any)["customer_email"] = "jo+refund-unreachable@example.com"
	b.checkedOut(s.t, c.must(http.StatusCreated, checkout))
	if a, err := c.click(b.next("pay").request); err != nil || a.status != http.StatusSeeOther {
		s.t.Fatalf("paid: %v, %+v", err, a)
	}
	refund := b.next("rest").request
	c.must(http.StatusConflict, refund) // in progress
	return refund
}

// What acts outside is held in a restored database, also when its partner repeats the call, until an
// operator releases it. The service says so wherever an operator looks.
func TestHeldJobs(t *testing.T) {
	onBoth(t, func(t *testing.T, s *shop) {
		p, c := s.serve()
		refund := s.owedRefund(c.with(s.partner.Keys.Test))
		p.kill()
		if text := s.operate("jobs", "hold").ok(t); !strings.HasPrefix(text, "1 jobs were held") && !strings.HasPrefix(text, "2 jobs were held") { // the text to the merchant may be sent
			t.Errorf("printed %s", text)
		}
		if text := s.operate("jobs", "hold").ok(t); text != "0 jobs were held\n" {
			t.Errorf("held again: %s", text)
		}
		job := s.refundJob("held")
		tries := s.count("SELECT cast(tries AS text) FROM jobs WHERE kind = 'refund_payment'")

		p, c = s.serve("--metrics-listen", "127.0.0.1:0")
		c.with(s.partner.Keys.Test).must(http.StatusConflict, refund)
		if now := s.count("SELECT state || ' ' || tries FROM jobs WHERE kind = 'refund_payment'"); now != "held "+tries {
			t.Errorf("the refund is %s, want it held after %s tries", now, tries)
		}
		scrape := monitorOf(p)
		check.Eventually(t, patience, pollPause, "the metric of held jobs", func() bool {
			return strings.Contains(scrape(t), `purveyor_jobs{kind="refund_payment",state="held"} 1`)
		})
		if text := p.stderr.String(); strings.Count(text, "jobs are held, because the database was restored") != 1 {
			t.Errorf("the log is %s", text)
		}
		s.operate("jobs", "release", "--kind", "deliver_webhook").refused(t, 2, "never held")
		if text := s.operate("jobs", "release", "--kind", "dispatch").ok(t); text != "0 jobs were released\n" {
			t.Errorf("printed %s", text)
		}
		if s.refundJob("held") != job {
			t.Error("it was released with another kind")
		}
		s.operate("jobs", "release").ok(t)
		check.Eventually(t, patience, pollPause, "another try", func() bool {
			return s.count("SELECT state || ' ' || tries FROM jobs WHERE kind = 'refund_payment'") != "waiting "+tries
		})
	})
}
