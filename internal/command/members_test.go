package command

import (
	"errors"
	"slices"
	"testing"

	"purveyor/internal/commerce"
)

// members are two partners with members, one of which has a link, and counts of links.
func members(counts ...commerce.SignInCount) commerce.Changes {
	return commerce.Changes{Partners: []commerce.Partner{{ID: "p"}}, Members: []commerce.Member{{ID: "mem_admin", PartnerID: "p", Email: "a@p.example", Role: commerce.MemberAdmin},
		{ID: "mem_read", PartnerID: "p", Email: "r@p.example", Role: commerce.MemberRead}, {ID: "mem_other", PartnerID: "q", Email: "o@q.example", Role: commerce.MemberAdmin}},
		SignInLinks: []commerce.SignInLink{{UserID: "mem_read", Hash: commerce.HashKey("t"), ExpiresOn: 100}}, SignInCounts: counts}
}

// decide decides a command over those of the rows that it needs.
func decide[R any](cmd decider[R], stored commerce.Changes, now commerce.Millis) (R, commerce.Changes, error) {
	needs := cmd.Needs()
	stored.Partners = slices.DeleteFunc(slices.Clone(stored.Partners), func(p commerce.Partner) bool { return !slices.Contains(needs.Partners, p.ID) })
	stored.Members = slices.DeleteFunc(slices.Clone(stored.Members), func(m commerce.Member) bool { return !slices.Contains(needs.Members, m.ID) })
	stored.SignInLinks = slices.DeleteFunc(slices.Clone(stored.SignInLinks), func(l commerce.SignInLink) bool { return !slices.Contains(needs.SignInLinks, l.UserID) })
	return decided(cmd, stored, now)
}

// TestMembers: admins of the partner change other members, and no member else does.
func TestMembers(t *testing.T) {
	fresh := commerce.Member{ID: "mem_new", PartnerID: "p", Email: "n@p.example", Role: commerce.MemberRead}
	for _, c := range []struct{ by, changed, want string }{
		{"", "mem_read", ""}, {"mem_admin", "mem_read", ""}, {"mem_read", "mem_admin", "permission_missing"}, {"mem_other", "mem_read", "permission_missing"}, {"mem_gone", "mem_read", "permission_missing"},
		{"mem_admin", "mem_other", "not_found"}, {"", "mem_other", "not_found"}, {"mem_admin", "mem_admin", "own_member"},
	} {
		role := commerce.MemberAdmin
		if c.changed == "mem_admin" {
			role = commerce.MemberRead
		}
		_, changed, err := decide(ChangeMember{By: c.by, PartnerID: "p", MemberID: c.changed, Role: role, Sessions: []string{"s"}}, members(), 9)
		if refusal, ok := errors.AsType[*commerce.Error](err); ok && c.want == "permission_missing" && (refusal.Kind != commerce.KindForbidden || refusal.Message != "Only an admin of the partner may do this") {
			t.Errorf("%+v: %+v", c, refusal)
		}
		if codeOf(err) != c.want || c.want == "" && (len(changed.Members) != 1 || changed.Members[0].Role != role || !slices.Equal(changed.EndedSessions, []string{"s"})) {
			t.Errorf("%+v: %+v, %v", c, changed, err)
		}
		_, removed, err := decide(RemoveMember{By: c.by, PartnerID: "p", MemberID: c.changed, Sessions: []string{"s"}}, members(), 9)
		if codeOf(err) != c.want || c.want == "" && (!slices.Equal(removed.GoneMembers, []string{c.changed}) || removed.SignInLinks[0].Hash != commerce.KeyHash{} || len(removed.EndedSessions) != 1) {
			t.Errorf("%+v: %+v, %v", c, removed, err)
		}
		if c.want == "permission_missing" {
			if _, changes, err := decide(InviteMember{By: c.by, Member: fresh}, members(), 9); codeOf(err) != c.want || len(changes.Members) > 0 {
				t.Errorf("%s invites: %+v, %v", c.by, changes, err)
			}
		}
	}
	if _, same, err := decide(ChangeMember{PartnerID: "p", MemberID: "mem_read", Role: commerce.MemberRead, Sessions: []string{"s"}}, members(), 9); err != nil || !same.Empty() {
		t.Errorf("the same role: %+v, %v", same, err)
	}
	_, byStaff, err := decide(InviteMember{Member: fresh, LinkHash: commerce.HashKey("x"), ExpiresOn: 7}, members(), 9)
	if err != nil || len(byStaff.Members) != 1 || byStaff.SignInLinks[0].Hash != commerce.HashKey("x") || len(byStaff.NewJobs) > 0 {
		t.Errorf("%+v, %v", byStaff, err)
	}
	_, byAdmin, err := decide(InviteMember{By: "mem_admin", Member: fresh, LinkHash: commerce.HashKey("x")}, members(), 9)
	if err != nil || len(byAdmin.Members) != 1 || len(byAdmin.SignInLinks) > 0 || !slices.Equal(byAdmin.NewJobs, []commerce.Job{{Kind: commerce.JobMemberLink, Owner: "p", Subject: fresh.ID, RunAt: 9}}) {
		t.Errorf("%+v, %v", byAdmin, err)
	}
	again := commerce.Member{ID: "mem_read", PartnerID: "p", Role: commerce.MemberAdmin}
	if m, changes, err := decide(InviteMember{Member: again}, members(), 9); err != nil || m.Role != commerce.MemberRead || len(changes.Members) > 0 || len(changes.SignInLinks) != 1 {
		t.Errorf("invited again: %+v, %+v, %v", m, changes, err)
	}
}

