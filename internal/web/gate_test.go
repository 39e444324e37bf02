package web

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
)

// keyOf returns the key with this name.
func keyOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return commerce.Live.NewKey([20]byte(sum[:20]))
}

// keys is a KeyFinder whose answers a test can change.
type keys struct {
	mu       sync.Mutex
	partners map[string]commerce.Partner // by the name of the key; all keys are live
	limits   map[string]commerce.APIKey  // by the name of the key: what restricts it
	uses     []commerce.Millis
	err      error
	asked    int
}

func (k *keys) Used(_ commerce.APIKey, minute commerce.Millis) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.uses = append(k.uses, minute)
}

func (k *keys) FindKey(_ context.Context, hash commerce.KeyHash) (commerce.Partner, commerce.APIKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked++
	if k.err != nil {
		return commerce.Partner{}, commerce.APIKey{}, k.err
	}
	for name, p := range k.partners {
		if commerce.HashKey(keyOf(name)) == hash {
			key := k.limits[name]
			key.ID, key.PartnerID, key.Mode = "key_"+name, p.ID, commerce.Live
			return p, key, nil
		}
	}
	return commerce.Partner{}, commerce.APIKey{}, ErrNoKey
}

type gateTest struct {
	*Gate
	keys  *keys
	rates *rates
	now   time.Time
}

func newGateTest() *gateTest {
	g := &gateTest{now: at(0), rates: newRates(), keys: &keys{partners: map[string]commerce.Partner{
		"good": {ID: "ptn_good", RateLimit: 1000}, "other": {ID: "ptn_other", RateLimit: 2}}}}
	g.Gate = NewGate(env.Env{}, g.keys, g.rates, func() time.Time { return g.now })
	return g
}

// knock returns the status of the refusal, or 0 if the request is admitted.
func (g *gateTest) knock(key, address string) int {
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = address + ":1234"
	if key != "" {
		r.Header["X-Api-Key"] = []string{keyOf(key)}
	}
	_, err := g.Admit(&Writer{ResponseWriter: httptest.NewRecorder()}, r)
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Status
	}
	if err != nil {
		return http.StatusInternalServerError
	}
	return 0
}

func (g *gateTest) set(key string, change func(*commerce.Partner)) {
	p := g.keys.partners[key]
	change(&p)
	g.keys.partners[key] = p
}

// A suspended partner or a rotated key stops within two seconds, and works
// again at once when the suspension is lifted.
func TestGateFreshness(t *testing.T) {
	g := newGateTest()
	want := func(status int, when string) {
		t.Helper()
		if got := g.knock("good", "10.0.0.1"); got != status {
			t.Errorf("%s: %d, want %d", when, got, status)
		}
	}
	want(0, "at first")
	g.set("good", func(p *commerce.Partner) { p.Suspended = true })
	g.now = g.now.Add(2 * time.Second)
	want(401, "two seconds after it was suspended")
	g.set("good", func(p *commerce.Partner) { p.Suspended = false })
	want(0, "as soon as it is let in again")
	delete(g.keys.partners, "good")
	g.now = g.now.Add(2 * time.Second)
	want(401, "two seconds after the key was rotated")
}

// A key is looked up once in two seconds.
func TestGateRemembers(t *testing.T) {
	g := newGateTest()
	for range 100 {
		g.knock("good", "10.0.0.1")
	}
	if g.keys.asked != 1 {
		t.Errorf("looked up %d times", g.keys.asked)
	}
	g.now = g.now.Add(1999 * time.Millisecond)
	g.knock("good", "10.0.0.1")
	g.now = g.now.Add(time.Millisecond)
	g.knock("good", "10.0.0.1")
	if g.keys.asked != 2 {
		t.Errorf("looked up %d times", g.keys.asked)
	}
}

// A new rate limit takes effect within two seconds.
func TestGateLearnsLimits(t *testing.T) {
	g := newGateTest()
	statuses := []int{g.knock("other", "a"), g.knock("other", "a"), g.knock("other", "a")}
	g.set("other", func(p *commerce.Partner) { p.RateLimit = 3 })
	g.now = g.now.Add(2 * time.Second)
	statuses = append(statuses, g.knock("other", "a"), g.knock("other", "a"))
	if fmt.Sprint(statuses) != "[0 0 429 0 429]" {
		t.Errorf("%v", statuses)
	}
}

