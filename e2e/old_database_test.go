package e2e_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
)

// A database of program 5d17b42, which was killed in the middle of its work, is
// migrated. Every answered key returns the same bytes, pending work ends, and the
// ledger adds up.
func TestOldDatabase(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		s := &shop{t: t, dir: t.TempDir()}
		old, dump := readOldShop(t, "sqlite")
		execute(t, s.path(), dump)
		old.goOn(s)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		s := &shop{t: t, postgres: database(t)}
		old, dump := readOldShop(t, "postgres")
		cmd := exec.Command("psql", "--quiet", "--set=ON_ERROR_STOP=1", "--output="+os.DevNull, s.postgres)
		cmd.Stdin = strings.NewReader(dump)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		old.goOn(s)
	})
}

// readOldShop reads a fixture as if the old program had been killed an hour ago, so
// that stored data has not expired, whatever the age of the fixture.
func readOldShop(t *testing.T, name string) (old oldShop, dump string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(oldDatabases, name+".json"))
	check.OK(t, err)
	check.OK(t, json.Unmarshal(data, &old))
	packed, err := os.ReadFile(filepath.Join(oldDatabases, name+".sql.gz"))
	check.OK(t, err)
	r, err := gzip.NewReader(bytes.NewReader(packed))
	check.OK(t, err)
	text, err := io.ReadAll(r)
	check.OK(t, err)
	made := time.UnixMilli(old.MadeOn)
	dump = later(string(text), made, time.Since(made)-time.Hour)
	// The sandboxes' providers, which were unreachable or slow, work again: the
	// orders' tags are removed.
	for _, tag := range []string{"jo+session-unreachable@", "jo+refund-unreachable@", "jo+slow@", "sandbox:no-couriers", "sandbox:slow"} {
		if !strings.Contains(dump, tag) {
			t.Errorf("nothing waits for the end of %s", tag)
		}
		dump = strings.ReplaceAll(dump, tag, strings.NewReplacer("+", "+no-", ":", ":no-").Replace(tag))
	}
	return old, dump
}

var stamps = regexp.MustCompile(`\b1\d{12}\b`)

// later shifts all times (Unix ms) of a dump that are close to the time when it was
// made.
func later(dump string, made time.Time, by time.Duration) string {
	return stamps.ReplaceAllStringFunc(dump, func(text string) string {
		ms, err := strconv.ParseInt(text, 10, 64)
		if at := time.UnixMilli(ms); err != nil || at.Before(made.Add(-time.Hour)) || at.After(made.AddDate(0, 2, 0)) {
			return text
		}
		return strconv.FormatInt(ms+by.Milliseconds(), 10)
	})
}

func (old oldShop) goOn(s *shop) {
	s.t.Helper()
	open := s.rows("SELECT id FROM jobs")
	if len(open) < 50 {
		s.t.Errorf("only %d jobs are open", len(open))
	}
	history := s.rows("SELECT partner_id || ' ' || orders.id || ' ' || seq || ' ' || data FROM timeline JOIN orders ON orders.id = order_id WHERE data IS NOT NULL AND partner_id <> '" +
		old.Partners["Delta"].PartnerID + "'") // which may not read orders
	s.operate("migrate").ok(s.t)
	to := newSink(s.t)
	for _, name := range []string{"Alfa", "Gamma"} {
		s.operate("partner", "update", old.Partners[name].PartnerID, "--callback-url", to.URL+"/"+name).ok(s.t)
	}
	s.operate("webhook", "resume", old.Partners["Alfa"].PartnerID).ok(s.t)
	s.operate("partner", "suspend", "--lift", old.Partners["Gamma"].PartnerID).ok(s.t)
	_, base := serve(s.t, s.url(), "--sandbox-step", "10ms", allowPrivate)
	old.repeat(s.t, base)
	old.reads(s.t, base, history)
	old.finish(s.t, base)
	check.Eventually(s.t, patience, pollPause, "all jobs to end", func() bool {
		// A courier is checked five minutes after the last callback.
		left := s.rows("SELECT id FROM jobs WHERE kind <> 'check_delivery'")
		return !slices.ContainsFunc(open, func(id string) bool { return slices.Contains(left, id) })
	})
	for _, name := range []string{"Alfa", "Gamma"} {
		old.received(s, to, name)
	}
	old.repeat(s.t, base)
	s.operate("ledger", "check").ok(s.t)
	s.checkFile() // checks the stock as well
	for what, query := range map[string]string{
		"customers of no partner that has an order of theirs": `SELECT count(*) FROM customers AS c WHERE NOT EXISTS (SELECT 1 FROM orders AS o
			WHERE o.store_id = c.store_id AND o.customer_id = c.id AND o.partner_id = c.partner_id AND o.mode = c.mode)`,
		"partners whose stored replies are not counted": `SELECT count(*) FROM partners AS p WHERE EXISTS (SELECT 1 FROM replies WHERE partner_id = p.id)
			AND NOT EXISTS (SELECT 1 FROM stored_replies WHERE partner_id = p.id AND bytes > 256)`,
	} {
		if n := s.count(query); n != "0" {
			s.t.Errorf("%s: %s", what, n)
		}
	}
}

