package courier

import (
	"context"
	"errors"
	"slices"
	"strings"

	"purveyor/internal/commerce"
)

// The tags by which the second line of the drop-off address asks the sandbox to
// misbehave. They follow "sandbox:" and are separated by '.' or ','. docs/SANDBOX.md
// says what each of them does.
const (
	tagOutOfZone     = "out-of-zone"
	tagNoCouriers    = "no-couriers"
	tagBadAddress    = "bad-address"
	tagQuoteExpired  = "quote-expired"
	tagUnreachable   = "unreachable"
	tagSlow          = "slow"
	tagLimited       = "limited"
	tagCancel        = "cancel"
	tagCancelAlways  = "cancel-always"
	tagCancelLater   = "cancel-later"
	tagReturn        = "return"
	tagTwice         = "twice"
	tagLate          = "late"
	tagUnordered     = "unordered"
	tagSkipPickup    = "skip-pickup"
	tagUncancellable = "uncancellable"
	tagNeverAssigned = "never-assigned"
)

// tags are the misbehaviours that an address asks for.
type tags []string

const tagMark = "sandbox:"

func tagsOf(r QuoteRequest) tags {
	_, text, found := strings.Cut(strings.ToLower(r.Dropoff.Address.Line2), tagMark)
	if !found {
		return nil
	}
	if end := strings.IndexAny(text, " \t"); end >= 0 {
		text = text[:end]
	}
	return strings.FieldsFunc(text, func(c rune) bool { return c == '.' || c == ',' })
}

func (t tags) has(tag string) bool { return slices.Contains(t, tag) }

// attempt returns the tags that apply to this attempt at delivering an order: cancel
// applies to the first, cancel-always to each. It leaves out what earlier attempts
// have done.
func (t tags) attempt(ref string) tags {
	_, attempt, ok := commerce.ParseDeliveryRef(ref)
	var kept tags
	for _, tag := range t {
		switch tag {
		case tagCancel:
			if !ok || attempt == 1 {
				kept = append(kept, tagCancelAlways)
			}
		case tagCancelAlways, tagCancelLater, tagReturn, tagTwice, tagLate, tagUnordered, tagSkipPickup, tagUncancellable, tagNeverAssigned:
			kept = append(kept, tag)
		}
	}
	return kept
}

// misbehave does to a call what the address asks for.
func (s *Sandbox) misbehave(ctx context.Context, asked tags) error {
	if asked.has(tagSlow) {
		if err := s.Env.Sleep(ctx, slowness); err != nil {
			return err
		}
	}
	switch {
	case asked.has(tagUnreachable):
		return errors.New("the sandbox is unreachable, as the address asks")
	case asked.has(tagLimited):
		return &Limited{RetryAfter: retryAfter}
	case asked.has(tagOutOfZone):
		return &Refusal{OutOfZone, "The sandbox does not deliver there, as the address asks."}
	case asked.has(tagNoCouriers):
		return &Refusal{NoCouriers, "No courier of the sandbox is free, as the address asks."}
	case asked.has(tagBadAddress):
		return &Refusal{BadAddress, "The sandbox does not know the address, as it asks for."}
	}
	return nil
}
