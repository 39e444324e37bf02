package command

import (
	"errors"
	"slices"

	"purveyor/internal/commerce"
)

// needAttention adds to n the attention rows that the command may raise or resolve.
func (f OrderFacts) needAttention(n *commerce.Needs, codes ...commerce.AttentionCode) {
	n.Attention = append(n.Attention, commerce.AttentionKeys(f.Key, codes...)...)
}

// attention returns the row of a reason, with what the command has changed of it so far.
func (oc *orderChange) attention(code commerce.AttentionCode) commerce.Attention {
	key := commerce.AttentionKey{StoreID: oc.order.StoreID, OrderID: oc.order.ID, Code: code}
	for _, a := range oc.changes.Attention {
		if a.Code == code {
			return a
		}
	}
	a, _ := oc.rows.Attention.Get(key)
	a.StoreID, a.OrderID, a.Code = key.StoreID, key.OrderID, key.Code
	return a
}

func (oc *orderChange) setAttention(a commerce.Attention) {
	oc.changes.Attention = slices.DeleteFunc(oc.changes.Attention, func(b commerce.Attention) bool { return b.Code == a.Code })
	oc.changes.Attention = append(oc.changes.Attention, a)
}

// raised reports whether the merchant is asked to look at the order for this
// reason.
func (oc *orderChange) raised(code commerce.AttentionCode) bool { return oc.attention(code).Open() }

// raiseWithoutNote raises a reason for the merchant to look at the order. Other reasons
// stay as they are.
func (oc *orderChange) raiseWithoutNote(code commerce.AttentionCode, detail string) {
	oc.setAttention(oc.attention(code).Raise(detail, oc.now))
}

// raiseAttention raises a reason and adds a note about it to the timeline.
func (oc *orderChange) raiseAttention(code commerce.AttentionCode, message string) {
	message = commerce.CleanText(message, commerce.MaxNote)
	oc.raiseWithoutNote(code, message)
	oc.addNote(string(code), message)
}

// resolve closes those of the reasons that are open. what names the event of the order
// that resolved them, as a Trigger does.
func (oc *orderChange) resolve(what string, codes ...commerce.AttentionCode) {
	for _, code := range codes {
		if a := oc.attention(code); a.Open() {
			oc.setAttention(a.Resolve(commerce.OrderItself+what, oc.now))
		}
	}
}

// resolveBy closes the reasons that the trigger resolves.
func (oc *orderChange) resolveBy(t commerce.Trigger) {
	oc.resolve(string(t), commerce.ResolvedBy(t)...)
}

// recordCredentials raises a reason if a call failed because the provider refuses our
// credentials, resolves it after a call that was answered, and leaves it as it is after
// any other failure. note is the text for the timeline.
func (oc *orderChange) recordCredentials(failed error, note string) {
	const code = commerce.AttentionProviderRefusesUs
	denied, ok := errors.AsType[*commerce.CredentialsError](failed)
	switch {
	case failed == nil:
		oc.resolve("provider_answered", code)
	case ok && !oc.raised(code):
		oc.raiseWithoutNote(code, denied.Message)
		oc.addNote(string(code), note)
	}
}