// reads compares the timelines that partners read with what the old program stored, byte
// for byte. history has partner, order, number and data of each event.
func (old oldShop) reads(t *testing.T, base string, history []string) {
	t.Helper()
	if len(history) < 50 {
		t.Errorf("only %d events of timelines have data", len(history))
	}
	keys, timelines := map[string]string{}, map[string][]json.RawMessage{}
	for _, p := range old.Partners {
		keys[p.PartnerID] = p.Keys.Live
	}
	for _, row := range history {
		part := strings.SplitN(row, " ", 4)
		if timelines[part[1]] == nil {
			var read struct {
				Events []struct{ Data json.RawMessage }
			}
			newClient(t, base, keys[part[0]]).must(200, get("/v1/orders/"+part[1]+"/timeline?limit=500")).decode(t, &read)
			for _, e := range read.Events {
				timelines[part[1]] = append(timelines[part[1]], e.Data)
			}
		}
		seq, err := strconv.Atoi(part[2])
		check.OK(t, err)
		if events := timelines[part[1]]; seq > len(events) || string(events[seq-1]) != part[3] {
			t.Errorf("event %d of %s is read as %q, was stored as %s", seq, part[1], events, part[3])
		}
	}
}

// repeat repeats requests with a final answer of the old program.
func (old oldShop) repeat(t *testing.T, base string) {
	t.Helper()
	for _, e := range old.Exchanges {
		if e.Status/100 != 2 {
			continue
		}
		a, err := newClient(t, base, e.APIKey).send(post(e.Path, e.Key, string(e.Body)))
		if err != nil || a.status != e.Status || string(a.body) != e.Answer || a.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s %s was answered %d: %s\nrepeated %d, %v: %s", e.Path, e.Key, e.Status, e.Answer, a.status, err, a.body)
		}
	}
}

// finish repeats pending requests until they are answered, and then once more.
func (old oldShop) finish(t *testing.T, base string) {
	t.Helper()
	cut := 0
	for i, e := range old.Exchanges {
		if e.Status != 0 {
			continue
		}
		cut++
		a := newClient(t, base, e.APIKey).eventuallyAnswered(post(e.Path, e.Key, string(e.Body)))
		old.Exchanges[i].Status, old.Exchanges[i].Answer = a.status, string(a.body)
	}
	if cut != 6 {
		t.Errorf("%d requests were under way, want 6", cut)
	}
}

func (c *client) eventuallyAnswered(r request) (a answer) {
	c.t.Helper()
	check.Eventually(c.t, patience, pollPause, "an answer to "+r.path, func() bool {
		var err error
		if a, err = c.send(r); err != nil || a.status/100 != 2 && !strings.Contains(string(a.body), `"code":"in_progress"`) {
			c.t.Fatalf("%s was answered %d, %v: %s", r.path, a.status, err, a.body)
		}
		return a.header.Get("Idempotent-Replayed") == "true"
	})
	return a
}

// received checks that a partner got all of its events.
func (old oldShop) received(s *shop, to *sink, name string) {
	s.t.Helper()
	events := s.rows(fmt.Sprintf("SELECT id FROM webhook_events WHERE partner_id = '%s'", old.Partners[name].PartnerID))
	check.Eventually(s.t, patience, pollPause, "the events of "+name, func() bool {
		got := map[string]bool{}
		for _, r := range to.at("/" + name) {
			got[r.event.ID] = true
		}
		return len(events) > 0 && !slices.ContainsFunc(events, func(id string) bool { return !got[id] })
	})
}
