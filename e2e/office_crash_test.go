package e2e_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"purveyor/internal/testkit/office"
)

// staffAct is a form that staff send, and send again when no answer came.
type staffAct struct {
	path     string
	form     url.Values
	reason   string // no other act has it
	order    string // that is cancelled; empty: stock is adjusted
	answered bool
}

func (a *staffAct) send(p *office.Client) (status int, page string, err error) {
	answer, err := p.PostForm(p.Base+a.path, a.form)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	a.answered = err == nil
	return answer.StatusCode, string(body), err
}

// staffActs are adjustments of stock and cancellations of orders, whose forms were opened before.
func (s *shop) staffActs(p *office.Client, c *client, round int) (acts []*staffAct) {
	s.t.Helper()
	for i := range times(30) {
		reason := fmt.Sprintf("Crash %d.%d", round, i)
		a := &staffAct{reason: reason, form: url.Values{"key": {"key " + reason}, "reason": {reason}}}
		if i%2 == 0 {
			a.path = fmt.Sprintf("/office/products/p%d/adjust", 1+i%3)
			a.form.Set("delta", "-1")
		} else {
			a.order = c.must(201, post("/v1/orders/report", "report "+reason, map[string]any{"external_order_id": reason, "store_id": "s1", "fulfillment_type": "pickup",
				"items": []map[string]any{{"product_id": "p1", "quantity": 1, "price": 100}}})).orderID(s.t)
			a.path = "/office/orders/" + a.order + "/cancel"
			_, page := p.Get(a.path)
			_, version, _ := strings.Cut(page, `name="version" value="`)
			version, _, _ = strings.Cut(version, `"`)
			a.form.Set("version", version)
		}
		acts = append(acts, a)
	}
	return acts
}

// TestKilledWhileStaffWork: what staff were told is done stays done, a form that is sent again
// after a crash does nothing twice, and the stock agrees with its moves.
func TestKilledWhileStaffWork(t *testing.T) {
	onBoth(t, func(t *testing.T, s *shop) {
		p, c := s.serve()
		boss := s.accept(c.base, s.users("create", "--email", "boss@e.example"))
		unanswered := 0
		for round := range 3 {
			acts := s.staffActs(boss, c, round)
			next := make(chan *staffAct)
			began := make(chan struct{}, len(acts))
			var workers sync.WaitGroup
			for range 4 {
				workers.Go(func() {
					for a := range next {
						status, page, err := a.send(boss)
						if err == nil && status != http.StatusSeeOther {
							t.Errorf("%s: %d\n%s", a.path, status, page)
						}
						began <- struct{}{}
					}
				})
			}
			workers.Go(func() {
				for _, a := range acts {
					next <- a
				}
				close(next)
			})
			for range len(acts) / 3 {
				<-began
			}
			time.Sleep(rand.N(3 * time.Millisecond)) // at a random moment of an act
			p.kill()
			workers.Wait()

			p, c = s.serve()
			boss.Base = c.base
			for _, a := range acts {
				if a.answered {
					continue
				}
				unanswered++
				if status, page, err := a.send(boss); err != nil || status != http.StatusSeeOther && (status != http.StatusConflict || a.order == "") {
					t.Errorf("%s again: %d, %v\n%s", a.path, status, err, page)
				}
			}
			for _, a := range acts {
				if a.order != "" {
					if got := c.order("/v1/orders/" + a.order).Status; got != "cancelled" {
						t.Errorf("%s is %s, not cancelled", a.order, got)
					}
				} else if n := s.count("SELECT CAST(count(*) AS TEXT) FROM stock_notes WHERE reason = '" + a.reason + "'"); n != "1" {
					t.Errorf("%s was done %s times", a.reason, n)
				}
			}
		}
		if unanswered == 0 {
			t.Error("each act was answered, so the kills hit nothing")
		}
		p.stop()
		s.checkFile()
		s.operate("ledger", "check").ok(t)
	})
}
