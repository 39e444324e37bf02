package portal

import (
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/testkit/fixture"
)

// TestFates: the page of an event tells of each endpoint what became of it there, and which tries were made by hand.
func TestFates(t *testing.T) {
	s := open(t)
	things := s.things(fixture.PartnerID)
	admin := s.member(fixture.PartnerID, "ann@p.example", commerce.MemberAdmin)
	path := "/portal/events/" + things["events"]
	_, page := admin.get(path)
	shows(t, page, "It was not sent: the endpoint was not there when it happened")
	if status, _ := admin.post(path+"/resend", "key", "again", "endpoint", things["endpoints"]); status != 303 {
		t.Fatal(status)
	}
	_, page = admin.get(path)
	shows(t, page, "<code>https://hook.example/"+fixture.PartnerID+"</code> It is about to be sent")
	fixture.Change(t, s.Engine, commerce.Needs{}, func(_ *commerce.Rows, at commerce.Millis) commerce.Changes {
		return commerce.Changes{Attempts: []commerce.WebhookAttempt{{PartnerID: fixture.PartnerID, EventID: things["events"], Endpoint: things["endpoints"], ID: "att_1", URL: "https://hook.example/" + fixture.PartnerID, At: at, Status: 503, Manual: true}}}
	})
	_, page = admin.get(path)
	shows(t, page, "The endpoint answered 503 and not 200. It is tried again by itself", "by hand", "Next try:")
}
