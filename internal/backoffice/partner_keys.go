package backoffice

import (
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/site"
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

// keysOf are the keys of a partner, those that work first.
func (v *visit) keysOf(p commerce.Partner) ([]site.Key, error) {
	keys, err := v.o.reads.APIKeys(v.Context(), p.ID)
	return site.KeysOf(keys, v.now()), err
}

// keyNamed is the key that the path names.
func (v *visit) keyNamed(p commerce.Partner) (site.Key, error) {
	keys, err := v.keysOf(p)
	for _, k := range keys {
		if k.ID == v.PathValue("key") {
			return k, nil
		}
	}
	if err == nil {
		err = commerce.NotFound("key")
	}
	return site.Key{}, err
}

// keyFields are the fields of the form of a new key, named as refusals name them.
var keyFields = []fieldWord{{"name", "Name"}, {"mode", "Mode"}, {"rights", "Rights"}, {"scope", "Scopes"}, {"store", "Stores"}, {"days", "Ends after days"}, {"allowed_addresses", "IP addresses"}, {"force", "Without certification"}}

// keyPage is the data of the page "key_new".
type keyPage struct {
	commerce.Partner
	Form   editForm
	Key    string
	Scopes []site.ScopeWord // that the partner has
	Stores []commerce.Store
	Barred bool // a live key needs a certification that the partner lacks
}

func (v *visit) keyPage(p commerce.Partner, form editForm, key string) (page keyPage, err error) {
	page = keyPage{Partner: p, Form: form, Key: key}
	page.Scopes = site.ScopesOf(p)
	if v.o.requireCertified {
		row, err := v.o.reads.Certification(v.Context(), p.ID)
		if err != nil {
			return page, err
		}
		page.Barred = row.CertifiedOn == 0
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
	in, err := site.NewKeyOf(form.Typed, p, v.now())
	in.Draw, in.Force = v.draw(), form.Typed["force"] != ""
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

// askKey is the page that asks before a key is replaced or revoked.
type askKey struct {
	commerce.Partner
	APIKey   site.Key
	Key      string
	Chosen   string
	Overlaps []site.Overlap
	Revoke   bool
}

func (v *visit) askRotate(p commerce.Partner) error {
	k, err := v.keyNamed(p)
	if err != nil {
		return err
	}
	return v.page("key_ask", "Replace "+k.Name+": "+p.Name, askKey{Partner: p, APIKey: k, Key: v.NewKey(), Chosen: "24", Overlaps: site.Overlaps})
}

// rotateKey replaces a key and shows the new one, as makeKey does.
func (v *visit) rotateKey(p commerce.Partner) error {
	k, err := v.keyNamed(p)
	if err != nil {
		return err
	}
	page := askKey{Partner: p, APIKey: k, Key: v.formKey(), Chosen: v.PostFormValue("hours"), Overlaps: site.Overlaps}
	overlap, err := site.OverlapOf(page.Chosen)
	if err != nil {
		return v.again(err, "key_ask", "Replace "+k.Name+": "+p.Name, page)
	}
	made, err := v.o.uses.RotateKey(v.Context(), v.caller().Actor, service.RotateKey{PartnerID: p.ID, KeyID: k.ID, Overlap: overlap, Draw: v.draw()})
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
