package e2e_test

import (
	"net/http"
	"os/user"
	"regexp"
	"strings"
	"testing"

	"purveyor/internal/testkit/check"
)

// refundJob returns the id of the single refund job in this state.
func (s *shop) refundJob(state string) string {
	s.t.Helper()
	text := s.operate("jobs", "list", "--state", state, "--kind", "refund_payment").ok(s.t)
	ids := regexp.MustCompile(`(?m)^job_\S+`).FindAllString(text, -1)
	if len(ids) != 1 || strings.Count(text, "\n") != 2 || !strings.Contains(text, s.partner.PartnerID) {
		s.t.Fatalf("want one %s job that refunds: %s", state, text)
	}
	return ids[0]
}

// A refund whose processor cannot be reached is listed, retried on request, and, once
// it is dead, given up: its money is free again, and its key may be repeated.
func TestJobsCommand(t *testing.T) {
	onBoth(t, func(t *testing.T, s *shop) {
		if text := s.operate("jobs", "list").ok(t); text != "no jobs\n" {
			t.Errorf("a new database lists %q", text)
		}
		p, c := s.serve()
		c = c.with(s.partner.Keys.Test)
		b := &purchase{id: "a", total: 400}
		checkout := b.next("checkout").request
		checkout.body.(map[string]any)["customer_email"] = "jo+refund-unreachable@example.com"
		b.checkedOut(t, c.must(http.StatusCreated, checkout))
		if a, err := c.click(b.next("pay").request); err != nil || a.status != http.StatusSeeOther {
			t.Fatalf("paid: %v, %+v", err, a)
		}
		refund := b.next("rest").request
		c.must(http.StatusConflict, refund) // in progress
		job := s.refundJob("waiting")
		if r := s.operate("jobs", "give-up", job, "--reason", "no"); r.code == 0 || !strings.Contains(r.stderr, "only a dead or held job can be given up") {
			t.Errorf("a job that waits: %+v", r)
		}
		tries := s.count("SELECT tries FROM jobs WHERE kind = 'refund_payment'")
		s.operate("jobs", "retry", job).ok(t)
		check.Eventually(t, patience, pollPause, "another try", func() bool { return s.count("SELECT tries FROM jobs WHERE kind = 'refund_payment'") != tries })
		p.kill()

		die := "UPDATE jobs SET state = 'dead', leased_by = '', leased_until = 0 WHERE kind = 'refund_payment';"
		s.change(die)
		if got := s.refundJob("dead"); got != job {
			t.Errorf("%s is dead, want %s", got, job)
		}
		for _, args := range [][]string{{"give-up", job}, {"give-up", job, "--reason", " "}, {"give-up", "job_none", "--reason", "x"}, {"retry", "job_none"}, {"show", "job_none"}} {
			if r := s.operate(append([]string{"jobs"}, args...)...); r.code == 0 || r.stderr == "" {
				t.Errorf("%v: %+v", args, r)
			}
		}
		if text := s.operate("jobs", "retry", job).ok(t); !strings.Contains(text, "state    waiting") || !strings.Contains(text, "next     now") {
			t.Errorf("retried: %s", text)
		}
		s.change(die)
		me, err := user.Current()
		check.OK(t, err)
		by := "operator:" + me.Username
		text := s.operate("jobs", "give-up", job, "--reason", "paid back\x1b[31m in cash").ok(t)
		if !strings.Contains(text, "state    given_up") || !strings.Contains(text, "given up by "+by+": paid back") || strings.Contains(text, "\x1b") {
			t.Errorf("given up: %q", text)
		}
		if again := s.operate("jobs", "show", job).ok(t); again != text {
			t.Errorf("shown: %q, want %q", again, text)
		}
		for _, args := range [][]string{{"give-up", job, "--reason", "again"}, {"retry", job}} {
			if r := s.operate(append([]string{"jobs"}, args...)...); r.code == 0 {
				t.Errorf("%v of a job that was given up: %+v", args, r)
			}
		}
		if s.refundJob("given_up") != job {
			t.Error("it is not listed as given up")
		}
		if text := s.operate("ledger", "check", "--offline").ok(t); !strings.Contains(text, "on their way back $0.00") {
			t.Errorf("its money is not free: %s", text)
		}
		if n := s.count("SELECT count(*) FROM attention WHERE code = 'refund_due' AND resolved_on = 0"); n != "1" {
			t.Errorf("%s reasons to look at the order", n)
		}
		_, c = s.serve()
		c = c.with(s.partner.Keys.Test)
		if a := c.must(http.StatusOK, get("/v1/orders/"+b.orderID+"/timeline")); !strings.Contains(string(a.body), by+" gave up refund_payment: paid back") {
			t.Errorf("the timeline lacks the note: %s", a.body)
		}
		c.must(http.StatusConflict, refund) // in progress again, because the key was released
		if again := s.refundJob("waiting"); again == job {
			t.Error("the key was not released")
		}
	})
}
