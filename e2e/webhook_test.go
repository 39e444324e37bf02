package e2e_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"purveyor/internal/testkit/check"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const allowPrivate = "--allow-private-webhooks"

// hook sets the URL of a partner's webhooks.
func (s *shop) hook(to *sink, path string, flags ...string) {
	s.t.Helper()
	s.operate(append([]string{"partner", "update", s.partner.PartnerID, "--callback-url", to.URL + path}, flags...)...).ok(s.t)
}

// The process is killed while webhooks are sent. Every event of an acknowledged order
// arrives, with the same bytes in each attempt.
func TestKilledWhileDelivering(t *testing.T) { onBoth(t, killedWhileDelivering) }

func killedWhileDelivering(t *testing.T, s *shop) {
	to := newSink(t)
	s.hook(to, "/hook")
	acknowledged := map[string]bool{} // order ids
	for round := range 3 {
		p, c := s.serve(allowPrivate)
		var wg sync.WaitGroup
		var mu sync.Mutex
		for worker := range 8 {
			wg.Go(func() {
				for n := 0; ; n++ {
					a, err := c.send(report(fmt.Sprintf("%d-%d-%d", round, worker, n), "p1"))
					if err != nil {
						return
					}
					mu.Lock()
					acknowledged[a.orderID(t)] = true
					mu.Unlock()
				}
			})
		}
		to.waitFor(t, "/hook", 50*(round+1))
		p.kill()
		wg.Wait()
	}
	_, c := s.serve(allowPrivate)
	body := map[string]string{}
	// A feed waits for the batch of a dead process until its low watermark ends.
	check.Eventually(t, patience, pollPause, "every acknowledged order to have its event", func() bool {
		for _, e := range c.events() {
			body[eventOf(t, e).ID] = e
			delete(acknowledged, eventOf(t, e).OrderID)
		}
		return len(acknowledged) == 0
	})
	arrived := map[string]bool{}
	check.Eventually(t, 3*time.Minute, pollPause, "every event to arrive", func() bool {
		clear(arrived)
		for _, r := range to.at("/hook") {
			arrived[r.event.ID] = true
		}
		return len(arrived) >= len(body)
	})
	for _, r := range to.at("/hook") {
		if r.body != body[r.event.ID] || r.header.Get("Webhook-Id") != r.event.ID {
			t.Errorf("%s arrived as %s\nand is read as %s", r.header.Get("Webhook-Id"), r.body, body[r.event.ID])
		}
	}
}

func eventOf(t *testing.T, text string) (e event) {
	t.Helper()
	answer{body: []byte(text)}.decode(t, &e)
	return e
}

// An endpoint that hangs does not delay another partner's events.
func TestHangingEndpoint(t *testing.T) {
	t.Parallel()
	s, to := newShop(t), newSink(t)
	release := make(chan struct{})
	defer close(release)
	to.answers(func(r received) int {
		if r.path == "/hangs" {
			<-release
		}
		return 200
	})
	s.hook(to, "/hangs")
	other := s.newPartner("--name", "Other", "--rate-limit", "10000000", "--callback-url", to.URL+"/answers")
	_, c := s.serve(allowPrivate)
	for n := range 100 {
		c.must(201, report(fmt.Sprint("hangs-", n), "p1"))
	}
	to.waitFor(t, "/hangs", 1)
	healthy := c.with(other.Keys.Live)
	for n := range 20 {
		began := time.Now()
		healthy.must(201, report(fmt.Sprint("answers-", n), "p1"))
		to.waitFor(t, "/answers", n+1)
		if took := time.Since(began); took > 8*time.Second {
			t.Fatalf("an event of a healthy endpoint took %v", took)
		}
	}
}

