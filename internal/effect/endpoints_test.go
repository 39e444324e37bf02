package effect

import (
	"testing"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/outside/webhook"
	"purveyor/internal/testkit/fixture"
)

const callbackURL = "https://user:password@p.example/hook"

// endpoint gives the partner another endpoint, and returns its owner.
func (s *shop) endpoint(id, url string, change func(*commerce.Route)) string {
	route := commerce.Route{ID: commerce.PrefixEndpoint + id}
	if change != nil {
		change(&route)
	}
	fixture.Do(s.Shop, command.MakeEndpoint{PartnerID: partnerID, Route: route, URL: url, Secret: "secret of " + id})
	return commerce.EndpointOwner(partnerID, route.ID)
}

// arrived counts the requests to each URL.
func (s *shop) arrived() map[string]int {
	n := map[string]int{}
	for _, r := range s.got() {
		n[r.URL]++
	}
	return n
}

// TestEndpointsGetWhatTheyAskFor: events go to the endpoints that take their kind, mode and
// store, to each with its own secret.
func TestEndpointsGetWhatTheyAskFor(t *testing.T) {
	in(t, func(s *shop) {
		none := ""
		fixture.Do(s.Shop, command.UpdatePartner{ID: partnerID, CallbackURL: &none})
		s.endpoint("all", "https://all.example", nil)
		s.endpoint("test", "https://test.example", func(r *commerce.Route) { r.Mode = commerce.Test })
		s.endpoint("kind", "https://kind.example", func(r *commerce.Route) { r.Events = []string{string(commerce.WebhookAccepted)} })
		s.endpoint("other", "https://other.example", func(r *commerce.Route) { r.Events = []string{"delivery.*"} })
		s.endpoint("store", "https://store.example", func(r *commerce.Route) { r.StoreIDs = []string{storeID} })
		e := s.start(true)
		defer s.stop(e)
		s.sell("")
		time.Sleep(time.Second)
		want := map[string]int{"https://all.example": 1, "https://kind.example": 1, "https://store.example": 1}
		if got := s.arrived(); len(got) != len(want) || got["https://all.example"] != 1 || got["https://kind.example"] != 1 || got["https://store.example"] != 1 {
			t.Errorf("a live order: %v, want %v", got, want)
		}
		for _, r := range s.got() {
			if id := r.URL[len("https://") : len(r.URL)-len(".example")]; r.Secret != "secret of "+id {
				t.Errorf("%s is signed with %q", r.URL, r.Secret)
			}
		}
		s.sellIn(commerce.Test, "")
		time.Sleep(time.Second)
		if got := s.arrived(); got["https://test.example"] != 1 || got["https://all.example"] != 2 || got["https://other.example"] != 0 {
			t.Errorf("and a test order: %v", got)
		}
	})
}

// TestEndpointsFailAlone: while one endpoint is down and another is paused, a third gets
// everything at once; each of the others gets everything later, and one that is deleted
// leaves no job.
func TestEndpointsFailAlone(t *testing.T) {
	in(t, func(s *shop) {
		const sold = 40
		well, down, gone := "https://well.example", "https://down.example", "https://gone.example"
		s.endpoint("well", well, nil)
		failing := s.endpoint("down", down, nil)
		deleted := s.endpoint("gone", gone, nil)
		fixture.Do(s.Shop, command.PauseEndpoint{Owner: partnerID, By: commerce.PausedPartner})
		s.answers(func(r webhook.Request) webhook.Result {
			if r.URL == down || r.URL == gone {
				return status(503)(r)
			}
			return status(204)(r)
		})
		e := s.start(true)
		defer s.stop(e)
		for range sold {
			s.sell("")
		}
		time.Sleep(2 * time.Minute)
		if n := s.arrived()[well]; n != sold {
			t.Errorf("%d of %d events arrived beside an endpoint that is down", n, sold)
		}
		if !s.Endpoint(failing).Failing() || len(s.Jobs(commerce.JobParked, failing)) != sold || len(s.Jobs(commerce.JobParked, partnerID)) != sold {
			t.Errorf("%+v; %d and %d events wait", s.Endpoint(failing), len(s.Jobs(commerce.JobParked, failing)), len(s.Jobs(commerce.JobParked, partnerID)))
		}

		fixture.Do(s.Shop, command.DeleteEndpoint{Owner: deleted})
		s.answers(nil)
		before := s.arrived()
		fixture.Do(s.Shop, command.ResumeEndpoint{Owner: partnerID})
		time.Sleep(3 * time.Minute)
		after := s.arrived()
		if n := after[down] - before[down]; n != sold {
			t.Errorf("%d of %d events arrived once it was back", n, sold)
		}
		if n := after[callbackURL] - before[callbackURL]; n != sold {
			t.Errorf("%d of %d events arrived once it was resumed", n, sold)
		}
		if n := after[gone] - before[gone]; n != 0 {
			t.Errorf("%d requests to an endpoint that was deleted", n)
		}
		for _, owner := range []string{failing, deleted, partnerID} {
			for _, state := range []commerce.JobState{commerce.JobWaiting, commerce.JobParked, commerce.JobDead} {
				if left := s.Jobs(state, owner); len(left) != 0 {
					t.Errorf("%d jobs of %s are left %s", len(left), owner, state)
				}
			}
		}
	})
}

// TestSentByHand: an attempt says whether its event was sent again.
func TestSentByHand(t *testing.T) {
	in(t, func(s *shop) {
		e := s.start(true)
		defer s.stop(e)
		s.sell("")
		time.Sleep(time.Second)
		event := s.Events(partnerID)[0]
		fixture.Do(s.Shop, command.ResendEvents{PartnerID: partnerID, Events: []commerce.WebhookEvent{event}})
		time.Sleep(time.Second)
		if got := s.Attempts(event); len(got) != 2 || got[0].Manual || !got[1].Manual {
			t.Errorf("%+v", got)
		}
	})
}
