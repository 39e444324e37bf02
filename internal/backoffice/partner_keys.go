package backoffice

import (
	"slices"
	"strconv"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
)

// shownOnce is the data of the page "partner_shown": what is shown now and never again.
type shownOnce struct {
	commerce.Partner
	Secrets []shownSecret
	Text    string
}

// shownSecret is a key or a secret in full.
type shownSecret struct{ Word, Value string }

const giveKey = "Give it to the partner in a safe way. It is shown only now: Purveyor keeps only a digest of it."

// shownKey is a key as the page of its partner lists it.
type shownKey struct {
	commerce.APIKey
	State commerce.KeyState
}

// Begins is what is known of the key's text.
func (k shownKey) Begins() string { return k.Mode.KeyPrefix() + "…" + k.Last4 }

// Works reports whether the key can be replaced and revoked.
func (k shownKey) Works() bool { return k.State == commerce.KeyActive }

// keysOf are the keys of a partner, those that work first.
func (v *visit) keysOf(p commerce.Partner) (list []shownKey, err error) {
	keys, err := v.o.reads.APIKeys(v.Context(), p.ID)
	for _, k := range keys {
		list = append(list, shownKey{k, k.State(v.now())})
	}
	slices.SortStableFunc(list, func(a, b shownKey) int {
		switch {
		case a.Works() == b.Works():
			return 0
		case a.Works():
			return -1
		}
		return 1
	})
	return list, err
}

// keyNamed is the key that the path names.
func (v *visit) keyNamed(p commerce.Partner) (shownKey, error) {
	keys, err := v.keysOf(p)
	for _, k := range keys {
		if k.ID == v.PathValue("key") {
			return k, nil
		}
	}
	if err == nil {
		err = commerce.NotFound("key")
	}
	return shownKey{}, err
}

// keyFields are the fields of the form of a new key, named as refusals name them.
var keyFields = []fieldWord{{"name", "Name"}, {"mode", "Mode"}, {"rights", "Rights"}, {"scope", "Scopes"}, {"store", "Stores"}, {"days", "Ends after days"}, {"allowed_addresses", "IP addresses"}}

// keyPage is the data of the page "key_new".
type keyPage struct {
	commerce.Partner
	Form   editForm
	Key    string
	Scopes []scopeWord // that the partner has
	Stores []commerce.Store
}

func (v *visit) keyPage(p commerce.Partner, form editForm, key string) (page keyPage, err error) {
	page = keyPage{Partner: p, Form: form, Key: key}
	for _, s := range scopeWords {
		if s.Scope != commerce.AllScopes && p.Has(s.Scope) {
			page.Scopes = append(page.Scopes, s)
		}
	}
	page.Stores, err = v.storesOf(commerce.MayManagePartners)
	page.Stores = slices.DeleteFunc(page.Stores, func(s commerce.Store) bool { return p.MayUse(s.ID) != nil })
	return page, err
}

func (v *visit) newKey(p commerce.Partner) error {
	page, err := v.keyPage(p, formOf(keyFields, map[string]string{"name": "New key", "mode": string(commerce.Live), "rights": "all"}, 0), v.NewKey())
	if err != nil {
		return err
	}
	return v.page("key_new", "Issue a key: "+p.Name, page)
}

// makeKey issues a key and shows it. The form carries the random text that the key is made
// from, so that a form that is sent twice shows the same key.
func (v *visit) makeKey(p commerce.Partner) error {
	form := v.posted(keyFields)
	in, err := form.key(p, v.now())
	in.Draw = v.draw()
	if err == nil {
		var made service.IssuedKey
		if made, err = v.o.uses.MakeKey(v.Context(), v.caller().Actor, in); err == nil {
			return v.page("partner_shown", "The new key of "+p.Name, shownOnce{p, []shownSecret{{made.Name, made.Value}}, giveKey})
		}
	}
	page, readErr := v.keyPage(p, form, v.formKey())
	if readErr != nil {
		return readErr
	}
	err = page.Form.refusedAs(err, nil, 0)
	return v.again(err, "key_new", "Issue a key: "+p.Name, page)
}