// Everything that an operator does with one endpoint.
func TestWebhookCommands(t *testing.T) {
	t.Parallel()
	s, to := newShop(t), newSink(t)
	partner := s.partner.PartnerID
	s.hook(to, "/hook", "--callback-secret", "old")
	_, c := s.serve(allowPrivate)

	// It fails, and accepts the event the next time.
	var once sync.Once
	to.answers(func(received) int {
		status := 200
		once.Do(func() { status = 500 })
		return status
	})
	c.must(201, report("first", "p1"))
	tries := to.waitFor(t, "/hook", 2)
	if tries[0].body != tries[1].body {
		t.Errorf("the second try said something else:\n%s\n%s", tries[0].body, tries[1].body)
	}
	first := tries[0].event.ID
	s.eventuallyShows(first, "status 500", "delivered (200)", `"event":"order.accepted"`)

	// It is gone until an operator resumes it.
	to.answers(always(410))
	c.must(201, report("second", "p1"))
	s.eventuallyShows(partner, "paused since", "(gone)")
	c.must(201, report("third", "p1"))
	s.eventuallyShows(partner, "parked           2")
	if list := s.operate("webhook", "list").ok(t); !strings.Contains(list, "paused") || !strings.Contains(list, to.URL) {
		t.Errorf("the list of endpoints:\n%s", list)
	}
	to.answers(nil)
	s.operate("webhook", "resume", partner).ok(t)
	to.waitFor(t, "/hook", 5) // 500, 200, 410, and the two that waited
	s.eventuallyShows(partner, "healthy", "parked           0")

	// Events are sent to it again.
	s.operate("webhook", "resend", first).ok(t)
	if again := to.waitFor(t, "/hook", 6)[5]; again.body != tries[0].body {
		t.Errorf("sent again was %s", again.body)
	}
	if text := s.operate("webhook", "replay", partner, "--since", "1h").ok(t); !strings.HasPrefix(text, "3 ") {
		t.Errorf("replayed: %s", text)
	}
	to.waitFor(t, "/hook", 9)
	if text := s.operate("webhook", "replay", partner, "--undelivered", "--all").ok(t); !strings.HasPrefix(text, "0 ") {
		t.Errorf("replayed: %s", text)
	}
	if text := s.operate("webhook", "test", partner).ok(t); !strings.Contains(text, "delivered (200)") {
		t.Errorf("test: %s", text)
	}

	// Its secret is replaced, then it is paused, which takes effect within a second.
	s.operate("webhook", "rotate-secret", partner, "--secret", "new").ok(t)
	s.operate("webhook", "pause", partner).ok(t)
	parked := ""
	for n := 0; strings.Contains(s.operate("webhook", "show", partner).ok(t), "parked           0"); n++ {
		parked = c.must(201, report(fmt.Sprint("paused-", n), "p1")).orderID(t)
		time.Sleep(200 * time.Millisecond)
	}
	s.eventuallyShows(partner, "(operator)", "signs until")
	s.operate("webhook", "resume", partner).ok(t)
	s.eventuallyShows(partner, "healthy", "parked           0")
	check.Eventually(t, time.Minute, pollPause, "what was parked", func() bool {
		got := to.at("/hook")
		i := slices.IndexFunc(got, func(r received) bool { return r.event.OrderID == parked })
		if i >= 0 {
			signedWith(t, got[i], "old", "new")
		}
		return i >= 0
	})
	if list := s.operate("webhook", "list", partner, "--type", "order.accepted", "--limit", "2").ok(t); strings.Count(list, "delivered (200)") != 2 ||
		!strings.Contains(list, parked) {
		t.Errorf("the list of events:\n%s", list)
	}
	s.operate("webhook", "replay", partner).refused(t, 2, "--since", "--all")
	s.operate("webhook", "replay", partner, "--undelivered").refused(t, 2, "--since", "--all")
	s.operate("webhook", "replay", partner, "--since", "1h", "--all").refused(t, 2, "exclude each other")
	s.operate("webhook", "show", "evt_nonsense").refused(t, 1, "no event")
	s.operate("webhook", "pause", "ptn_nonsense").refused(t, 1, "no partner")
	s.operate("webhook", "replay", partner, "--since", "yesterday").refused(t, 2, "--since")
}

// eventuallyShows waits until the output of `webhook show` contains all words.
func (s *shop) eventuallyShows(id string, words ...string) {
	s.t.Helper()
	text := ""
	defer func() {
		if s.t.Failed() {
			s.t.Logf("webhook show %s:\n%s", id, text)
		}
	}()
	check.Eventually(s.t, time.Minute, pollPause, fmt.Sprintf("%q about %s", words, id), func() bool {
		text = s.operate("webhook", "show", id).ok(s.t)
		for _, w := range words {
			if !strings.Contains(text, w) {
				return false
			}
		}
		return true
	})
}

