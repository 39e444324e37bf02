package commerce

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestJobFailed(t *testing.T) {
	const now = 1_800_000_000_000
	refused := errors.New("connection refused")
	for _, c := range []struct {
		name   string
		job    Job
		err    error
		delays []time.Duration
		jitter float64
		wait   int64
		state  JobState
	}{
		{"first", Job{}, refused, RetryDelays, 0, 5000, JobWaiting},
		{"jitter adds up to a tenth", Job{}, refused, RetryDelays, 0.999, 5499, JobWaiting},
		{"second", Job{Tries: 1}, refused, RetryDelays, 0, 300_000, JobWaiting},
		{"last delay", Job{Tries: 8}, refused, RetryDelays, 0, 86_400_000, JobWaiting},
		{"last try", Job{Tries: 9}, refused, RetryDelays, 0, 86_400_000, JobDead},
		{"probes do not count", Job{Tries: 400, Probes: 399}, refused, RetryDelays, 0, 300_000, JobWaiting},
		{"a callback's last delay", Job{Tries: 4}, refused, MessageDelays, 0, 18_000_000, JobWaiting},
		{"a callback's last try", Job{Tries: 5}, refused, MessageDelays, 0, 18_000_000, JobDead},
		{"permanent", Job{}, fmt.Errorf("mail: %w", &PermanentError{refused}), MessageDelays, 0, 5000, JobDead},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.job.State = JobWaiting
			got := c.job.Failed(c.err, c.delays, now, c.jitter)
			if got.RunAt-now != Millis(c.wait) || got.State != c.state || got.Tries != c.job.Tries+1 || got.Error != c.err.Error() {
				t.Errorf("%+v; want a wait of %d ms, %s", got, c.wait, c.state)
			}
		})
	}
}

func TestJobDue(t *testing.T) {
	const now = 1_800_000_000_000
	for _, c := range []struct {
		job  Job
		want bool
	}{
		{Job{State: JobWaiting, RunAt: now}, true},
		{Job{State: JobWaiting, RunAt: now + 1}, false},
		{Job{State: JobWaiting, RunAt: now + 25*hourMs}, false},
		{Job{State: JobWaiting, RunAt: now + 400*dayMs}, true}, // written under a wrong clock
		{Job{State: JobParked, RunAt: now}, false},
		{Job{State: JobDead, RunAt: now}, false},
	} {
		if got := c.job.Due(now); got != c.want {
			t.Errorf("%+v is due: %v", c.job, got)
		}
	}
}

func TestCleanText(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"ok", "ok"},
		{"a\r\nb\tc", "a\nb\tc"},
		{"nul \x00, escape \x1b[31m, bell \a", "nul \uFFFD, escape \uFFFD[31m, bell \uFFFD"},
		{"bad \xff\xfe utf-8", "bad \uFFFD\uFFFD utf-8"},
		{"right to left \u202e", "right to left \uFFFD"},
		{strings.Repeat("é", 300), strings.Repeat("é", 256)},
		{strings.Repeat("x", 511) + "é", strings.Repeat("x", 511)},
		{strings.Repeat("\xff", 600), strings.Repeat("\uFFFD", 170)},
	} {
		if got := CleanText(c.text, MaxNote); got != c.want {
			t.Errorf("CleanText(%.40q) = %.60q", c.text, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(rapid.Byte(), 0, 700).Draw(t, "text"))
		if got := CleanText(text, MaxNote); len(got) > MaxNote || !utf8.ValidString(got) || strings.ContainsAny(got, "\x00\x1b\r") {
			t.Fatalf("%q", got)
		}
	})
}
