package effect

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/testkit/fixture"
)

// askForLink makes a member that asks for a link.
func (s *shop) askForLink() commerce.Member {
	s.T.Helper()
	made, err := s.uses().InviteMember(context.Background(), commerce.Actor{Kind: commerce.ActorOperator, ID: "ann"}, service.InviteMember{PartnerID: fixture.PartnerID, Email: "bo@p.example", Role: commerce.MemberRead})
	if err == nil {
		err = s.uses().RequestMemberLink(context.Background(), "Bo@p.example ", "192.0.2.1")
	}
	if err != nil {
		s.T.Fatal(err)
	}
	return made.Member
}

// TestLinksAreMailed: the link of a mail signs in, and that of an attempt before it does not. A mail
// that cannot be sent is kept without its link.
func TestLinksAreMailed(t *testing.T) {
	token := regexp.MustCompile(`/portal/enter\?token=(\S+)`)
	in(t, func(s *shop) {
		m := s.askForLink()
		s.fails = errors.New("connection refused")
		s.runDue(fixture.PartnerID)
		s.fails = nil
		s.runDue(fixture.PartnerID)
		mails := s.sentMails()
		if len(mails) != 2 || mails[1].To != m.Email || mails[0].ID != mails[1].ID {
			t.Fatalf("%+v", mails)
		}
		enter := func(text string) error {
			_, err := s.uses().EnterPortal(context.Background(), commerce.Session{ID: "s", Data: []byte{}, ExpiresOn: commerce.MillisOf(time.Now().Add(time.Hour))}, "", token.FindStringSubmatch(text)[1])
			return err
		}
		if err := enter(mails[0].Text); err == nil {
			t.Error("the link of the mail that failed signs in")
		}
		if err := enter(mails[1].Text); err != nil {
			t.Error(err)
		}
		if left := s.Jobs(commerce.JobWaiting, fixture.PartnerID); len(left) != 0 {
			t.Errorf("jobs left: %+v", left)
		}
	})
	in(t, func(s *shop) {
		s.askForLink()
		e := s.start(false)
		defer s.stop(e)
		time.Sleep(5 * time.Second)
		kept := s.outbox()
		if len(kept) != 1 || kept[0].Reason != commerce.UnsentNotConfigured || strings.Contains(kept[0].Text, "token=") {
			t.Errorf("%+v", kept)
		}
	})
	in(t, func(s *shop) {
		m := s.askForLink()
		if _, err := s.uses().RemoveMember(context.Background(), commerce.Actor{Kind: commerce.ActorOperator, ID: "ann"}, fixture.PartnerID, m.ID); err != nil {
			t.Fatal(err)
		}
		e := s.start(true)
		defer s.stop(e)
		time.Sleep(5 * time.Second)
		if left := s.Jobs(commerce.JobWaiting, fixture.PartnerID); len(left) != 0 || len(s.sentMails()) != 0 {
			t.Errorf("a removed member: %+v, %+v", left, s.sentMails())
		}
	})
}
