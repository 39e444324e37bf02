package effect

import (
	"errors"
	"strings"
	"testing"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/testkit/fixture"
)

// alarming stores an endpoint and a key, and the job of an alarm about one of them.
type alarming struct {
	endpoint commerce.Endpoint
	key      commerce.APIKey
	subject  string
}

func (a alarming) Needs() commerce.Needs {
	return commerce.Needs{Endpoints: []string{a.endpoint.Owner()}, APIKeys: []string{a.key.ID}}
}

func (a alarming) Decide(_ *commerce.Rows, now commerce.Millis) (struct{}, commerce.Changes, error) {
	return struct{}{}, commerce.Changes{Endpoints: []commerce.Endpoint{a.endpoint}, APIKeys: []commerce.APIKey{a.key},
		NewJobs: []commerce.Job{{Kind: commerce.JobMailAlarm, Owner: partnerID, PartnerID: partnerID, Subject: a.subject, RunAt: now}}}, nil
}

// TestAlarmMails: the words of each e-mail. Without a mail server it is kept; about what is
// gone there is none.
func TestAlarmMails(t *testing.T) {
	since := commerce.MillisOf(time.Date(2030, 5, 1, 9, 30, 0, 0, time.UTC))
	e := commerce.Endpoint{PartnerID: partnerID, ID: "whe_1", URL: "https://ann:pass@hooks.p.example/in?x=1", Secret: "whsec_a", FailingSince: since}
	k := commerce.APIKey{ID: "key_9", PartnerID: partnerID, Mode: commerce.Live, Name: "till\r\nBcc: x", Hash: commerce.HashKey("k"), ExpiresOn: since}
	paused := func(why commerce.PauseReason) commerce.Endpoint { return e.Pause(why, since) }
	for _, c := range []struct {
		alarm    commerce.Alarm
		endpoint commerce.Endpoint
		about    string
		subject  string // empty: there is no mail
		says     string
	}{
		{commerce.AlarmHeld, e, "p/whe_1", "Webhooks to hooks.p.example are waiting", "has not taken an event for an hour"},
		{commerce.AlarmPausing, e, "p/whe_1", "Webhooks to hooks.p.example are paused tomorrow", "failed since 1 May 2030 09:30 UTC. If it does not answer by 6 May 2030 09:30 UTC"},
		{commerce.AlarmPaused, paused(commerce.PausedGone), "p/whe_1", "Webhooks to hooks.p.example are paused", "answered 410 (gone)"},
		{commerce.AlarmPaused, paused(commerce.PausedFailing), "p/whe_1", "Webhooks to hooks.p.example are paused", "failed for five days"},
		{commerce.AlarmPaused, paused(commerce.PausedOperator), "p/whe_1", "Webhooks to hooks.p.example are paused", "The merchant has paused"},
		{commerce.AlarmPaused, e, "p/whe_1", "Webhooks to hooks.p.example are paused", "The endpoint was paused."},
		{commerce.AlarmHealed, e, "p/whe_1", "Webhooks to hooks.p.example are sent again", "answers again"},
		{commerce.AlarmHealed, e, "p/whe_2", "", ""},
		{commerce.AlarmHealed, e, "p", "Webhooks to p.example are sent again", "Endpoint: https://user:xxxxx@p.example/hook"}, // the callback URL
		{commerce.AlarmFortnight, e, "key_9", "A live key ends on 1 May", "Key: till  Bcc: x (key_9)\n\nThe key ends on 1 May 2030 09:30 UTC."},
		{commerce.AlarmLastDays, e, "key_8", "", ""},
	} {
		for _, configured := range []bool{true, false} {
			in(t, func(s *shop) {
				run := s.start(configured)
				defer s.stop(run)
				about := strings.Replace(c.about, "p/", partnerID+"/", 1)
				if c.about == "p" {
					about = partnerID
				}
				fixture.Do(s.Shop, alarming{c.endpoint, k, commerce.AlarmMail{Alarm: c.alarm, About: about, To: "dev@p.example"}.Ref()})
				time.Sleep(5 * time.Second)
				sent, kept := s.sentMails(), s.outbox()
				if left := s.Jobs(commerce.JobWaiting, partnerID); len(left) != 0 {
					t.Errorf("%s: left %+v", c.alarm, left)
				}
				if c.subject == "" {
					if len(sent)+len(kept) != 0 {
						t.Errorf("%s about %s: sent %+v, kept %+v", c.alarm, c.about, sent, kept)
					}
					return
				}
				if !configured {
					if len(sent) != 0 || len(kept) != 1 || kept[0].Reason != commerce.UnsentNotConfigured || kept[0].Subject != c.subject || kept[0].To != "dev@p.example" {
						t.Errorf("%s: sent %+v, kept %+v", c.alarm, sent, kept)
					}
					return
				}
				if len(sent) != 1 || len(kept) != 0 {
					t.Fatalf("%s: sent %+v, kept %+v", c.alarm, sent, kept)
				}
				m := sent[0]
				if m.To != "dev@p.example" || m.Subject != c.subject || !strings.Contains(m.Text, c.says) || !strings.HasPrefix(m.Text, "Partner: ") || m.HTML != "" ||
					strings.Contains(m.Text, ":pass") || strings.Contains(m.Text, "whsec") {
					t.Errorf("%s: %+v", c.alarm, m)
				}
			})
		}
	}
}

// TestAlarmMailIsRetried: a server that is away is asked again, with the same message.
func TestAlarmMailIsRetried(t *testing.T) {
	in(t, func(s *shop) {
		url := "https://hooks.p.example"
		fixture.Do(s.Shop, command.UpdatePartner{ID: partnerID, CallbackURL: &url})
		s.fails = errors.New("connection refused")
		fixture.Do(s.Shop, alarming{commerce.Endpoint{PartnerID: partnerID}, commerce.APIKey{ID: "key_9", PartnerID: partnerID},
			commerce.AlarmMail{Alarm: commerce.AlarmHeld, About: partnerID, To: "dev@p.example"}.Ref()})
		s.runDue(partnerID)
		tried := len(s.sentMails())
		s.fails = nil
		s.runDue(partnerID)
		sent := s.sentMails()
		if tried == 0 || len(sent) <= tried || sent[0] != sent[len(sent)-1] || len(s.Jobs(commerce.JobWaiting, partnerID)) != 0 {
			t.Errorf("tried %d times, then %+v", tried, sent)
		}
	})
}
