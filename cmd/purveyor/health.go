package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"purveyor/internal/backup"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/sqlite"
)

// finding is what a check has found, for readiness and for `doctor`.
type finding struct {
	Check  string `json:"check"`
	State  string `json:"state"`
	Text   string `json:"text"`
	Advice string `json:"advice,omitempty"` // what to do
}

// The states of a finding.
const (
	fine  = "ok"
	warns = "warn"
	fails = "fail"
)

func (f finding) String() string {
	line := fmt.Sprintf("%-5s%s: %s", f.State, f.Check, f.Text)
	if f.Advice != "" {
		line += "; " + f.Advice
	}
	return line
}

// found returns what a check has found: that all is well, or an error and what to do.
func found(check, text string, err error, advice string) finding {
	if err != nil {
		return finding{check, fails, err.Error(), advice}
	}
	return finding{Check: check, State: fine, Text: text}
}

// answers are the findings of a read and of a write.
func answers(read, write error) []finding {
	const advice = "see the log of the service, and docs/OPERATING.md"
	return []finding{found("database", "it answers reads", read, advice), found("database", "it takes writes", write, advice)}
}

// health looks at an open database. Readiness and `doctor` have these checks in common.
func (d *database) health(ctx context.Context) []finding {
	v, err := d.Reader().Gauges(ctx, storage.MostWatched)
	if err != nil {
		return []finding{found("state of the database", "", err, "")}
	}
	return append([]finding{ofJobs(v.Jobs, commerce.MillisOf(time.Now()))}, ofSchema(v.Schema, sqlite.Schema()), ofDisk(v.Vitals), ofClock(map[string]time.Duration{"database": v.ClockOffset}))
}

func ofSchema(is, known int) finding {
	f := finding{Check: "migrations", State: fine, Text: fmt.Sprintf("the schema is number %d", is)}
	if is > known {
		f.State, f.Text = warns, f.Text+fmt.Sprintf(", and this program knows %d", known)
		f.Advice = "run the newer program"
	}
	return f
}

// tooLate is how long a job may be past its time.
const tooLate = 5 * time.Minute

func ofJobs(counts []storage.JobCount, now commerce.Millis) finding {
	of := map[commerce.JobState]int64{}
	behind := time.Duration(0)
	for _, c := range counts {
		of[c.State] += c.Count
		if c.State == commerce.JobWaiting {
			behind = max(behind, now.Sub(c.First))
		}
	}
	f := finding{Check: "jobs", State: fine, Text: fmt.Sprintf("%d waiting, the oldest %d s past its time", of[commerce.JobWaiting], int64(behind.Seconds()))}
	for _, state := range []commerce.JobState{commerce.JobParked, commerce.JobHeld, commerce.JobDead} {
		f.Text += fmt.Sprintf(", %d %s", of[state], state)
	}
	switch {
	case of[commerce.JobHeld] > 0:
		f.State, f.Advice = warns, "the database was restored: compare by purveyor ledger check, then purveyor jobs release"
	case behind > tooLate:
		f.State, f.Advice = warns, "is the service running? purveyor jobs list shows what waits, and the last errors"
	case of[commerce.JobDead] > 0:
		f.State, f.Advice = warns, "purveyor jobs list --state dead shows why; retry them, or give them up"
	}
	return f
}

// The room that a disk must have: so much, and this part of the database.
const (
	leastFree     = 1 << 30
	leastFreePart = 10
)

func ofDisk(v storage.Vitals) finding {
	f := finding{Check: "disk", State: fine, Text: fmt.Sprintf("%d MiB are free", v.FreeBytes>>20)}
	switch {
	case v.FreeBytes == 0:
		f.Text = "the database has its own"
	case v.FreeBytes < leastFree || v.FreeBytes < v.Bytes/leastFreePart:
		f.State, f.Advice = fails, "make room before nothing can be saved any more"
	}
	return f
}

// maxClockOffset is how far another clock may be from ours.
const maxClockOffset = 2 * time.Second

// ofClock compares clocks, each by how far it is ahead of ours.
func ofClock(ahead map[string]time.Duration) finding {
	f := finding{Check: "clock", State: fine}
	for _, name := range sortedKeys(ahead) {
		if f.Text != "" {
			f.Text += ", "
		}
		f.Text += fmt.Sprintf("that of the %s is %v ahead", name, ahead[name].Round(time.Millisecond))
		if ahead[name].Abs() > maxClockOffset {
			f.State, f.Advice = fails, "set both by NTP"
		}
	}
	return f
}

// oldBackup is the age at which a daily backup is missing.
const oldBackup = 26 * time.Hour

// ofBackups looks at the results in a folder of backups; empty: none is watched.
func ofBackups(dir string, onServer bool, now time.Time) (list []finding) {
	const check = "backup"
	switch {
	case dir == "" && onServer:
		return []finding{{check, fine, "PostgreSQL has its own, which are not looked at here", ""}}
	case dir == "":
		return []finding{{check, warns, "no folder is watched", "take backups with purveyor backup --to DIR once a day, and name the folder with --backup-dir"}}
	}
	for _, kind := range backup.Kinds {
		r, err := backup.ReadResult(dir, kind)
		switch {
		case err == nil && r == nil && kind != backup.OfBackup:
			continue
		case err == nil && r == nil:
			err = errors.New("there is none in " + dir)
		case err == nil && !r.OK:
			err = errors.New("the last attempt failed: " + r.Error)
		case err == nil && now.Sub(r.GoodOn) > oldBackup:
			err = fmt.Errorf("the newest is from %s", r.GoodOn.Format(time.RFC3339))
		}
		text := ""
		if err == nil {
			text = fmt.Sprintf("the newest is %d h old", int64(now.Sub(r.GoodOn).Hours()))
		}
		list = append(list, found(string(kind), text, err, "run it by hand, and read why it fails"))
	}
	return list
}