// TestMemberLinks: a link works once and for its time; asking for links is counted whether or not
// the address is known, and a member alone gets a mail.
func TestMemberLinks(t *testing.T) {
	session := commerce.Session{ID: "s", UserID: "mem_read"}
	enter := EnterPortal{Session: session, Old: "o", LinkHash: commerce.HashKey("t")}
	_, changes, err := decide(enter, members(), 99)
	if err != nil || len(changes.Sessions) != 1 || changes.SignInLinks[0].Hash != (commerce.KeyHash{}) || changes.EndedSessions[0] != "o" {
		t.Errorf("%+v, %v", changes, err)
	}
	if _, changes, err := decide(enter, members(), 100); codeOf(err) != "link_used" || len(changes.Sessions) > 0 {
		t.Errorf("too late: %+v, %v", changes, err)
	}
	used := members()
	used.SignInLinks[0].Hash = commerce.KeyHash{}
	if _, _, err := decide(enter, used, 9); codeOf(err) != "link_used" {
		t.Errorf("used: %v", err)
	}
	enter.Session.UserID = "mem_gone"
	if _, _, err := decide(enter, members(), 9); codeOf(err) != "link_used" {
		t.Errorf("removed: %v", err)
	}
	for id, jobs := range map[string]int{"mem_read": 1, "": 0} {
		try := commerce.SignInTry{ID: "x", Most: commerce.MemberLinks, Window: commerce.MemberLinkWindow}
		stored, now := members(), commerce.Millis(1_000_000_000)
		for i := range 6 {
			counted, changes, err := decide(RequestMemberLink{Member: commerce.Member{ID: id}, Tries: []commerce.SignInTry{try}}, stored, now)
			if _, refused := errors.AsType[*commerce.TooManyTries](err); refused != (i == 5) || !counted || refused && !changes.Empty() || !refused && (len(changes.NewJobs) != jobs || len(changes.SignInCounts) != 1) {
				t.Fatalf("%q, %d: %+v, %v", id, i, changes, err)
			}
			if err == nil {
				stored.SignInCounts = changes.SignInCounts
			}
		}
		if _, _, err := decide(RequestMemberLink{Tries: []commerce.SignInTry{try}}, stored, now.Add(commerce.MemberLinkWindow)); err != nil {
			t.Errorf("an hour later: %v", err)
		}
	}
}
