package command

import (
	"errors"
	"slices"

	"purveyor/internal/commerce"
)

// mayRaise adds the rows of reasons that the command may raise or resolve.
func (f OrderFacts) mayRaise(n *commerce.Needs, codes ...commerce.AttentionCode) {
	n.Attention = append(n.Attention, commerce.AttentionKeys(f.Key, codes...)...)
}

// attention is the row of a reason as the command has left it so far.
func (s *story) attention(code commerce.AttentionCode) commerce.Attention {
	key := commerce.AttentionKey{StoreID: s.order.StoreID, OrderID: s.order.ID, Code: code}
	for _, a := range s.changes.Attention {
		if a.Code == code {
			return a
		}
	}
	a, _ := s.rows.Attention.Get(key)
	a.StoreID, a.OrderID, a.Code = key.StoreID, key.OrderID, key.Code
	return a
}

func (s *story) setAttention(a commerce.Attention) {
	s.changes.Attention = slices.DeleteFunc(s.changes.Attention, func(b commerce.Attention) bool { return b.Code == a.Code })
	s.changes.Attention = append(s.changes.Attention, a)
}

// raised reports whether the merchant is asked to look at the order for this
// reason.
func (s *story) raised(code commerce.AttentionCode) bool { return s.attention(code).Open() }

// raise asks the merchant to look at the order. Other reasons stay as they are.
func (s *story) raise(code commerce.AttentionCode, detail string) {
	s.setAttention(s.attention(code).Raise(detail, s.now))
}

// flag raises a reason and tells the timeline of it.
func (s *story) flag(code commerce.AttentionCode, message string) {
	message = commerce.CleanText(message, commerce.MaxNote)
	s.raise(code, message)
	s.note(string(code), message)
}

// resolve closes those of the reasons that are open. what names the event of the
// order that did it, as a Trigger does.
func (s *story) resolve(what string, codes ...commerce.AttentionCode) {
	for _, code := range codes {
		if a := s.attention(code); a.Open() {
			s.setAttention(a.Resolve(commerce.OrderItself+what, s.now))
		}
	}
}

// resolveBy closes the reasons that a trigger resolves.
func (s *story) resolveBy(t commerce.Trigger) { s.resolve(string(t), commerce.ResolvedBy(t)...) }

// credentials asks the merchant to look if a call failed because its provider
// refuses our credentials. It closes that reason once a call was answered, and
// leaves it as it is while a call fails otherwise. told is for the timeline.
func (s *story) credentials(failed error, told string) {
	const code = commerce.AttentionProviderRefusesUs
	denied, ok := errors.AsType[*commerce.CredentialsError](failed)
	switch {
	case failed == nil:
		s.resolve("provider_answered", code)
	case ok && !s.raised(code):
		s.raise(code, denied.Message)
		s.note(string(code), told)
	}
}
