package commerce

import (
	"fmt"
	"testing"
	"time"
)

// TestAlarmsOfEndpoints goes through the states of an endpoint, and through what people were
// told before.
func TestAlarmsOfEndpoints(t *testing.T) {
	const now = Millis(1_800_000_000_000)
	ago := func(d time.Duration) Millis { return now.Add(-d) }
	held := func(since time.Duration) Endpoint {
		return Endpoint{Failures: 9, FailingSince: ago(since + time.Minute), HeldSince: ago(since), HeldUntil: now + 1}
	}
	paused := func(by PauseReason) Endpoint { return Endpoint{Failures: 9}.Pause(by, ago(time.Minute)) }
	asked := Endpoint{Failures: 1, FailingSince: ago(2 * time.Hour), HeldSince: ago(2 * time.Hour), HeldUntil: now.Add(time.Hour)} // by Retry-After
	for _, c := range []struct {
		name string
		e    Endpoint
		want string // after nothing, held, pausing and paused were told
	}{
		{"healthy", Endpoint{}, "-,healed,healed,healed"},
		{"some failures", Endpoint{Failures: 4, FailingSince: ago(2 * day)}, "-,healed,healed,healed"},
		{"held", held(0), "-,-,-,-"},
		{"held for 59 minutes", held(time.Hour - 1e6), "-,-,-,-"},
		{"held for an hour", held(time.Hour), "held,-,-,held"},
		{"asked to wait", asked, "held,-,-,held"},
		{"a day and a bit before its pause", held(4*day - 2*time.Minute), "held,-,-,held"},
		{"a day before its pause", held(4*day - time.Minute), "pausing,pausing,-,pausing"},
		{"gone", paused(PausedGone), "paused,paused,paused,-"},
		{"paused after days", paused(PausedFailing), "paused,paused,paused,-"},
		{"paused by an operator", paused(PausedOperator), "paused,paused,paused,-"},
		{"paused by its partner", paused(PausedPartner), "-,-,-,-"},
		{"resumed", paused(PausedGone).Resume(now), "-,-,-,-"},
		{"healed", held(time.Hour).Healed(), "-,healed,healed,healed"},
	} {
		got := ""
		for i, told := range []Alarm{"", AlarmHeld, AlarmPausing, AlarmPaused} {
			e := c.e
			e.Alarmed = told
			next := e.NextAlarm(now)
			if next != "" {
				if again := e.Told(next).NextAlarm(now); again != "" {
					t.Errorf("%s: %s is followed by %s at once", c.name, next, again)
				}
			}
			got += fmt.Sprint(map[bool]string{true: ","}[i > 0], map[bool]string{true: "-"}[next == ""], next)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestAlarmsOfKeys: a fortnight and two days before a key ends, unless it was made to end so
// soon.
func TestAlarmsOfKeys(t *testing.T) {
	const now = Millis(1_800_000_000_000)
	for _, c := range []struct {
		life, left time.Duration
		revoked    bool
		told, want Alarm
	}{
		{30 * day, 15 * day, false, "", ""},
		{30 * day, 14 * day, false, "", AlarmFortnight},
		{30 * day, 14 * day, false, AlarmFortnight, ""},
		{30 * day, 3 * day, false, "", AlarmFortnight},
		{30 * day, 2 * day, false, AlarmFortnight, AlarmLastDays},
		{30 * day, time.Minute, false, "", AlarmLastDays},
		{30 * day, time.Minute, false, AlarmLastDays, ""},
		{30 * day, 0, false, "", ""},
		{30 * day, day, true, "", ""},
		{14 * day, 13 * day, false, "", ""},
		{14 * day, 2 * day, false, "", AlarmLastDays},
		{2 * day, day, false, "", ""},
	} {
		k := APIKey{CreatedOn: now.Add(c.left - c.life), ExpiresOn: now.Add(c.left), Alarmed: c.told}
		if c.revoked {
			k.RevokedOn = now - 1
		}
		if got := k.NextAlarm(now); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	if got := (APIKey{CreatedOn: 1}).NextAlarm(now); got != "" {
		t.Errorf("a key without an end: %s", got)
	}
}

// TestCountAlarm: ten a day of the calendar.
func TestCountAlarm(t *testing.T) {
	const now = Millis(20_000 * 86_400_000)
	var count MailCount
	for i := range 12 {
		var ok bool
		if count, ok = CountAlarm(count, now+Millis(i)); ok != (i < AlarmsOfPartner) {
			t.Errorf("alarm %d: %v", i+1, ok)
		}
	}
	if next, ok := CountAlarm(count, now.Add(day)); !ok || next.Count != 1 || next.Day != 20_001 {
		t.Errorf("the day after: %+v, %v", next, ok)
	}
}

func TestAlarmMailRef(t *testing.T) {
	m := AlarmMail{AlarmHeld, "ptn_1/whe_2", "ann@example.com"}
	if got, ok := ParseAlarmMail(m.Ref()); !ok || got != m {
		t.Errorf("%q: %+v, %v", m.Ref(), got, ok)
	}
	if got, ok := ParseAlarmMail("held ptn_1"); ok {
		t.Errorf("%+v", got)
	}
}

// TestHeldSince: a hold begins once, however often its probes fail.
func TestHeldSince(t *testing.T) {
	const now = Millis(1_800_000_000_000)
	fails := func(e Endpoint, at Millis) Endpoint {
		return e.After(Job{State: JobParked}, WebhookAttempt{Status: 500, Error: "no"}, 0, at, 0).Endpoint
	}
	e := Endpoint{Failures: 4, FailingSince: now - 9}
	for i := range Millis(3) {
		if e = fails(e, now+i*60_000); e.HeldSince != now || e.HeldUntil <= now+i*60_000 {
			t.Errorf("failure %d: %+v", i+5, e)
		}
	}
	if h := e.Healed(); h.HeldSince != 0 {
		t.Errorf("healed: %+v", h)
	}
	if p := e.Pause(PausedGone, now+9); p.HeldSince != 0 || p.Resume(now+10).HeldSince != now+10 {
		t.Errorf("paused: %+v, resumed: %+v", p, p.Resume(now+10))
	}
}