// key is the key that was typed.
func (f editForm) key(p commerce.Partner, now commerce.Millis) (in service.NewKey, err error) {
	in = service.NewKey{PartnerID: p.ID, Name: f.Typed["name"], Mode: commerce.Mode(f.Typed["mode"]), Addresses: choicesIn(f.Typed["allowed_addresses"]), StoreIDs: choicesIn(f.Typed["store"])}
	if in.Mode != commerce.Live && in.Mode != commerce.Test {
		return in, commerce.Invalid("mode", "mode must be live or test")
	}
	if days := f.Typed["days"]; days != "" {
		n, err := strconv.Atoi(days)
		if err != nil || n < 1 {
			return in, commerce.Invalid("days", "days must be a whole number, or empty")
		}
		in.ExpiresOn = now.Add(time.Duration(min(n, 10_000)) * 24 * time.Hour)
	}
	if f.Typed["rights"] == "some" {
		if in.Scopes = choicesOf[commerce.Scope](f.Typed["scope"]); len(in.Scopes) == 0 {
			return in, commerce.Invalid("scope", "scope must be at least one")
		}
	}
	return in, nil
}

// overlaps are how long a replaced key goes on working, as the form offers it.
var overlaps = []overlap{{"0", "At once: within 5 seconds"}, {"24", "A day"}, {"168", "A week"}}

type overlap struct{ Hours, Word string }

// askKey is the page that asks before a key is replaced or revoked.
type askKey struct {
	commerce.Partner
	APIKey   shownKey
	Key      string
	Chosen   string
	Overlaps []overlap
	Revoke   bool
}

func (v *visit) askRotate(p commerce.Partner) error {
	k, err := v.keyNamed(p)
	if err != nil {
		return err
	}
	return v.page("key_ask", "Replace "+k.Name+": "+p.Name, askKey{Partner: p, APIKey: k, Key: v.NewKey(), Chosen: "24", Overlaps: overlaps})
}

// rotateKey replaces a key and shows the new one, as makeKey does.
func (v *visit) rotateKey(p commerce.Partner) error {
	k, err := v.keyNamed(p)
	if err != nil {
		return err
	}
	page := askKey{Partner: p, APIKey: k, Key: v.formKey(), Chosen: v.PostFormValue("hours"), Overlaps: overlaps}
	hours, err := strconv.Atoi(page.Chosen)
	if err != nil || !slices.ContainsFunc(overlaps, func(o overlap) bool { return o.Hours == page.Chosen }) {
		return v.again(commerce.Invalid("hours", "Choose how long the old key goes on working"), "key_ask", "Replace "+k.Name+": "+p.Name, page)
	}
	made, err := v.o.uses.RotateKey(v.Context(), v.caller().Actor, service.RotateKey{PartnerID: p.ID, KeyID: k.ID, Overlap: time.Duration(hours) * time.Hour, Draw: v.draw()})
	if err != nil {
		return v.again(err, "key_ask", "Replace "+k.Name+": "+p.Name, page)
	}
	return v.page("partner_shown", "The new key of "+p.Name, shownOnce{p, []shownSecret{{made.Name, made.Value}}, giveKey})
}

func (v *visit) askRevoke(p commerce.Partner) error {
	k, err := v.keyNamed(p)
	if err != nil {
		return err
	}
	return v.page("key_ask", "Revoke "+k.Name+": "+p.Name, askKey{Partner: p, APIKey: k, Revoke: true})
}

func (v *visit) revokeKey(p commerce.Partner) error {
	if _, err := v.o.uses.RevokeKey(v.Context(), v.caller().Actor, p.ID, v.PathValue("key")); err != nil {
		return err
	}
	return v.done(Prefix+"/partners/"+p.ID, "The key no longer works")
}

// draw is the random text of a form. One that is missing cannot be drawn later.
func (v *visit) draw() string {
	if key := v.PostFormValue("key"); key != "" {
		return key
	}
	return "none"
}
