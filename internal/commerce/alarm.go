package commerce

import (
	"strings"
	"time"
)

// Alarm is a state of an endpoint or a key of which people are told by e-mail, once.
type Alarm string

// The alarms.
const (
	AlarmHeld      Alarm = "held"            // the endpoint has been held for an hour
	AlarmPausing   Alarm = "pausing"         // it will be paused within a day
	AlarmPaused    Alarm = "paused"          // nothing is sent until it is resumed
	AlarmHealed    Alarm = "healed"          // it answers again, after one of these
	AlarmFortnight Alarm = "ends_in_14_days" // the key
	AlarmLastDays  Alarm = "ends_in_2_days"
)

// The limits of alarms.
const (
	AlarmsOfPartner   = 10 // a day
	MaxAlarmAddresses = 5

	heldLong  = time.Hour
	fortnight = 14 * day
	lastDays  = 2 * day
)

// AlarmWindow is how far ahead the end of a key may lie that raises an alarm.
const AlarmWindow = fortnight

// NextAlarm is what people are to be told of the endpoint now; empty: nothing. A partner that
// paused its endpoint knows. What comes after a hold is not known before the next attempt, so
// a resumed endpoint raises nothing until it is healed, or held for an hour again.
func (e Endpoint) NextAlarm(now Millis) Alarm {
	next := Alarm("")
	switch {
	case e.PausedOn != 0 && e.PausedFor != PausedPartner:
		next = AlarmPaused
	case e.PausedOn != 0:
	case e.HeldUntil == 0 && e.Alarmed != "":
		return AlarmHealed
	case e.HeldUntil == 0:
	case e.Failing() && now >= e.FailingSince.Add(PauseAfter-day):
		next = AlarmPausing
	case now >= e.HeldSince.Add(heldLong) && e.Alarmed != AlarmPausing: // which says more
		next = AlarmHeld
	}
	if next == e.Alarmed {
		return ""
	}
	return next
}

// Told is the endpoint after people were told.
func (e Endpoint) Told(a Alarm) Endpoint {
	if e.Alarmed = a; a == AlarmHealed {
		e.Alarmed = ""
	}
	return e
}

// NextAlarm is what people are to be told of the key now; empty: nothing. A key that was
// made to end so soon raises nothing. The caller asks only for keys that no other replaces.
func (k APIKey) NextAlarm(now Millis) Alarm {
	if k.ExpiresOn == 0 || k.State(now) != KeyActive {
		return ""
	}
	next, left, life := Alarm(""), k.ExpiresOn.Sub(now), k.ExpiresOn.Sub(k.CreatedOn)
	switch {
	case left <= lastDays && life > lastDays:
		next = AlarmLastDays
	case left > lastDays && left <= fortnight && life > fortnight:
		next = AlarmFortnight
	}
	if next == k.Alarmed {
		return ""
	}
	return next
}

// AlarmsFor is the key of the count of alarms about a partner.
func AlarmsFor(partnerID string) MailKey { return MailKey{partnerID, "alarms"} }

// CountAlarm counts an alarm. It returns false, and the count as it was, if the alarm is
// beyond the limit of the day.
func CountAlarm(count MailCount, now Millis) (MailCount, bool) {
	if today := int64(now) / day.Milliseconds(); count.Day != today {
		count.Day, count.Count = today, 0
	}
	if count.Count >= AlarmsOfPartner {
		return count, false
	}
	count.Count++
	return count, true
}

// AlarmMail is one e-mail of an alarm, as the job that sends it names it.
type AlarmMail struct {
	Alarm Alarm
	About string // the owner of the endpoint's jobs, or the id of the key
	To    string // an e-mail address
}

// Ref is the subject of the job. Its parts are without spaces.
func (m AlarmMail) Ref() string { return string(m.Alarm) + " " + m.About + " " + m.To }

// ParseAlarmMail reads a Ref.
func ParseAlarmMail(ref string) (m AlarmMail, ok bool) {
	parts := strings.Split(ref, " ")
	if len(parts) != 3 {
		return m, false
	}
	return AlarmMail{Alarm(parts[0]), parts[1], parts[2]}, true
}
