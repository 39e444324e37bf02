package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"purveyor/bench/internal/load"
	"purveyor/bench/internal/load/smoke"
)

// TestMain lets the bare client be a process of its own.
func TestMain(m *testing.M) { smoke.Main(m, hidden) }

func TestQuickRunMeasuresBothEngines(t *testing.T) {
	dir := smoke.Dir(t)
	run := options{Options: load.Options{Quick: true, Only: "reports,record", Dir: dir}}
	text := smoke.Report(t, run.measure)
	for _, want := range []string{"drain, SQLite ", "drain, SQLite full ", "drain, PostgreSQL ", "drain, PostgreSQL full against empty",
		"event to arrival, SQLite ", "event to arrival, PostgreSQL full ", "  bare net/http client", "reports with webhooks, SQLite ",
		"  deliveries beside them, PostgreSQL ", "  reports without, beside a bare client that posts, PostgreSQL "} {
		if !strings.Contains(text, "| "+want) {
			t.Errorf("no line for %q", want)
		}
	}
	if want := "all 960 attempts are on record"; !strings.Contains(text, want) {
		t.Errorf("%q is missing", want)
	}
	for _, kept := range []string{"webhooks-SQLite-400/dataset.json", "webhooks-PostgreSQL-400/dump"} {
		if _, err := os.Stat(filepath.Join(dir, kept)); err != nil {
			t.Error(err)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// send posts a webhook of an order to the sink. It is the checked one.
func send(t *testing.T, s *sink, h http.Header, body string) {
	t.Helper()
	s.mu.Lock()
	s.count = checked - 1
	s.mu.Unlock()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = h
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
}

func TestTheSinkNoticesWhatIsWrong(t *testing.T) {
	s, err := openSink()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.close() }()
	now := time.Now()
	body := fmt.Sprintf(`{"id":"evt_1","event":"order.accepted","order_id":"ord_1","timestamp":%q,"data":{}}`,
		now.Add(-time.Minute).UTC().Format(time.RFC3339Nano))
	sign := func(id, body string) http.Header {
		mac := hmac.New(sha256.New, []byte(load.Secret))
		mac.Write([]byte(body))
		standard, err := s.receiver.Sign(id, now, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {fmt.Sprint(now.Unix())}, "Webhook-Signature": {standard},
			"X-Partner-Signature": {hex.EncodeToString(mac.Sum(nil))}}
	}
	without := func(name string) http.Header {
		h := sign("evt_1", body)
		h.Del(name)
		return h
	}
	for _, c := range []struct {
		name  string
		h     http.Header
		body  string
		wrong string
	}{
		{"right", sign("evt_1", body), body, ""},
		{"another body", sign("evt_1", body), strings.Replace(body, "{}", "{} ", 1), "x-partner-signature"},
		{"unsigned", without("X-Partner-Signature"), body, "x-partner-signature"},
		{"not signed by the standard", without("Webhook-Signature"), body, "headers"},
		{"another event", sign("evt_2", body), body, `came as "evt_2"`},
		{"no time", sign("evt_1", `{"id":"evt_1"}`), `{"id":"evt_1"}`, "parsing time"},
	} {
		s.begin(1, now.Add(-time.Hour), now.Add(time.Hour))
		send(t, s, c.h, c.body)
		in := s.taken()
		m := in.blame(load.Measurement{})
		if in.total != 1 || (m.Errors != 0) != (c.wrong != "") || !strings.Contains(strings.ToLower(m.FirstError), c.wrong) {
			t.Errorf("%s: %d came in, %d errors: %q, want %q", c.name, in.total, m.Errors, m.FirstError, c.wrong)
		}
		if arrived := s.missing([]string{"ord_1"}) == 0; arrived != (c.name != "no time") { // what cannot be read
			t.Errorf("%s: arrived %v", c.name, arrived)
		}
		if c.wrong == "" {
			took := in.times.Measurement(time.Second, 0).P50
			posts, err := in.posts()
			if took < 58*time.Second || took > 5*time.Minute || in.during != 1 || err != nil || len(posts) != 1 || !bytes.Equal(posts[0].Body, []byte(body)) {
				t.Errorf("%s: took %v, %d counted, posts %v, %v", c.name, took, in.during, posts, err)
			}
		}
	}
	if n := s.missing([]string{"ord_1", "ord_2"}); n == 0 {
		t.Error("an order of which nothing arrived is not missing")
	}
}

func TestOptionsThatCannotWork(t *testing.T) {
	for _, o := range []load.Options{{Only: "drain,order"}, {Only: "record"}, {Write: true}, {Write: true, Quick: true}, {Write: true, Only: "drain"}} {
		if _, err := (options{Options: o}).measure(); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
	if cases := (options{}).cases(); strings.Join(cases, ",") != "drain,latency,reports" {
		t.Errorf("without a folder the cases are %v", cases)
	}
}
