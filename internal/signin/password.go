// Package signin has the means to sign people in: hashes of passwords, and codes of second
// factors.
package signin

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"purveyor/internal/commerce"
	"purveyor/internal/env"

	"golang.org/x/crypto/argon2"
)

// The cost of a hash, as RFC 9106 and OWASP recommend where memory is short.
const (
	memoryKiB = 19 << 10
	passes    = 2
	threads   = 1
	saltBytes = 16
	hashBytes = 32
)

// Bounds of the work that passwords make.
const (
	atOnce  = 2   // hashes that are made at a time: each takes 19 MiB
	inLine  = 100 // that wait
	longest = 256 // bytes of a password
)

// ErrBusy refuses a password when too many others wait to be hashed.
var ErrBusy = errors.New("too many passwords are being checked")

// Passwords hashes passwords, a few at a time. Make it with NewPasswords.
type Passwords struct {
	env     env.Env
	slots   chan struct{}
	waiting atomic.Int64
}

// NewPasswords makes a Passwords.
func NewPasswords(e env.Env) *Passwords {
	return &Passwords{env: e, slots: make(chan struct{}, atOnce)}
}

// Hash returns the argon2id hash of a new password in the PHC string format. It refuses a
// password that is too short or too common (400).
func (p *Passwords) Hash(ctx context.Context, password string, about ...string) (string, error) {
	if err := check(password, about); err != nil {
		return "", err
	}
	salt := make([]byte, saltBytes)
	p.env.Read(salt)
	sum, err := p.sum(ctx, password, salt)
	if err != nil {
		return "", err
	}
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("%s%s$%s", prefix, encode(salt), encode(sum)), nil
}

var prefix = fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$", argon2.Version, memoryKiB, passes, threads)

// Matches reports whether a password has this hash. Without a hash it does the same work, so that
// the time does not tell whether there is a user.
func (p *Passwords) Matches(ctx context.Context, hash, password string) (bool, error) {
	salt, want, known := parse(hash)
	if !known {
		salt, want = make([]byte, saltBytes), make([]byte, hashBytes)
	}
	if len(password) > longest {
		password = ""
	}
	sum, err := p.sum(ctx, password, salt)
	return err == nil && known && subtle.ConstantTimeCompare(sum, want) == 1, err
}

func parse(hash string) (salt, sum []byte, ok bool) {
	rest, ok := strings.CutPrefix(hash, prefix)
	saltText, sumText, found := strings.Cut(rest, "$")
	if !ok || !found {
		return nil, nil, false
	}
	salt, saltErr := base64.RawStdEncoding.DecodeString(saltText)
	sum, sumErr := base64.RawStdEncoding.DecodeString(sumText)
	return salt, sum, saltErr == nil && sumErr == nil && len(sum) == hashBytes
}

// sum waits for its turn.
func (p *Passwords) sum(ctx context.Context, password string, salt []byte) ([]byte, error) {
	if p.waiting.Add(1) > inLine+atOnce {
		p.waiting.Add(-1)
		return nil, ErrBusy
	}
	defer p.waiting.Add(-1)
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-p.slots }()
	sum := argon2.IDKey([]byte(password), salt, passes, memoryKiB, threads, hashBytes)
	runtime.GC() // the next hash uses the memory of this one, instead of more: a hundred may wait, or come soon
	return sum, nil
}

// Shortest is how many characters a password must have.
const Shortest = 12

// check refuses passwords that are easily guessed, also from what else is known of the user.
func check(password string, about []string) error {
	switch {
	case utf8.RuneCountInString(password) < Shortest:
		return commerce.Invalid("password", "The password must have at least %d characters", Shortest)
	case len(password) > longest:
		return commerce.Invalid("password", "The password must have at most %d bytes", longest)
	case guessed(password, about):
		return commerce.Invalid("password", "This password is easily guessed; choose another one")
	}
	return nil
}
