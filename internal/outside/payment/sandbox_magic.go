package payment

import (
	"slices"
	"strings"
)

// The tags by which a customer's e-mail address asks the sandbox to misbehave. They
// follow a '+' in its local part and are separated by '.'. docs/SANDBOX.md says what
// each of them does.
const (
	tagSessionRefused     = "session-refused"
	tagSessionUnreachable = "session-unreachable"
	tagSlow               = "slow"
	tagDecline            = "decline"
	tagLate               = "late"
	tagTwice              = "twice"
	tagUnordered          = "unordered"
	tagRefundRefused      = "refund-refused"
	tagRefundUnreachable  = "refund-unreachable"
	tagRefundFailsLater   = "refund-fails-later"
)

// asks reports whether an address has a tag.
func asks(email, tag string) bool {
	at := strings.LastIndexByte(email, '@')
	if at < 0 {
		return false
	}
	_, tags, _ := strings.Cut(strings.ToLower(email[:at]), "+")
	return slices.Contains(strings.Split(tags, "."), tag)
}