// signedWith checks the secrets of a webhook's signatures: the first one signs the
// contract's header, all of them Standard Webhooks' header.
func signedWith(t *testing.T, r received, secrets ...string) {
	t.Helper()
	if n := len(strings.Fields(r.header.Get("Webhook-Signature"))); n != len(secrets) {
		t.Errorf("%d signatures, want %d", n, len(secrets))
	}
	for _, secret := range secrets {
		receiver, err := standardwebhooks.NewWebhookRaw([]byte(secret))
		if strings.HasPrefix(secret, "whsec_") {
			receiver, err = standardwebhooks.NewWebhook(secret)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := receiver.Verify([]byte(r.body), r.header); err != nil {
			t.Errorf("secret %s: %v", secret, err)
		}
	}
	mac := hmac.New(sha256.New, []byte(secrets[0]))
	mac.Write([]byte(r.body))
	if want := hex.EncodeToString(mac.Sum(nil)); r.header.Get("X-Partner-Signature") != want {
		t.Errorf("x-partner-signature %q, want that of %s", r.header.Get("X-Partner-Signature"), secrets[0])
	}
}

// Setting a secret, and --now, end a rotation: from then on this secret alone signs.
// It need not be on the command line.
func TestRotationEnds(t *testing.T) {
	t.Parallel()
	s, to := newShop(t), newSink(t)
	partner := s.partner.PartnerID
	s.hook(to, "/hook", "--callback-secret", "one")
	_, c := s.serve(allowPrivate)
	sent := 0
	next := func(want ...string) {
		t.Helper()
		check.Eventually(t, patience, pollPause, fmt.Sprint("a webhook that is signed with ", want), func() bool { // a new secret takes effect within a second
			c.must(201, report(fmt.Sprint("rotation-", sent), "p1"))
			sent++
			return len(strings.Fields(to.waitFor(t, "/hook", sent)[sent-1].header.Get("Webhook-Signature"))) == len(want)
		})
		signedWith(t, to.at("/hook")[sent-1], want...)
	}
	next("one")
	if text := s.operate("webhook", "rotate-secret", partner, "--secret", "two").ok(t); !strings.Contains(text, "x-partner-signature is made with the old one") {
		t.Errorf("rotate-secret says %s", text)
	}
	next("one", "two")
	operateWith(t, "three\n", "partner", "update", "--database", s.url(), partner, "--callback-secret", "-").ok(t)
	next("three")
	operateWith(t, "four", "webhook", "rotate-secret", "--database", s.url(), partner, "--secret", "-").ok(t)
	next("three", "four")
	s.operate("webhook", "rotate-secret", partner, "--secret", "five", "--now").ok(t)
	next("five")
	operateWith(t, "\n", "partner", "update", "--database", s.url(), partner, "--callback-secret", "-").refused(t, 1, "standard input has no secret")
	made := parseIssued(t, operateWith(t, "six", "partner", "create", "--database", s.url(), "--name", "Six", "--json", "--callback-url", to.URL+"/six", "--callback-secret", "-").ok(t))
	c.with(made.Keys.Live).must(201, report("six", "p1"))
	signedWith(t, to.waitFor(t, "/six", 1)[0], "six")
}

// Without a secret of the operator, the first callback URL of a partner brings one, which is
// shown once. A later URL keeps the secret.
func TestSecretIsDrawn(t *testing.T) {
	t.Parallel()
	s, to := newShop(t), newSink(t)
	_, c := s.serve(allowPrivate)
	made := parseIssued(t, s.operate("partner", "create", "--name", "New", "--json", "--callback-url", to.URL+"/new").ok(t))
	c.with(made.Keys.Live).must(201, report("new", "p1"))
	signedWith(t, to.waitFor(t, "/new", 1)[0], made.Secret)
	drawn := regexp.MustCompile(`whsec_[A-Za-z0-9+/]{43}=`)
	if text := s.operate("partner", "create", "--name", "Read", "--callback-url", to.URL).ok(t); len(drawn.FindAllString(text, -1)) != 1 {
		t.Error(text)
	}
	text := s.operate("partner", "update", s.partner.PartnerID, "--callback-url", to.URL+"/first").ok(t)
	secret := drawn.FindString(text)
	if secret == "" || !strings.Contains(text, "set (not shown)") {
		t.Error(text)
	}
	if text := s.operate("partner", "update", s.partner.PartnerID, "--callback-url", to.URL+"/second").ok(t); strings.Contains(text, "whsec_") {
		t.Error(text)
	}
	check.Eventually(t, patience, pollPause, "an event at the second URL", func() bool { // it counts within seconds
		c.must(201, report(fmt.Sprint("moved-", len(c.events())), "p1"))
		return len(to.at("/second")) > 0
	})
	signedWith(t, to.at("/second")[0], secret)
}

// An unusable callback URL is reported when it is set, and where it is tried. The
// list shows the state of endpoints without their passwords.
func TestCallbackURLs(t *testing.T) {
	t.Parallel()
	s, to := newShop(t), newSink(t)
	partner := s.partner.PartnerID
	set := func(url string) string {
		t.Helper()
		r := s.operate("partner", "update", partner, "--callback-url", url)
		if shown := r.ok(t); strings.Contains(shown, "hush") {
			t.Errorf("the password is shown:\n%s", shown)
		}
		return r.stderr
	}
	for url, words := range map[string]string{
		"https://shop.example.com/hook":         "",
		"http://shop.example.com/hook":          "use https",
		"http://127.0.0.1:3000/hooks":           "127.0.0.1 is loopback",
		"https://localhost/hooks":               "--allow-private-webhooks",
		"https://10.1.2.3/hooks":                "10.1.2.3 is private",
		"https://[fd00::1]/hooks":               "fd00::1 is private",
		"https://jo:hush@192.168.1.1/hooks":     "192.168.1.1 is private",
		"":                                      "",
		"https://jo:hush@shop.example.com/hook": "",
	} {
		if said := set(url); (words == "") != (said == "") || !strings.Contains(said, words) || strings.Contains(said, "hush") {
			t.Errorf("%s: %q, want %q", url, said, words)
		}
	}
	if r := s.operate("partner", "create", "--name", "X", "--json", "--callback-url", "http://127.0.0.1:1/"); !strings.Contains(r.stderr, "--allow-private-webhooks") || parseIssued(t, r.ok(t)).PartnerID == "" {
		t.Errorf("%+v", r)
	}

	set(strings.Replace(to.URL, "http://", "http://jo:hush@", 1))
	_, c := s.serve()
	if r := s.operate("webhook", "test", partner); !strings.Contains(r.ok(t), "address 127.0.0.1 is loopback") || !strings.Contains(r.stderr, "--allow-private-webhooks") {
		t.Errorf("webhook test says\n%s%s", r.stdout, r.stderr)
	}
	shows := func(words ...string) {
		t.Helper()
		check.Eventually(t, patience, pollPause, fmt.Sprintf("%q in the list", words), func() bool {
			list := s.operate("webhook", "list").ok(t)
			return !strings.Contains(list, "hush") && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(list, w) })
		})
	}
	shows("the last try failed  1")
	for n := range 5 {
		c.must(201, report(fmt.Sprint("refused-", n), "p1"))
	}
	shows("failing since", "  6\n")
	s.operate("webhook", "test", partner, "--wait", "300ms").refused(t, 1, "the endpoint is failing since", "webhook resume", "--allow-private-webhooks")
	s.operate("webhook", "show", partner).ok(t)
}

