package command

import "purveyor/internal/commerce"

// membersOf are the rows of a changed member and of the member that changes it, if one does.
func membersOf(by, changed string) []string {
	if by == "" || by == changed {
		return []string{changed}
	}
	return []string{changed, by}
}

// adminOf refuses a member that is no admin of the partner any more. Staff and operators (empty)
// are not asked.
func adminOf(rows *commerce.Rows, by, partnerID string) error {
	if by == "" {
		return nil
	}
	if m, _ := rows.Members.Get(by); m.PartnerID != partnerID || m.Role != commerce.MemberAdmin {
		return &commerce.Error{Kind: commerce.KindForbidden, Code: "permission_missing", Message: "Only an admin of the partner may do this"}
	}
	return nil
}

// otherMember is a member of a partner that another one, or staff, changes. A member does not change
// itself, so that a partner keeps an admin.
func otherMember(rows *commerce.Rows, by, partnerID, id string) (commerce.Member, error) {
	if err := adminOf(rows, by, partnerID); err != nil {
		return commerce.Member{}, err
	}
	m, _ := rows.Members.Get(id)
	switch {
	case m.PartnerID != partnerID:
		return m, commerce.NotFound("member")
	case by == id:
		return m, commerce.Conflict("own_member", "Another admin has to do this to your own membership")
	}
	return m, nil
}

// linkJob is the job that mails a link to a member.
func linkJob(m commerce.Member, now commerce.Millis) commerce.Job {
	return commerce.Job{Kind: commerce.JobMemberLink, Owner: m.PartnerID, Subject: m.ID, RunAt: now}
}
