package backoffice

import (
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/testkit/fixture"
)

// TestMerchantPagesFit looks at the pages of stores and partners on a phone and on a desk, with
// long texts: nothing scrolls sideways, and everything can be read.
func TestMerchantPagesFit(t *testing.T) {
	o := openOffice(t)
	o.office.requireCertified = true // the form of a key has its tick
	long := strings.Repeat("Averylongname", 6) + " of the corner"
	o.post("boss", "/office/stores/new", storeForm("id", "sto_long", "key", "k", "name", long)...)
	o.post("boss", "/office/partners/new", partnerForm("key", strings.Repeat("k", 26), "name", long)...)
	fixture.Do(o.Shop, o.Report(0, 1))
	event := o.Events(fixture.PartnerID)[0]
	needs := commerce.Needs{Lock: true, Partners: []string{fixture.PartnerID}, Endpoints: []string{fixture.PartnerID}}
	fixture.Change(t, o.Engine, needs, func(_ *commerce.Rows, now commerce.Millis) commerce.Changes {
		return commerce.Changes{Attempts: []commerce.WebhookAttempt{{PartnerID: fixture.PartnerID, EventID: event.ID, ID: "att_1", URL: "https://p.example/" + long, At: now, TookMs: 12, Status: 500, Error: "status 500", Answer: strings.Repeat("sorry", 60)}},
			Endpoints: []commerce.Endpoint{{PartnerID: fixture.PartnerID, Failures: 7, FailingSince: now - 5, HeldUntil: now + 60_000}}}
	})
	fitting(t, o.serving("boss").URL, "long", map[string]string{"stores": "/office/stores", "store": "/office/stores/sto_long", "store-edit": "/office/stores/sto_long/edit", "store-new": "/office/stores/new",
		"partners": "/office/partners", "partner": partnerAt, "partner-edit": partnerAt + "/edit", "partner-key": partnerAt + "/keys", "key-replace": partnerAt + "/keys/" + fixture.KeyID(fixture.PartnerID, commerce.Live), "key-revoke": partnerAt + "/keys/" + fixture.KeyID(fixture.PartnerID, commerce.Live) + "/revoke", "partner-secret": partnerAt + "/secret",
		"events": partnerAt + "/events", "event": partnerAt + "/events/" + event.ID, "replay": partnerAt + "/replay?from=2020-01-01"})
}
