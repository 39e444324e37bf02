package sandbox_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"purveyor/internal/env"
	"purveyor/internal/outside/sandbox"
	"purveyor/internal/testkit/fakesandbox"
)

var now = time.Unix(1_800_000_000, 0)

// TestEncode: text that is no UTF-8 is mended, nothing of it is lost that is, and fields of other
// builds are no error.
func TestEncode(t *testing.T) {
	type stored struct {
		Text string
		List []string
	}
	data, err := sandbox.Encode(stored{Text: "a\xff<é"})
	var x stored
	if err == nil {
		err = sandbox.Decode(data, &x)
	}
	if err != nil || x.Text != "a\ufffd<é" || len(x.List) > 0 {
		t.Errorf("%+v of %s: %v", x, data, err)
	}
	if err := sandbox.Decode([]byte(`{"Text":"b","List":null,"Later":{"a":1}}`), &x); err != nil || x.Text != "b" {
		t.Errorf("what another build has stored: %+v, %v", x, err)
	}
}

func sign(t *testing.T, s *sandbox.Signer, at time.Time, body string) string {
	t.Helper()
	header, err := s.Sign(t.Context(), at, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return header
}

func TestVerify(t *testing.T) {
	objects := &fakesandbox.Objects{}
	signer := sandbox.NewSigner(env.Env{}, objects)
	good := sign(t, signer, now, "body")
	other := sign(t, sandbox.NewSigner(env.Env{}, &fakesandbox.Objects{}), now, "body")
	_, sum, _ := strings.Cut(good, ",")
	for _, c := range []struct {
		name, header, body string
		at                 time.Time
		ok                 bool
	}{
		{"good", good, "body", now, true},
		{"at the end of the tolerance", good, "body", now.Add(sandbox.Tolerance), true},
		{"old", good, "body", now.Add(sandbox.Tolerance + time.Second), false},
		{"from the future", good, "body", now.Add(-sandbox.Tolerance - time.Second), false},
		{"another body", good, "bodY", now, false},
		{"another secret", other, "body", now, false},
		{"the second of two signatures", "v1=00," + good, "body", now, true},
		{"another time", "t=1800000001," + sum, "body", now, false},
		{"a dot moved", "t=180000000" + "," + sum, "0.body", now, false},
		{"no time", sum, "body", now, false},
		{"no signature", "t=1800000000", "body", now, false},
		{"not hexadecimal", "t=1800000000,v1=zz", "body", now, false},
		{"empty", "", "body", now, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			// Another process reads the secret that the first one has created.
			err := sandbox.NewSigner(env.Env{}, objects).Verify(t.Context(), c.at, c.header, []byte(c.body))
			if c.ok && err != nil || !c.ok && !errors.Is(err, sandbox.ErrSignature) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestIDsAreStable(t *testing.T) {
	objects := &fakesandbox.Objects{}
	id := func(objects sandbox.Objects, prefix, name string) string {
		id, err := sandbox.NewSigner(env.Env{}, objects).ID(t.Context(), prefix, name)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := id(objects, "cs_test_", "ord_1")
	if len(first) != 48 || !strings.HasPrefix(first, "cs_test_") {
		t.Errorf("got %s", first)
	}
	if again := id(objects, "cs_test_", "ord_1"); again != first {
		t.Errorf("got %s, then %s", first, again)
	}
	for _, other := range []string{id(objects, "cs_test_", "ord_2"), id(objects, "cs_", "test_ ord_1"), id(&fakesandbox.Objects{}, "cs_test_", "ord_1")} {
		if other == first {
			t.Errorf("%s stands for two things", first)
		}
	}
}

// TestOneSecret checks that processes that start at the same time agree on a secret.
func TestOneSecret(t *testing.T) {
	objects := &fakesandbox.Objects{}
	headers := make([]string, 16)
	var all sync.WaitGroup
	for i := range headers {
		all.Go(func() { headers[i] = sign(t, sandbox.NewSigner(env.Env{}, objects), now, "body") })
	}
	all.Wait()
	for _, header := range headers {
		if header != headers[0] {
			t.Fatalf("two secrets: %s, %s", header, headers[0])
		}
	}
	if _, puts := objects.Calls(); puts == 0 {
		t.Error("the secret is not stored")
	}
}

// TestSecretThatCannotBeStored checks that an error of storage is not reported as a
// wrong signature.
func TestSecretThatCannotBeStored(t *testing.T) {
	broken := errors.New("disk full")
	failures := 1
	objects := &fakesandbox.Objects{BeforePut: func(sandbox.Object) error {
		if failures--; failures >= 0 {
			return broken
		}
		return nil
	}}
	signer := sandbox.NewSigner(env.Env{}, objects)
	if err := signer.Verify(context.Background(), now, "t=1,v1=00", nil); !errors.Is(err, broken) || errors.Is(err, sandbox.ErrSignature) {
		t.Errorf("got %v", err)
	}
	sign(t, signer, now, "body")
}
