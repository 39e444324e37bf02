package sandbox

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"purveyor/internal/env"
)

// SignatureHeader carries the signature of a callback:
//
//	Sandbox-Signature: t=<Unix seconds>,v1=<hex HMAC-SHA256 over "t.body">
const SignatureHeader = "Sandbox-Signature"

// Tolerance is the largest difference between the time of a signature and now.
const Tolerance = 5 * time.Minute

// ErrSignature means that a callback was not signed by a sandbox of this database, or
// too long ago.
var ErrSignature = errors.New("the sandbox signature is not right")

// Signer signs callbacks and verifies signatures. All processes on one database share
// its secret, which is a sandbox object and is created on first use.
//
// The sender of a stored Callback calls Sign with its body for each attempt, so that
// the signature is fresh however late the attempt is, and sends the result as
// SignatureHeader.
type Signer struct {
	env     env.Env
	objects Objects
	secret  atomic.Pointer[[]byte] // nil: not read yet; it never changes
}

// NewSigner makes a signer. It reads or creates its secret on first use.
func NewSigner(e env.Env, objects Objects) *Signer { return &Signer{env: e, objects: objects} }

// Sign returns the value of SignatureHeader for a body that is sent now.
func (s *Signer) Sign(ctx context.Context, now time.Time, body []byte) (string, error) {
	secret, err := s.key(ctx)
	if err != nil {
		return "", err
	}
	t := strconv.FormatInt(now.Unix(), 10)
	return "t=" + t + ",v1=" + hex.EncodeToString(signature(secret, t, body)), nil
}

// Verify returns ErrSignature, with a reason, unless Sign made the header for this
// body within the Tolerance. After any other error the secret could not be read.
func (s *Signer) Verify(ctx context.Context, now time.Time, header string, body []byte) error {
	t, signatures := parse(header)
	at, err := strconv.ParseInt(t, 10, 64)
	if err != nil || len(signatures) == 0 {
		return fmt.Errorf("%w: there is none of the form t=1,v1=00", ErrSignature)
	}
	secret, err := s.key(ctx)
	if err != nil {
		return err
	}
	want := signature(secret, t, body)
	switch {
	case !slices.ContainsFunc(signatures, func(given []byte) bool { return hmac.Equal(given, want) }):
		return fmt.Errorf("%w: it is not of this body", ErrSignature)
	case now.Sub(time.Unix(at, 0)).Abs() > Tolerance:
		return fmt.Errorf("%w: it is of another time, %d", ErrSignature, at)
	}
	return nil
}

// ID returns a prefix and 40 hexadecimal digits. The same name gives the same id,
// which cannot be guessed without the secret.
func (s *Signer) ID(ctx context.Context, prefix, name string) (string, error) {
	secret, err := s.key(ctx)
	if err != nil {
		return "", err
	}
	// Signed texts begin with a time, never with "id ".
	return prefix + hex.EncodeToString(mac(secret, "id "+prefix+" ", []byte(name))[:20]), nil
}

// parse splits t=...,v1=...,v1=....
func parse(header string) (t string, signatures [][]byte) {
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "t":
			t = value
		case "v1":
			if sum, err := hex.DecodeString(value); err == nil {
				signatures = append(signatures, sum)
			}
		}
	}
	return t, signatures
}

func signature(secret []byte, t string, body []byte) []byte { return mac(secret, t+".", body) }

func mac(secret []byte, start string, rest []byte) []byte {
	m := hmac.New(sha256.New, secret)
	m.Write([]byte(start))
	m.Write(rest)
	return m.Sum(nil)
}

const secretID = "secret"

type secretData struct {
	Secret []byte `json:"secret"`
}

// key reads the secret, or creates it. If several processes create it at once, one
// succeeds, and all use that one.
func (s *Signer) key(ctx context.Context) ([]byte, error) {
	if secret := s.secret.Load(); secret != nil {
		return *secret, nil
	}
	object, err := s.objects.Object(ctx, secretID)
	if errors.Is(err, ErrNoObject) {
		if err = s.makeKey(ctx); err == nil {
			object, err = s.objects.Object(ctx, secretID)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the secret of the sandboxes: %w", err)
	}
	var data secretData
	if err := Decode(object.Data, &data); err != nil || len(data.Secret) < sha256.Size {
		return nil, errors.New("the stored secret of the sandboxes is invalid")
	}
	s.secret.Store(&data.Secret)
	return data.Secret, nil
}

func (s *Signer) makeKey(ctx context.Context) error {
	secret := make([]byte, sha256.Size)
	s.env.Read(secret)
	data, err := Encode(secretData{secret})
	if err != nil {
		return err
	}
	if err := s.objects.PutObject(ctx, Object{ID: secretID, Data: data}); !errors.Is(err, ErrChanged) {
		return err
	}
	return nil
}
