package backoffice

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/testkit/browser"
	"purveyor/internal/testkit/fixture"

	"github.com/chromedp/chromedp"
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
	chromium := browser.Start(t)
	server := o.serving("boss")
	for _, theme := range []string{"light", "dark"} {
		boss := o.users["boss"]
		boss.Preferences.Theme = theme
		o.users["boss"] = boss
		for _, width := range []int{360, 1280} {
			v := browser.Visit(t, chromium, server.URL+"/office", size(width))
			for _, path := range []string{"", "/reports?from=" + time.Now().AddDate(0, 0, -30).Format(time.DateOnly), "/audit", "/outbox", "/outbox/out_1"} {
				if err := chromedp.Do(v.Tab, chromedp.Navigate(server.URL+"/office"+path)); err != nil {
					t.Fatal(err)
				}

				browser.Ask[bool](v, `document.querySelectorAll("main details").forEach(d => d.open = true), true`)
				t.Log(path, theme, width) // the problems below are of this page
				v.Fits(width)
				v.Readable()
				name, _, _ := strings.Cut("office"+strings.ReplaceAll(path, "/", "-"), "?")
				browser.Screenshot(t, v.Tab, fmt.Sprintf("%s-%s-%d", name, theme, width))
			}
			for _, problem := range v.Problems() {
				t.Error(problem)
			}
		}
	}
}
