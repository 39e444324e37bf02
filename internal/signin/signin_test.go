package signin

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"purveyor/internal/env"

	"github.com/pquerna/otp/totp"
)

// TestPasswords: a password matches its own hash, and what is easily guessed is refused.
func TestPasswords(t *testing.T) {
	p, ctx := NewPasswords(env.Env{}), t.Context()
	const good = "rye and barley 7"
	hash, err := p.Hash(ctx, good)
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Fatalf("%s, %v", hash, err)
	}
	again, _ := p.Hash(ctx, good)
	if again == hash {
		t.Error("two hashes have one salt")
	}
	for _, c := range []struct {
		hash, password string
		want           bool
	}{{hash, good, true}, {hash, good + " ", false}, {hash, "", false}, {"", "", false}, {"", good, false}, {"$argon2id$x", good, false}, {hash, strings.Repeat("x", 1000), false}} {
		if ok, err := p.Matches(ctx, c.hash, c.password); ok != c.want || err != nil {
			t.Errorf("%q with %q: %v, %v", c.password, c.hash, ok, err)
		}
	}
	for _, bad := range []string{"", "short", "elevenchars", "passwordpassword", "aaaaaaaaaaaaaaaa", "123456789012", "qwertyuiop123", "administrator", "1q2w3e4r5t6y", strings.Repeat("1990", 64), strings.Repeat("long and safe ", 30)} {
		if hash, err := p.Hash(ctx, bad); err == nil {
			t.Errorf("%q is taken: %s", bad, hash)
		}
	}
	if _, err := p.Hash(ctx, "ann@bakery.example", "ann@bakery.example"); err == nil {
		t.Error("the e-mail address is taken as a password")
	}
}

// TestGuessed: what is tried first is refused, and what looks a little like it is not.
func TestGuessed(t *testing.T) {
	about := []string{"ann.miller@bakery.example", "Ann Miller"}
	for password, want := range map[string]bool{"passwordpassword": true, "Password-1234": true, "2026!sunshine!!": true, "aaaaaaaaaaaaaaaa": true, "abcabcabcabc": true,
		"123456789012": true, "mnopqrstuvwxyz": true, "0987654321098": true, "poiuytrewqpoi": true, "1q2w3e4r5t6y": true, "qwertyuiop123": true, "administrator": true,
		"ann.miller@bakery.example": true, "AnnMiller2026": true, "miller bakery ann 1": true,
		"rye and barley 7": false, "ann likes rye bread": false, "correct horse battery": false, "grün und blau": false, "password\nrye and": false, "7hT!m2qLx0Zr": false} {
		if got := guessed(password, about); got != want {
			t.Errorf("%q: %v", password, got)
		}
	}
	if n := strings.Count(commonest, "\n"); n != 10_000 || !strings.HasPrefix(commonest, "123456\n") || !strings.HasSuffix(commonest, "\n") {
		t.Errorf("%d common passwords", n)
	}
}

// TestBusy: two passwords are hashed at a time, a hundred wait, and the others are refused.
func TestBusy(t *testing.T) {
	p := NewPasswords(env.Env{})
	p.slots <- struct{}{}
	p.slots <- struct{}{}
	p.waiting.Store(2) // both are being hashed
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	errs := make(chan error, inLine+5)
	for range inLine + 5 {
		wg.Go(func() { _, err := p.Matches(ctx, "", "x"); errs <- err })
	}
	for range 5 {
		if err := <-errs; !errors.Is(err, ErrBusy) {
			t.Errorf("one too many: %v", err)
		}
	}
	cancel() // the callers have gone
	wg.Wait()
	for range inLine {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("one that waited: %v", err)
		}
	}
	if n := p.waiting.Load(); n != 2 {
		t.Errorf("%d wait", n)
	}
}

// TestCodes: a code is known for three steps, and a recovery code as it was typed.
func TestCodes(t *testing.T) {
	secret, now := NewSecret(env.Env{}), time.Unix(1_800_000_015, 0)
	step := now.Unix() / period
	for shift := int64(-2); shift <= 2; shift++ {
		code, err := totp.GenerateCode(secret, time.Unix((step+shift)*period, 0))
		if err != nil {
			t.Fatal(err)
		}
		want := step + shift
		if shift < -1 || shift > 1 {
			want = 0
		}
		if got := Step(secret, code[:3]+" "+code[3:], now); got != want {
			t.Errorf("the code of step %+d is of step %d", shift, got-step)
		}
	}
	if Step(secret, "", now) != 0 || Step("", "000000", now) != 0 {
		t.Error("no code is a code")
	}
	codes, digests := RecoveryCodes(env.Env{})
	if len(codes) != 10 || RecoveryDigest(" "+strings.ToUpper(codes[3])) != digests[3] || RecoveryDigest(codes[3]) == digests[4] {
		t.Errorf("%v, %v", codes, digests)
	}
	if url := KeyURL(secret, "Purveyor", "a@e.example"); !strings.Contains(url, "secret="+secret) || len(Picture(url)) < 21 {
		t.Errorf("%s", url)
	}
}
