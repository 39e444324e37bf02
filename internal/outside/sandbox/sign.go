package sandbox

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// SignatureHeader carries the signature of a callback:
//
//	Sandbox-Signature: t=<Unix seconds>,v1=<hex HMAC-SHA256 over "t.body">
const SignatureHeader = "Sandbox-Signature"

// Tolerance is how far the time of a signature may be from now.
const Tolerance = 5 * time.Minute

// ErrSignature says that a callback is not, or not lately, signed by a sandbox
// of this database.
var ErrSignature = errors.New("the sandbox signature is not right")

// Signer signs callbacks, and tells signed ones from others. All processes on
// one database share its secret, which is a sandbox object and made by the
// first that needs it.
//
// Whoever delivers a stored Callback calls Sign with its body at each try, so
// that the signature is fresh however late the try is, and sends the result
// as SignatureHeader.
type Signer struct {
	objects Objects
	secret  atomic.Pointer[[]byte] // nil: not read yet; it never changes
}

// NewSigner makes a signer. It reads or makes its secret when first used.
func NewSigner(objects Objects) *Signer { return &Signer{objects: objects} }

// Sign gives the value of SignatureHeader for a body that is sent now.
func (s *Signer) Sign(ctx context.Context, now time.Time, body []byte) (string, error) {
	secret, err := s.key(ctx)
	if err != nil {
		return "", err
	}
	t := strconv.FormatInt(now.Unix(), 10)
	return "t=" + t + ",v1=" + hex.EncodeToString(signature(secret, t, body)), nil
}

// Verify gives ErrSignature, with a reason, unless the header was made for this
// body by Sign, within the Tolerance. Any other error says that the secret
// cannot be read.
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
	for _, given := range signatures {
		if !hmac.Equal(given, want) {
			continue
		}
		if distance := now.Sub(time.Unix(at, 0)); distance > Tolerance || distance < -Tolerance {
			return fmt.Errorf("%w: it is of another time, %d", ErrSignature, at)
		}
		return nil
	}
	return fmt.Errorf("%w: it is not of this body", ErrSignature)
}

// ID is a prefix and 40 hexadecimal digits: the same for the same name, and
// without the secret impossible to guess.
func (s *Signer) ID(ctx context.Context, prefix, name string) (string, error) {
	secret, err := s.key(ctx)
	if err != nil {
		return "", err
	}
	// No signed text begins so: a time does.
	return prefix + hex.EncodeToString(mac(secret, "id "+prefix+" ", []byte(name))[:20]), nil
}

// parse takes t=...,v1=...,v1=... apart.
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

// key reads the secret, or makes it. Of several processes that make one at the
// same time one succeeds, and all read what that one has stored.
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
	if err := json.Unmarshal(object.Data, &data); err != nil || len(data.Secret) < sha256.Size {
		return nil, errors.New("the secret of the sandboxes is not stored as it should be")
	}
	s.secret.Store(&data.Secret)
	return data.Secret, nil
}

func (s *Signer) makeKey(ctx context.Context) error {
	secret := make([]byte, sha256.Size)
	_, _ = rand.Read(secret) // never fails
	data, err := json.Marshal(secretData{secret})
	if err != nil {
		return err
	}
	if err := s.objects.PutObject(ctx, Object{ID: secretID, Data: data}); !errors.Is(err, ErrChanged) {
		return err
	}
	return nil
}
