package effect

import (
	"testing"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/storage/postgres"
	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/database"
	"purveyor/internal/testkit/fixture"
)

// TestOnPostgreSQL: two processes on one database share the work, hold it
// together and release it, in real time.
func TestOnPostgreSQL(t *testing.T) {
	engine, err := postgres.Open(database.Postgres(t), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := newShop(t, engine)
	const sold = 200
	for range sold / 2 {
		s.sell("")
	}
	s.answers(status(410))
	first := s.start(true)
	defer s.stop(first)
	second := s.start(true)
	defer s.stop(second)
	for range sold / 2 {
		s.sell("")
	}
	s.eventually("all to be parked", func() bool { return len(s.Jobs(commerce.JobParked, partnerID)) == sold })
	if paused := s.Endpoint(partnerID); paused.PausedFor != commerce.PausedGone {
		t.Errorf("endpoint %+v", paused)
	}
	s.answers(nil)
	fixture.Do(s.Shop, command.ResumeEndpoint{Owner: partnerID})
	s.eventually("all to be delivered", func() bool {
		return len(s.Jobs(commerce.JobParked, partnerID))+len(s.Jobs(commerce.JobWaiting, partnerID)) == 0
	})
	for _, e := range s.Events(partnerID) {
		attempts := s.Attempts(e)
		if n := len(attempts); n == 0 || !attempts[n-1].Delivered() {
			t.Errorf("%s: attempts %+v", e.ID, attempts)
		}
	}
}

func (s *shop) eventually(what string, ok func() bool) {
	s.T.Helper()
	check.Eventually(s.T, time.Minute, s.pause, what, ok)
}
