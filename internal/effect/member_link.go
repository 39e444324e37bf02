package effect

import (
	"context"
	"errors"

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
	without := message
	without.Text = linkText + "(The link is not kept. Mails are not configured, so give the member one by hand.)\n"
	return ms.sendOr(ctx, job, message, without)
}
