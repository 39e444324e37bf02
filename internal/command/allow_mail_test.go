package command

import (
	"fmt"
	"testing"

	"purveyor/internal/commerce"
)

// TestAllowMail: a mail counts once for its order and recipient, and once for its partner,
// however often it is tried; one beyond a limit counts for neither.
func TestAllowMail(t *testing.T) {
	const to = "Ann@e.example"
	key := commerce.OrderKey{StoreID: "sto_1", OrderID: "ord_1"}
	for _, c := range []struct {
		name, job, partner string
		order, all         int64 // counted before, the last one of job_1
		want               string
	}{
		{"first", "job_1", "p", 0, 0, `"" [{sto_1 ord_1 ann@e.example} 1 job_1] [{p day} 1 job_1]`},
		{"next", "job_2", "p", 1, 8, `"" [{sto_1 ord_1 ann@e.example} 2 job_2] [{p day} 9 job_2]`},
		{"tried again", "job_1", "p", 3, 500, `""`},
		{"the merchant's own order", "job_2", "", 1, 0, `"" [{sto_1 ord_1 ann@e.example} 2 job_2]`},
		{"one too many of the order", "job_2", "p", 3, 8, `"too many mails about this order"`},
		{"one too many of the partner", "job_2", "p", 1, 500, `"too many mails of this partner today"`},
	} {
		stored := commerce.Changes{}
		if c.order > 0 {
			stored.Mails = append(stored.Mails, commerce.MailCount{MailKey: commerce.MailsTo(key, to), Count: c.order, JobID: "job_1"})
		}
		if c.all > 0 {
			stored.Mails = append(stored.Mails, commerce.MailCount{MailKey: commerce.MailsFor("p"), Day: int64(now) / 86_400_000, Count: c.all})
		}
		reason, changes, err := decided(AllowMail{Facts: OrderFacts{Key: key, PartnerID: c.partner}, JobID: c.job, To: to}, stored, now)
		got := fmt.Sprintf("%q", reason)
		for _, m := range changes.Mails {
			got += fmt.Sprintf(" [%v %d %s]", m.MailKey, m.Count, m.JobID)
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.name, got, err, c.want)
		}
	}
}
