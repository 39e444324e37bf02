package backoffice

import (
	"slices"

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

// askingKey is the page that asks before a key is replaced.
func (v *visit) askingKey(p commerce.Partner) (page askPartner, mode commerce.Mode, err error) {
	mode = commerce.Mode(v.PathValue("mode"))
	if mode != commerce.Live && mode != commerce.Test {
		return page, mode, commerce.NotFound("key")
	}
	keys, err := v.o.reads.APIKeys(v.Context(), p.ID)
	if err != nil {
		return page, mode, err
	}
	page = askPartner{Partner: p, Act: "keys/" + string(mode), Word: "Issue a " + string(mode) + " key", Key: v.NewKey(),
		Text: "The partner has no " + string(mode) + " key. The new one is shown once."}
	if i := slices.IndexFunc(keys, func(k commerce.APIKey) bool { return k.Mode == mode }); i >= 0 {
		page.Seen, page.Danger, page.Word = keys[i].CreatedOn, true, "Replace the "+string(mode)+" key"
		page.Text = "A new " + string(mode) + " key is shown once. The old one stops working within 5 seconds, so the partner has to use the new one at once."
	}
	return page, mode, nil
}

func (v *visit) askKey(p commerce.Partner) error {
	page, _, err := v.askingKey(p)
	if err != nil {
		return err
	}
	return v.askFirst(page)
}

// rotateKey replaces a key and shows the new one. The form carries the random text that the key is
// made from, so that a form that is sent twice shows the same key.
func (v *visit) rotateKey(p commerce.Partner) error {
	page, mode, err := v.askingKey(p)
	if err != nil {
		return err
	}
	key, err := v.o.uses.RotateKey(v.Context(), v.caller().Actor, service.RotateKey{PartnerID: p.ID, Mode: mode, Seen: v.seen(), Draw: v.draw()})
	if err != nil {
		return v.again(err, "partner_ask", page.Word+": "+p.Name, page)
	}
	return v.page("partner_shown", "The new "+string(mode)+" key of "+p.Name, shownOnce{p, []shownSecret{{actionWord(string(mode)) + " key", key}},
		"Give it to the partner in a safe way. It is shown only now: Purveyor keeps only a digest of it."})
}

// draw is the random text of a form. One that is missing cannot be drawn later.
func (v *visit) draw() string {
	if key := v.PostFormValue("key"); key != "" {
		return key
	}
	return "none"
}

func (v *visit) askingSecret(p commerce.Partner) askPartner {
	page := askPartner{Partner: p, Act: "secret", Word: "Make a secret", Key: v.NewKey(), Seen: p.UpdatedOn, Text: "Events are signed with it, so that the partner knows that they come from here. It is shown once."}
	if p.CallbackSecret != "" {
		page.Word, page.Danger, page.CanLeak = "Replace the secret", true, true
		page.Text = "A new secret is shown once. For a day events carry signatures of both in webhook-signature, and x-partner-signature is made with the old one, so that the partner can change in its own time."
	}
	return page
}

func (v *visit) askSecret(p commerce.Partner) error { return v.askFirst(v.askingSecret(p)) }

// rotateSecret replaces the callback secret and shows the new one, as rotateKey does.
func (v *visit) rotateSecret(p commerce.Partner) error {
	leaked := v.PostFormValue("leaked") != ""
	secret, _, err := v.o.uses.RotateSecret(v.Context(), v.caller().Actor, service.RotateSecret{PartnerID: p.ID, Seen: v.seen(), Draw: v.draw(), Now: leaked})
	if err != nil {
		page := v.askingSecret(p)
		page.LeakedOn = leaked
		return v.again(err, "partner_ask", page.Word+": "+p.Name, page)
	}
	return v.page("partner_shown", "The new secret of "+p.Name, shownOnce{p, []shownSecret{{"Secret", secret}},
		"Give it to the partner in a safe way. It is shown only now."})
}
