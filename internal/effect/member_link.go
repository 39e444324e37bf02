package effect

import (
	"context"
	"errors"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/jobs"
)

const linkText = `This link signs you in to the partner portal, once, within 10 minutes:

`

// sendLink mails a new link to a member. The link is drawn here, so that it is stored nowhere but
// as a digest; a mail that cannot be sent is kept without it.
func (ms messages) sendLink(ctx context.Context, job commerce.Job) jobs.Outcome {
	made, err := ms.Uses.MakeMemberLink(ctx, job.Subject)
	if refused, ok := errors.AsType[*commerce.Error](err); ok && refused.Kind == commerce.KindNotFound {
		return ms.done(job) // the member was removed
	}
	if err != nil {
		return ms.retryAfterLease(job, err)
	}
	message := commerce.UnsentMessage{Kind: commerce.UnsentMail, To: made.Member.Email, Subject: "Sign in to the partner portal",
		Text: linkText + ms.PublicURL + "/portal/enter?token=" + made.Token + "\n"}
	send := ms.transport(job, message)
	if send == nil {
		message.Text = linkText + "(The link is not kept. Mails are not configured, so give the member one by hand.)\n"
		return outcome(ms.Options, job, command.RecordMessage{RecordJob: ms.recordJob(job), Kept: kept(message, commerce.UnsentNotConfigured)}, nil)
	}
	record := ms.recordJob(job)
	record.Failed = send(ctx)
	return outcome(ms.Options, job, record, record.Failed)
}
