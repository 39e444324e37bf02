package portal

import (
	"slices"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/site"
)

// keyRoutes are the pages of the partner's keys.
var keyRoutes = []route{
	{method: get, path: Prefix + "/keys", handle: (*visit).keys, word: "Keys", icon: "key"},
	{method: get, path: Prefix + "/keys/new", changes: true, handle: (*visit).newKey},
	{method: post, path: Prefix + "/keys/new", changes: true, handle: (*visit).makeKey},
	{method: get, path: Prefix + "/keys/{id}/rotate", changes: true, handle: ofKey((*visit).askRotate)},
	{method: post, path: Prefix + "/keys/{id}/rotate", changes: true, handle: ofKey((*visit).rotateKey)},
	{method: get, path: Prefix + "/keys/{id}/revoke", changes: true, handle: ofKey((*visit).askRevoke)},
	{method: post, path: Prefix + "/keys/{id}/revoke", changes: true, handle: ofKey((*visit).revokeKey)},
}

const keysPath = Prefix + "/keys"

// keysPage is the data of the page "keys".
type keysPage struct {
	Keys []site.Key
	Zone *time.Location
}

func (v *visit) ownKeys() ([]site.Key, error) {
	keys, err := v.p.reads.APIKeys(v.Context(), v.partner.ID)
	return site.KeysOf(keys, v.now()), err
}

func (v *visit) keys() (err error) {
	var page keysPage
	if page.Keys, err = v.ownKeys(); err != nil {
		return err
	}
	if page.Zone, err = v.zone(); err != nil {
		return err
	}
	return v.page("keys", "Keys", page)
}

// ofKey is the handler of a route about the key in the path.
func ofKey(handle func(*visit, site.Key) error) func(*visit) error {
	return func(v *visit) error {
		keys, err := v.ownKeys()
		i := slices.IndexFunc(keys, func(k site.Key) bool { return k.ID == v.PathValue("id") })
		if err == nil && i < 0 {
			err = commerce.NotFound("key")
		}
		if err != nil {
			return err
		}
		return handle(v, keys[i])
	}
}

// keyForm is the data of the page "key_new".
type keyForm struct {
	Typed  map[string]string
	Key    string
	Scopes []site.ScopeWord
}

// Has reports whether a field with several values has this one.
func (f keyForm) Has(name string, scope commerce.Scope) bool {
	return slices.Contains(site.Lines[commerce.Scope](f.Typed[name]), scope)
}

func (v *visit) newKey() error {
	return v.page("key_new", "Issue a key", keyForm{map[string]string{"mode": string(commerce.Test), "rights": "all"}, v.NewKey(), site.ScopesOf(v.partner)})
}

const keepKey = "Keep it in a safe place. It is shown only now: only a digest of it is stored."

// makeKey issues a key and shows it. The form carries the random text that the key is made from, so
// that a form that is sent twice shows the same key.
func (v *visit) makeKey() error {
	form := keyForm{map[string]string{}, v.draw(), site.ScopesOf(v.partner)}
	for _, name := range []string{"name", "mode", "rights", "scope", "days", "allowed_addresses"} {
		form.Typed[name] = strings.TrimSpace(strings.Join(v.PostForm[name], "\n"))
	}
	in, err := site.NewKeyOf(form.Typed, v.partner, v.now())
	var made service.IssuedKey
	if err == nil {
		in.Draw = v.draw()
		made, err = v.p.uses.MakeKey(v.Context(), v.actor(), in)
	}
	if err != nil {
		return v.again(err, "key_new", "Issue a key", form)
	}
	return v.page("shown", "The new key", shown{made.Name, made.Value, keepKey, keysPath})
}

func (v *visit) askingRotate(k site.Key) ask {
	return ask{Text: "A new key with the same rights is shown once, in place of " + k.Begins() + ".", Word: "Replace the key", Back: keysPath, Key: v.NewKey(), Overlaps: site.Overlaps, Chosen: "24"}
}

func (v *visit) askRotate(k site.Key) error {
	return v.page("ask", "Replace "+k.Name, v.askingRotate(k))
}

func (v *visit) rotateKey(k site.Key) error {
	page := v.askingRotate(k)
	page.Chosen = v.PostFormValue("hours")
	overlap, err := site.OverlapOf(page.Chosen)
	var made service.RotatedKey
	if err == nil {
		made, err = v.p.uses.RotateKey(v.Context(), v.actor(), service.RotateKey{PartnerID: v.partner.ID, KeyID: k.ID, Overlap: overlap, Draw: v.draw()})
	}
	if err != nil {
		return v.again(err, "ask", "Replace "+k.Name, page)
	}
	return v.page("shown", "The new key", shown{made.Name, made.Value, keepKey, keysPath})
}

func (v *visit) askRevoke(k site.Key) error {
	return v.page("ask", "Revoke "+k.Name, ask{Text: "The key " + k.Begins() + " stops working within 5 seconds, for ever. Programs that still use it are refused.", Word: "Revoke the key", Back: keysPath})
}

func (v *visit) revokeKey(k site.Key) error {
	if _, err := v.p.uses.RevokeKey(v.Context(), v.actor(), v.partner.ID, k.ID); err != nil {
		return err
	}
	return v.done(keysPath, "The key no longer works")
}
