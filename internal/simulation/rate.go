package simulation

import (
	"net/http"
	"strings"
	"time"
)

// minute is what a partner did in a minute, in one mode (BEHAVIOUR, Access, lists, limits).
type minute struct {
	begins time.Time
	tried  int
	passed int // of the calls that lie within the minute, whatever the clock of a process
}

// minuteOf is the present minute of a call that begins.
func (p *partner) minuteOf(r request) *minute {
	m, begins := p.minutes[r.mode], p.w.env.Now().Truncate(time.Minute)
	if m == nil || m.begins != begins {
		m = &minute{begins: begins}
		p.minutes[r.mode] = m
	}
	m.tried++
	return m
}

// counts checks that no more calls pass in a minute than the partner may make, over all processes,
// and that none is refused before most of these were made: a process takes an eighth of the rest
// at a time.
func (m *minute) counts(p *partner, began time.Time, status int, answer string) {
	w := p.w
	inside := began.Sub(m.begins) > uneven && w.env.Now().Before(m.begins.Add(time.Minute-uneven))
	if !inside || !w.steady() {
		return
	}
	switch {
	case status == http.StatusTooManyRequests && strings.Contains(answer, `"rate_limited"`):
		if m.tried < p.limit/3 && !w.parallel() {
			w.broke("%s has made %d calls in a minute, and may make %d: %d %s", p.id, m.tried, p.limit, status, answer)
		}
	case status == 0, status == http.StatusUnauthorized, status == http.StatusTooManyRequests, status >= http.StatusInternalServerError:
	default:
		if m.passed++; m.passed > p.limit {
			w.broke("%d calls of %s in a minute were let through: %s", m.passed, p.id, answer)
		}
	}
}

// hurry has a partner call more often than it may.
func (w *world) hurry() {
	for w.goesOn(time.Hour, 3*time.Hour) {
		for range 5 * hastyLimit {
			w.hasty.try(request{mode: "live", method: http.MethodGet, path: "/v1/health"})
			w.sleep(w.between(0, 600*time.Millisecond))
		}
	}
}
