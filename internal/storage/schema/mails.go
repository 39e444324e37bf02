package schema

import "purveyor/internal/commerce"

// Mails keeps the rows of commerce.Rows by that name.
var Mails = Table[commerce.MailKey, commerce.MailCount]{
	Name: "mail_counts", Key: "owner, name", Mutable: "day, count, job_id",
	KeyOf:       func(v *commerce.MailCount) commerce.MailKey { return v.MailKey },
	BindKey:     func(b Binder, k commerce.MailKey) { b.Text(k.Owner).Text(k.Name) },
	BindFixed:   none[commerce.MailCount],
	BindMutable: func(b Binder, v *commerce.MailCount) { b.Int(v.Day).Int(v.Count).Text(v.JobID) },
	Scan: func(s Scanner, k commerce.MailKey) commerce.MailCount {
		return commerce.MailCount{MailKey: k, Day: s.Int(), Count: s.Int(), JobID: s.Text()}
	},
}