// By default no webhook goes to private addresses, and without a mail server e-mails
// stay in the outbox.
func TestClosedHouse(t *testing.T) {
	t.Parallel()
	s, to := newShop(t), newSink(t)
	s.hook(to, "/hook")
	_, c := s.serve()
	order := report("first", "p1")
	order.body.(map[string]any)["delivery_address"] = map[string]any{"name": "Ann", "email": "ann@e.example",
		"address": map[string]any{"line1": "1 Elm St", "city": "Albany", "state": "NY", "postal_code": "12208", "country": "US"}}
	id := c.must(201, order).orderID(t)
	s.eventuallyShows(eventOf(t, c.events()[0]).ID, "address 127.0.0.1 is loopback")
	if got := to.at("/hook"); len(got) != 0 {
		t.Errorf("a private address got %+v", got)
	}
	c.must(200, post("/v1/orders/"+id+"/ready-for-pickup", "", "{}"))
	message := ""
	check.Eventually(t, patience, pollPause, "the mail in the outbox", func() bool {
		list := s.operate("outbox", "list").ok(t)
		message = regexp.MustCompile(`out_\w+`).FindString(list)
		return message != "" && strings.Contains(list, "ann@e.example") && strings.Contains(list, "not configured")
	})
	if text := s.operate("outbox", "show", message).ok(t); !strings.Contains(text, "Your order first is ready for pickup.") || !strings.Contains(text, id) {
		t.Errorf("outbox show:\n%s", text)
	}
	s.operate("outbox", "show", "out_nonsense").refused(t, 1, "no message")
}