// Wrong keys are limited per address; a good key from the same address passes.
func TestGateWrongKeys(t *testing.T) {
	g := newGateTest()
	for i := range wrongKeysPerMinute {
		key := fmt.Sprint("wrong", i)
		if i%2 == 0 {
			key = "" // a missing key counts as a wrong one
		}
		if got := g.knock(key, "10.0.0.1"); got != 401 {
			t.Fatalf("wrong key %d: %d", i, got)
		}
	}
	if got := g.knock("wrong", "10.0.0.1"); got != 429 {
		t.Errorf("beyond the limit: %d", got)
	}
	if got := g.knock("good", "10.0.0.1"); got != 0 {
		t.Errorf("a good key from that address: %d", got)
	}
	g.now = g.now.Add(3 * time.Second) // the good key is looked up again
	if got := g.knock("good", "10.0.0.1"); got != 0 {
		t.Errorf("a good key from that address, later: %d", got)
	}
	if got := g.knock("wrong", "10.0.0.2"); got != 401 {
		t.Errorf("another address: %d", got)
	}
	g.now = g.now.Add(time.Minute)
	if got := g.knock("wrong", "10.0.0.1"); got != 401 {
		t.Errorf("the next minute: %d", got)
	}
}

// While keys cannot be looked up, no key is called wrong, and known keys are not used
// longer than usual.
func TestGateWithoutStorage(t *testing.T) {
	g := newGateTest()
	g.knock("good", "a")
	g.keys.err = errors.New("gone")
	if got := g.knock("good", "a"); got != 0 {
		t.Errorf("within its time: %d", got)
	}
	g.now = g.now.Add(2 * time.Second)
	if got := g.knock("good", "a"); got != 500 {
		t.Errorf("beyond its time: %d", got)
	}
	g.keys.err = nil
	if got := g.knock("good", "a"); got != 0 {
		t.Errorf("when it is back: %d", got)
	}
}

// The memory of the gate is bounded by the number of partners, not of callers.
func TestGateMemory(t *testing.T) {
	g := newGateTest()
	for i := range 1000 {
		g.knock(fmt.Sprint("wrong", i), "a")
	}
	g.knock("good", "a")
	if len(g.known) != 1 {
		t.Errorf("%d keys are remembered", len(g.known))
	}
	for i := range maxWrong {
		g.knock(fmt.Sprint("more", i), "a")
	}
	if len(g.wrong) > maxWrong {
		t.Errorf("%d wrong keys are remembered", len(g.wrong))
	}
}

// A text that is not in the form of a key is refused without a lookup, and so is a
// wrong key that was looked up moments ago.
func TestGateRefusesUnread(t *testing.T) {
	g := newGateTest()
	good := keyOf("good")
	for _, bad := range [][]string{nil, {""}, {"sk_live_"}, {good + "a"}, {good[:len(good)-1]}, {strings.ToUpper(good)}, {"sk_demo_" + good[8:]},
		{good[:len(good)-1] + "1"}, {good[:len(good)-1] + "="}, {strings.Repeat("k", 10_000)}, {good, good}} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header["X-Api-Key"] = bad
		if _, err := g.Caller(r); !errors.Is(err, ErrNoKey) || g.keys.asked != 0 {
			t.Fatalf("%.60q: %v, %d look-ups", bad, err, g.keys.asked)
		}
	}
	for range 3 {
		if got := g.knock("nobody", "10.0.0.1"); got != 401 || g.keys.asked != 1 {
			t.Errorf("%d, %d look-ups", got, g.keys.asked)
		}
	}
	g.keys.partners["nobody"] = commerce.Partner{ID: "ptn_new", RateLimit: 10}
	g.now = g.now.Add(keyFreshness)
	if got := g.knock("nobody", "10.0.0.1"); got != 0 {
		t.Errorf("once its key was made: %d", got)
	}
}

