package command

import "purveyor/internal/commerce"

// OfferFirstOwner stores the link by which the first user is made. It ends the one before.
type OfferFirstOwner struct {
	LinkHash  commerce.KeyHash
	ExpiresOn commerce.Millis
}

// Needs names the link.
func (c OfferFirstOwner) Needs() commerce.Needs {
	return commerce.Needs{SignInLinks: []string{""}}
}

// Decide stores the link.
func (c OfferFirstOwner) Decide(*commerce.Rows, commerce.Millis) (bool, commerce.Changes, error) {
	return true, commerce.Changes{SignInLinks: []commerce.SignInLink{{Hash: c.LinkHash, ExpiresOn: c.ExpiresOn}}}, nil
}
