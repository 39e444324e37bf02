package backoffice

import (
	"purveyor/internal/commerce"
	"purveyor/internal/service"
)

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
	secret, _, err := v.o.uses.RotateSecret(v.Context(), v.caller().Actor, service.RotateSecret{Owner: p.ID, Seen: v.seen(), Draw: v.draw(), Now: leaked})
	if err != nil {
		page := v.askingSecret(p)
		page.LeakedOn = leaked
		return v.again(err, "partner_ask", page.Word+": "+p.Name, page)
	}
	return v.page("partner_shown", "The new secret of "+p.Name, shownOnce{p, []shownSecret{{"Secret", secret}},
		"Give it to the partner in a safe way. It is shown only now."})
}
