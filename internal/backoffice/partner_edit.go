package backoffice

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/site"
)

// partnerFields are the fields of the form of a partner, named as refusals name them.
var partnerFields = []fieldWord{{"name", "Name"}, {"scope", "Scopes"}, {"stores", "All stores or some"}, {"store", "Stores"}, {"test-scope", "Scopes of the test key"}, {"rate-limit", "Requests per minute"}, {"callback-url", "Callback URL"},
	{"alarm-address", "E-mail addresses for alarms"}}

// partnerEditPage is the data of the page "partner_edit".
type partnerEditPage struct {
	Form   editForm
	ID     string // empty: a new partner
	Key    string
	Stores []commerce.Store // that the user may give
	All    bool             // the user may also give all stores
	Scopes []site.ScopeWord
}

func (v *visit) partnerEditPage(form editForm, id string) (page partnerEditPage, err error) {
	page = partnerEditPage{Form: form, ID: id, Scopes: site.ScopeWords}
	page.All = v.user.MayEverywhere(commerce.MayManagePartners)
	if page.Stores, err = v.storesOf(commerce.MayManagePartners); err != nil {
		return page, err
	}
	for _, storeID := range site.Lines[string](form.Typed["store"]) { // one that is not offered stays chosen
		if !slices.ContainsFunc(page.Stores, func(s commerce.Store) bool { return s.ID == storeID }) {
			page.Stores = append(page.Stores, commerce.Store{ID: storeID})
		}
	}
	return page, nil
}

// partnerValues are the fields of a partner as its form shows them.
func partnerValues(p commerce.Partner) map[string]string {
	scopes := make([]string, len(p.Scopes))
	for i, s := range p.Scopes {
		scopes[i] = string(s)
	}
	stores := "some"
	if len(p.StoreIDs) == 0 {
		stores = "all"
	}
	return map[string]string{"stores": stores, "name": p.Name, "scope": strings.Join(scopes, "\n"), "store": strings.Join(p.StoreIDs, "\n"),
		"rate-limit": strconv.FormatInt(p.RateLimit, 10), "callback-url": commerce.WithoutPassword(p.CallbackURL),
		"alarm-address": strings.Join(p.AlarmAddresses, ", ")}
}

func (v *visit) newPartner() error {
	form := formOf(partnerFields, partnerValues(commerce.Partner{Scopes: []commerce.Scope{commerce.AllScopes}, RateLimit: commerce.DefaultRateLimit}), 0)
	page, err := v.partnerEditPage(form, "")
	if err != nil {
		return err
	}
	page.Key = v.NewKey()
	return v.page("partner_edit", "New partner", page)
}

// makePartner makes a partner, and shows its keys.
func (v *visit) makePartner() error {
	form := v.posted(partnerFields)
	p, err := form.partner()
	if err == nil {
		err = v.mayOf(commerce.MayManagePartners, p.StoreIDs)
	}
	if err == nil {
		var made service.CreatedPartner
		if made, err = v.o.uses.CreatePartner(v.Context(), v.caller().Actor, p, site.Lines[commerce.Scope](form.Typed["test-scope"]), v.draw()); err == nil {
			p.ID = made.Partner.ID
			text := "Give them to the partner in a safe way. They are shown only now: of keys, Purveyor keeps only digests."
			secrets := []shownSecret{{"Test key", made.Keys[commerce.Test]}}
			if live := made.Keys[commerce.Live]; live != "" {
				secrets = slices.Insert(secrets, 0, shownSecret{"Live key", live})
			} else {
				text += " The live key comes after the certification."
			}
			if made.Secret != "" {
				secrets = append(secrets, shownSecret{"Secret, with which events are signed", made.Secret})
			}
			return v.page("partner_shown", "The keys of "+p.Name, shownOnce{p, secrets, text})
		}
	}
	page, readErr := v.partnerEditPage(form, "")
	if readErr != nil {
		return readErr
	}
	page.Key = v.formKey()
	err = page.Form.refusedAs(err, nil, 0)
	return v.again(err, "partner_edit", "New partner", page)
}

func (v *visit) editPartner(p commerce.Partner) error {
	page, err := v.partnerEditPage(formOf(partnerFields, partnerValues(p), p.UpdatedOn), p.ID)
	if err != nil {
		return err
	}
	page.Key = v.NewKey()
	return v.page("partner_edit", "Edit "+p.Name, page)
}

func (v *visit) savePartner(p commerce.Partner) error {
	form := v.posted(partnerFields)
	wanted, err := form.partner()
	if wanted.CallbackURL == commerce.WithoutPassword(p.CallbackURL) { // the password in it was not shown
		wanted.CallbackURL = p.CallbackURL
	}
	if err == nil {
		err = v.mayOf(commerce.MayManagePartners, wanted.StoreIDs)
	}
	change := service.UpdatePartner{ID: p.ID, Seen: form.Seen, Name: &wanted.Name, Scopes: &wanted.Scopes,
		StoreIDs: &wanted.StoreIDs, RateLimit: &wanted.RateLimit, CallbackURL: &wanted.CallbackURL, AlarmAddresses: &wanted.AlarmAddresses}
	secret, saved := "", commerce.Partner{}
	if err == nil {
		secret, err = v.o.uses.DrawSecret(v.PostFormValue("key"))
	}
	if err == nil {
		if p.CallbackURL == "" {
			change.FirstSecret = secret
		}
		saved, err = v.o.uses.UpdatePartner(v.Context(), v.caller().Actor, change)
	}
	switch {
	case err == nil && saved.CallbackSecret == secret: // this form has drawn it, maybe when it was sent before
		return v.page("partner_shown", saved.Name+" is saved", shownOnce{saved, []shownSecret{{"Secret", secret}}, "Events are signed with it. Give it to the partner in a safe way; it is shown only now."})
	case err == nil:
		return v.done(Prefix+"/partners/"+p.ID, wanted.Name+" is saved")
	}
	now, readErr := v.o.reads.Partner(v.Context(), p.ID)
	if readErr != nil {
		return readErr
	}
	page, readErr := v.partnerEditPage(form, p.ID)
	if readErr != nil {
		return readErr
	}
	page.Key = v.formKey()
	err = page.Form.refusedAs(err, partnerValues(now), now.UpdatedOn)
	return v.again(err, "partner_edit", "Edit "+p.Name, page)
}

// partner is the partner that was typed.
func (f editForm) partner() (p commerce.Partner, err error) {
	p = commerce.Partner{Name: f.Typed["name"], CallbackURL: f.Typed["callback-url"]}
	p.AlarmAddresses = strings.FieldsFunc(f.Typed["alarm-address"], func(r rune) bool { return strings.ContainsRune(",; \n", r) })
	p.Scopes = site.Lines[commerce.Scope](f.Typed["scope"])
	if slices.Contains(p.Scopes, commerce.AllScopes) { // which does not include ManageSelf
		p.Scopes = slices.DeleteFunc(p.Scopes, func(s commerce.Scope) bool { return s != commerce.AllScopes && s != commerce.ManageSelf })
	}
	if p.RateLimit, err = strconv.ParseInt(cmp.Or(f.Typed["rate-limit"], "0"), 10, 64); err != nil {
		err = commerce.Invalid("rate-limit", "rate-limit must be a whole number")
	}
	if len(p.Scopes) == 0 {
		err = commerce.Invalid("scope", "scope must be at least one")
	}
	if f.Typed["stores"] != "all" {
		if p.StoreIDs = site.Lines[string](f.Typed["store"]); len(p.StoreIDs) == 0 {
			err = commerce.Invalid("store", "store must be at least one")
		}
	}
	return p, err
}
