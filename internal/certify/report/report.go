// Package report writes down what a certification has found, for people and for programs.
package report

import (
	"bytes"
	_ "embed"
	"encoding/xml"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Run is a run as the API answers it.
type Run struct {
	ID         string  `json:"id"`
	State      string  `json:"state"` // running, passed, failed or ended
	WebhookURL string  `json:"webhook_url"`
	BeganOn    int64   `json:"began_on"` // Unix ms
	Tasks      []Task  `json:"tasks"`
	Checks     []Check `json:"checks"`
}

// Task is what a run asks for.
type Task struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Check is one of the run's.
type Check struct {
	ID       string   `json:"id"`
	Group    string   `json:"group"`
	Title    string   `json:"title"`
	State    string   `json:"state"` // pending, passed, failed or skipped
	Message  string   `json:"message"`
	TraceIDs []string `json:"trace_ids"`
}

// Why is what is to be told of a check that has not passed.
func (c Check) Why() string {
	if c.State == "pending" {
		return "It was not decided before the run was over"
	}
	return c.Message
}

// Count is how many checks have a state.
func (r Run) Count(state string) (n int) {
	for _, c := range r.Checks {
		if c.State == state {
			n++
		}
	}
	return n
}

// Began is when the run began.
func (r Run) Began() string {
	return time.UnixMilli(r.BeganOn).UTC().Format("2 January 2006 15:04 MST")
}

// Verdict is the outcome in one sentence.
func (r Run) Verdict() string {
	return fmt.Sprintf("The run has %s: %d of %d checks passed, %d failed, %d left out, %d not decided", r.State, r.Count("passed"), len(r.Checks), r.Count("failed"), r.Count("skipped"), r.Count("pending"))
}

// Groups are the checks by their groups, in their order.
func (r Run) Groups() (list []Group) {
	for _, c := range r.Checks {
		i := slices.IndexFunc(list, func(g Group) bool { return g.Name == c.Group })
		if i < 0 {
			i, list = len(list), append(list, Group{Name: c.Group})
		}
		list[i].Checks = append(list[i].Checks, c)
	}
	return list
}

// Group is a part of the script.
type Group struct {
	Name   string
	Checks []Check
}

// Text is the report for a terminal.
func (r Run) Text() []byte {
	var b bytes.Buffer
	for _, g := range r.Groups() {
		fmt.Fprintf(&b, "%s\n", clean(g.Name))
		for _, c := range g.Checks {
			fmt.Fprintf(&b, "  %-8s %s\n", clean(c.State), clean(c.Title))
			if c.State != "passed" {
				fmt.Fprintf(&b, "           %s: %s\n", clean(c.ID), clean(c.Why()))
			}
			if c.State == "failed" && len(c.TraceIDs) > 0 {
				fmt.Fprintf(&b, "           trace ids: %s\n", clean(strings.Join(c.TraceIDs, " ")))
			}
		}
	}
	fmt.Fprintf(&b, "\n%s.\n", clean(r.Verdict()))
	return b.Bytes()
}

// clean keeps the text of an answer from driving a terminal.
func clean(text string) string {
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return ' '
		}
		return c
	}, text)
}

//go:embed report.html
var page string

var shown = template.Must(template.New("report").Parse(page))

// HTML is the report as one page, which needs nothing else.
func (r Run) HTML() ([]byte, error) {
	var b bytes.Buffer
	err := shown.Execute(&b, r)
	return b.Bytes(), err
}

// What JUnit's readers agree on: a suite for each group.
type (
	suites struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		Suites  []suite  `xml:"testsuite"`
	}
	suite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []suiteCase `xml:"testcase"`
	}
	suiteCase struct {
		Group   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *outcome `xml:"failure"`
		Skipped *outcome `xml:"skipped"`
	}
	outcome struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit is the report as the programs read it that run tests.
func (r Run) JUnit() ([]byte, error) {
	all := suites{Name: "purveyor certify " + clean(r.ID)}
	for _, g := range r.Groups() {
		s := suite{Name: clean(g.Name), Tests: len(g.Checks)}
		for _, c := range g.Checks {
			one := suiteCase{Group: clean(g.Name), Name: clean(c.ID)}
			told := &outcome{clean(c.Why()), clean(c.Title + "\n" + strings.Join(c.TraceIDs, "\n"))}
			switch c.State {
			case "passed":
			case "skipped":
				s.Skipped++
				one.Skipped = told
			default:
				s.Failures++
				one.Failure = told
			}
			s.Cases = append(s.Cases, one)
		}
		all.Suites = append(all.Suites, s)
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}
