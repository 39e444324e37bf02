package simulation

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/testkit/fixture"
)

// keys are those of a partner and mode, as the partner knows them.
type keys struct {
	now, id string
	before  string    // also works until till; empty: it is not used any more
	till    time.Time // the end of before
}

func newKeys(partnerID string) map[commerce.Mode]*keys {
	of := map[commerce.Mode]*keys{}
	for _, mode := range []commerce.Mode{commerce.Live, commerce.Test} {
		of[mode] = &keys{now: fixture.Key(partnerID, mode), id: fixture.KeyID(partnerID, mode)}
	}
	return of
}

// key is the one that a system of the partner calls with: while a key is replaced, some still have
// the old one.
func (p *partner) key(mode commerce.Mode) string {
	k := p.keys[mode]
	if k.before != "" && p.w.env.Now().Before(k.till.Add(-grace)) && p.w.lot(2) == 0 {
		return k.before
	}
	return k.now
}

// keyLife is within what time a key that is over is refused by every process (README), with some
// time for clocks that do not agree.
const keyLife = 5*time.Second + uneven

// changeKeys has an operator replace keys of partners now and then. Of those that go on working for a
// while, some are revoked before that is over.
func (w *world) changeKeys() {
	if w.parallel() { // where the outside is in a hurry
		return
	}
	for n := 1; w.goesOn(20*time.Minute, 2*time.Hour); n++ {
		p, mode := w.partners[w.lot(len(w.partners))], []commerce.Mode{commerce.Live, commerce.Test}[w.lot(2)]
		overlap := []time.Duration{0, 10 * time.Minute, time.Hour}[w.lot(3)]
		old := p.keys[mode].now
		p.turning++
		p.replaceKey(n, mode, overlap)
		p.turned = w.env.Now()
		p.turning--
		k := p.keys[mode]
		p.knock(mode, k.now, true)
		if overlap > 0 && w.lot(2) == 0 {
			w.sleep(w.between(0, overlap/2))
			p.turning++
			k.before = ""
			p.revokeKey(k)
			p.turned = w.env.Now()
			p.turning--
			k.till = w.env.Now()
		}
		w.sleep(max(0, w.env.Until(k.till)) + keyLife)
		k.before = ""
		for range 2 * w.Processes {
			p.knock(mode, old, false)
		}
	}
}

// replaceKey replaces the key of a mode.
func (p *partner) replaceKey(n int, mode commerce.Mode, overlap time.Duration) {
	w, k := p.w, p.keys[mode]
	var made service.RotatedKey
	in := service.RotateKey{PartnerID: p.id, KeyID: k.id, Overlap: overlap, Draw: fmt.Sprintf("the key with the number %10d of %s", n, p.id)}
	status, code, again := w.act("replace a key of "+p.id, func(ctx context.Context, uses *service.Service) (err error) {
		made, err = uses.RotateKey(ctx, operator, in)
		return err
	})
	if status != http.StatusOK && !again {
		w.broke("a key of %s was not replaced: %s", p.id, code)
	}
	list, err := w.reader.APIKeys(context.Background(), p.id)
	next := &keys{now: made.Value, before: k.now}
	for _, other := range list {
		if other.ID == k.id {
			next.till = other.ExpiresOn.Time()
		}
		if other.Replaces == k.id {
			next.id = other.ID
		}
	}
	if err != nil || next.id == "" || next.till.Sub(w.env.Now()) > overlap+grace {
		w.broke("the key %s of %s was replaced for %v, and the keys are %s: %v", k.id, p.id, overlap, told(list), err)
		return
	}
	p.former, p.keys[mode] = k.id, next
}

// revokeKey revokes the key that was replaced.
func (p *partner) revokeKey(k *keys) {
	status, code, _ := p.w.act("revoke a key of "+p.id, func(ctx context.Context, uses *service.Service) error {
		_, err := uses.RevokeKey(ctx, operator, p.id, p.former)
		return err
	})
	if status != http.StatusOK {
		p.w.broke("the key %s of %s was not revoked: %s", p.former, p.id, code)
	}
}

// knock makes a call with a key, which is to work or not.
func (p *partner) knock(mode commerce.Mode, key string, works bool) {
	w := p.w
	sure := w.steady() && (!works || !p.suspended && w.env.Since(p.until) > time.Minute)
	status, answer := p.tryWith(key, request{mode: mode, method: http.MethodGet, path: "/v1/health"})
	if sure && (works && status == http.StatusUnauthorized || !works && status == http.StatusOK) {
		w.broke("a call of %s with a key that works: %v, was answered %d %s", p.id, works, status, answer)
	}
}
