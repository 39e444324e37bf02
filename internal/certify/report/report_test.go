package report

import (
	"encoding/xml"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the reports as they are now")

// run has a check in each state, and texts that would drive a terminal or a browser.
var run = Run{ID: "run_1", State: "failed", WebhookURL: "https://p.example/<hooks>", BeganOn: 1772463845250, Checks: []Check{
	{ID: "idempotency_key", Group: "calls", Title: "Each call has a key", State: "passed"},
	{ID: "no_doubles", Group: "calls", Title: "No order is made twice", State: "failed", Message: "<script>alert(1)</script> & \x1b[2J\u202egnp ]]>", TraceIDs: []string{"t-1", "t-2"}},
	{ID: "paid", Group: "stories", Title: "An order that is paid is confirmed", State: "pending"},
	{ID: "courier_gives_up", Group: "stories", Title: "The books know of a courier that has given up", State: "skipped", Message: "No store delivers"},
}}

// TestReports: each report is as it was seen to be right, and nothing foreign drives what shows it.
func TestReports(t *testing.T) {
	page, err := run.HTML()
	if err != nil {
		t.Fatal(err)
	}
	junit, err := run.JUnit()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"report.txt": run.Text(), "report.html": page, "junit.xml": junit} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || string(want) != string(text) {
			t.Errorf("%s, %v:\n%s", name, err, text)
		}
		if name != "report.html" && strings.ContainsAny(string(text), "\x1b\u202e") {
			t.Errorf("%s drives a terminal", name)
		}
	}
	if strings.Contains(string(page), "<script") {
		t.Error("the page runs a script")
	}
	var read struct {
		Suites []struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Skipped  int `xml:"skipped,attr"`
			Cases    []struct {
				Name    string `xml:"name,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(junit, &read); err != nil {
		t.Fatal(err)
	}
	if s := read.Suites; len(s) != 2 || s[0].Tests != 2 || s[0].Failures != 1 || s[1].Failures != 1 || s[1].Skipped != 1 || !strings.Contains(s[0].Cases[1].Failure.Message, "<script>alert(1)</script> &") {
		t.Errorf("%+v", s)
	}
}