// Beyond its limit, an address has the database look up one unknown key at a time.
func TestGateLooksUpOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateTest()
		g.knock("good", "10.0.0.1")
		for i := range wrongKeysPerMinute {
			g.knock(fmt.Sprint("wrong", i), "10.0.0.1")
		}
		finder := &slowFinder{KeyFinder: g.keys}
		g.finder = finder
		g.now = g.now.Add(keyFreshness)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() { g.knock(fmt.Sprint("more", i), "10.0.0.1") })
			wg.Go(func() { g.knock("other", "10.0.0.1") })
		}
		wg.Wait()
		if finder.most != 1 {
			t.Errorf("%d look-ups at a time for strangers", finder.most)
		}
		wg.Go(func() { g.knock("more", "10.0.0.1") })
		wg.Go(func() { g.knock("good", "10.0.0.1") }) // a known key does not wait
		wg.Wait()
		if finder.most != 2 {
			t.Errorf("%d look-ups at a time for a stranger and a partner", finder.most)
		}
	})
}

// slowFinder takes a second per call, and counts its callers.
type slowFinder struct {
	KeyFinder
	mu        sync.Mutex
	now, most int
}

func (f *slowFinder) FindKey(ctx context.Context, hash commerce.KeyHash) (commerce.Partner, commerce.APIKey, error) {
	f.mu.Lock()
	f.now++
	f.most = max(f.most, f.now)
	f.mu.Unlock()
	time.Sleep(time.Second) // by the clock of the synctest bubble
	f.mu.Lock()
	f.now--
	f.mu.Unlock()
	return f.KeyFinder.FindKey(ctx, hash)
}

// The message says whether the key is missing, wrong or in another header.
func TestUnauthorizedTellsWhatToDo(t *testing.T) {
	for want, h := range map[string]http.Header{
		"Missing x-api-key: send the key in this header":                                {},
		"Missing x-api-key: send the key in the header x-api-key, not in Authorization": {"Authorization": {"Bearer " + keyOf("good")}},
		"Invalid x-api-key": {"X-Api-Key": {"wrong"}, "Authorization": {"Basic x"}},
		"Invalid x-api-key: the header was sent more than once": {"X-Api-Key": {"a", "a"}},
	} {
		if err, ok := unauthorized(h).(*Error); !ok || err.Message != want || err.Status != 401 || err.Code != "unauthorized" {
			t.Errorf("%v: %+v, want %s", h, err, want)
		}
	}
}

func TestGateTellsTheCaller(t *testing.T) {
	g := newGateTest()
	r := httptest.NewRequest("GET", "/", nil)
	r.Header["X-Api-Key"] = []string{keyOf("good")}
	w := &Writer{ResponseWriter: httptest.NewRecorder()}
	caller, err := g.Admit(w, r)
	if err != nil || caller.Partner.ID != "ptn_good" || caller.Mode != commerce.Live || w.Partner != "ptn_good" || w.Header().Get("RateLimit-Limit") != "1000" {
		t.Errorf("%v %v %v", caller, err, w.Header())
	}
}

// A key ends at its time, not two seconds later; one that may be used from some addresses
// is refused from others (403), which counts as a request. Each minute of use is noted once.
func TestGateKnowsItsKeys(t *testing.T) {
	g := newGateTest()
	g.keys.limits = map[string]commerce.APIKey{"good": {ExpiresOn: commerce.MillisOf(at(0).Add(90 * time.Second)), Addresses: []string{"10.0.0.0/8"}}}
	for _, c := range []struct {
		when    time.Duration
		address string
		want    int
	}{
		{0, "10.0.0.1", 0}, {time.Second, "10.1.2.3", 0}, {time.Second, "192.0.2.1", 403}, {61 * time.Second, "10.0.0.1", 0},
		{89*time.Second + 900*time.Millisecond, "10.0.0.1", 0}, {90 * time.Second, "10.0.0.1", 401},
	} {
		g.now = at(0).Add(c.when)
		if got := g.knock("good", c.address); got != c.want {
			t.Errorf("after %v from %s: %d, want %d", c.when, c.address, got, c.want)
		}
	}
	first := commerce.MillisOf(at(0).Truncate(time.Minute))
	if got, want := g.keys.uses, []commerce.Millis{first, first.Add(time.Minute)}; !slices.Equal(got, want) {
		t.Errorf("noted %v, want %v", got, want)
	}
}
