package backoffice

import (
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/testkit/fixture"
)

// TestReportPages looks at the pages of figures on a phone and on a desk, light and dark:
// nothing scrolls sideways, everything can be read, and nothing breaks the policy of the pages.
func TestReportPages(t *testing.T) {
	o := openOffice(t)
	o.otherStore()
	var last commerce.Order
	for i := range 60 {
		last = o.orderAt(time.Now().Add(-time.Duration(i*i)*10*time.Minute), 1+int64(i%2), []string{fixture.StoreID, "sto_other"}[i%2], commerce.Live, 1)
	}
	o.sums()
	long := strings.Repeat("extraordinarily", 8)
	entry := commerce.AuditEntry{ID: commerce.NewID(commerce.PrefixAudit, 1, commerce.Entropy{}), StoreID: fixture.StoreID, Actor: "staff:usr_boss", Action: "update_store", Object: last.ID, Address: "192.0.2.1",
		Before: []byte(`{"stores":{"sto_1":{"name":"` + long + `"}}}`), After: []byte(`{"stores":{"sto_1":{"name":"` + long + long + `"}}}`), TraceID: long, CreatedOn: 1}
	message := commerce.UnsentMessage{ID: "out_1", Kind: commerce.UnsentMail, To: long + "@e.example", Subject: long, Text: long + long, Reason: commerce.UnsentTestMode, OrderID: last.ID, CreatedOn: 1}
	c := commerce.Changes{Attention: []commerce.Attention{{StoreID: last.StoreID, OrderID: last.ID, Code: commerce.AttentionProviderRefusesUs, Since: last.CreatedOn}},
		Endpoints: []commerce.Endpoint{{PartnerID: fixture.PartnerID, Failures: commerce.FailingAfter, FailingSince: 1}},
		Orders:    []commerce.Order{last}, Audit: []commerce.AuditEntry{entry}, Outbox: []commerce.UnsentMessage{message}}
	fixture.Change(t, o.Engine, needsOf(c), func(*commerce.Rows, commerce.Millis) commerce.Changes { return c })
	url := o.serving("boss").URL
	for _, theme := range []string{"light", "dark"} {
		boss := o.users["boss"]
		boss.Preferences.Theme = theme
		o.users["boss"] = boss
		fitting(t, url, theme, map[string]string{"today": "/office", "reports": "/office/reports?from=" + time.Now().AddDate(0, 0, -30).Format(time.DateOnly), "audit": "/office/audit",
			"outbox": "/office/outbox", "message": "/office/outbox/out_1"})
	}
}