// An endpoint that a partner makes reaches no private address either, whatever name or way it has.
func TestEndpointsReachNothingPrivate(t *testing.T) {
	t.Parallel()
	s, to := newShop(t), newSink(t)
	_, c := s.serve()
	port := to.URL[strings.LastIndex(to.URL, ":"):]
	for i, target := range []string{to.URL + "/hook", "http://localhost" + port + "/hook", "http://[::ffff:127.0.0.1]" + port + "/hook", "http://0.0.0.0" + port + "/hook",
		"http://2130706433" + port + "/hook", "http://169.254.169.254/latest/meta-data"} {
		var made struct {
			Endpoint struct {
				ID string `json:"id"`
			} `json:"endpoint"`
		}
		c.must(201, post("/v1/webhook-endpoints", "", map[string]any{"url": target})).decode(t, &made)
		var tested struct {
			Delivered bool `json:"delivered"`
			Attempt   *struct {
				Error  string  `json:"error"`
				Answer *string `json:"answer"`
			} `json:"attempt"`
		}
		c.must(200, post("/v1/webhook-endpoints/"+made.Endpoint.ID+"/test", "", map[string]any{})).decode(t, &tested)
		if tested.Delivered || tested.Attempt == nil || tested.Attempt.Error == "" || tested.Attempt.Answer != nil {
			t.Errorf("%d, %s: %+v", i, target, tested.Attempt)
		}
	}
	if got := to.at("/hook"); len(got) != 0 {
		t.Errorf("a private address got %+v", got)
	}
}

// A partner's developer gets the events on localhost, also after a restart of the
// service.
func TestListen(t *testing.T) {
	t.Parallel()
	s, to := newShop(t), newSink(t)
	p, c := s.serve()
	c.must(201, report("before", "p1"))
	l := start(t, nil, "listen", "--forward-to", to.URL+"/local", "--key", s.partner.Keys.Live, "--url", c.base)
	secret := ""
	check.Eventually(t, patience, pollPause, "the secret", func() bool {
		secret = regexp.MustCompile(`whsec_\S+`).FindString(l.stderr.String())
		return secret != ""
	})
	c.must(201, report("first", "p1"))
	check.Eventually(t, patience, pollPause, "the first event", func() bool { return len(to.at("/local")) > 0 })
	p.stop()
	p = start(t, nil, "serve", "--database", s.url(), "--listen", strings.TrimPrefix(c.base, "http://"))
	p.ready(&p.stderr, servingLine)
	last := c.must(201, report("last", "p1")).orderID(t)
	var got []received
	check.Eventually(t, time.Minute, pollPause, "the last event", func() bool {
		got = to.at("/local")
		return got[len(got)-1].event.OrderID == last
	})
	events := c.events()
	for i, e := range events[len(events)-len(got):] {
		if got[i].body != e || got[i].header.Get("Webhook-Id") != got[i].event.ID {
			t.Errorf("forwarded %v %s\nwant %s", got[i].header, got[i].body, e)
		}
		signedWith(t, got[i], secret)
	}
	if len(got) >= len(events) {
		t.Error("an event from before it began was forwarded")
	}
	check.Eventually(t, patience, pollPause, "a line for each event", func() bool { return strings.Count(l.stdout.String(), "  200  ") == len(got) })
	l.stop()
	r := operate(t, "listen", "--forward-to", to.URL, "--key", "wrong", "--url", c.base)
	if r.refused(t, 1, "401"); strings.Contains(r.stderr, "go to") {
		t.Errorf("it began with a wrong key:\n%s", r.stderr)
	}
}

// Incomplete settings are refused before anything starts.
func TestOutboundConfiguration(t *testing.T) {
	t.Parallel()
	for flags, word := range map[string]string{
		"--smtp-host h":                                         "--smtp-from",
		"--smtp-from a@e.example":                               "--smtp-host",
		"--smtp-host h --smtp-from nobody":                      "nobody",
		"--smtp-host h --smtp-from a@e.example --smtp-user u":   "--smtp-password",
		"--twilio-account AC1":                                  "--twilio-token",
		"--twilio-account AC1 --twilio-token t --twilio-from x": "phone",
	} {
		operate(t, append([]string{"serve", "--listen", "127.0.0.1:0"}, strings.Fields(flags)...)...).refused(t, 1, word)
	}
}
