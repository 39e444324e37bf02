package portal

import (
	"errors"
	"slices"
	"time"

	"purveyor/internal/certify"
	"purveyor/internal/commerce"
	"purveyor/internal/storage"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// certifyRoutes are the page of the certification, and the act that begins a run. It is a call of the API, as in the sandbox.
var certifyRoutes = []route{
	{method: get, path: certifyPath, handle: (*visit).certify, word: "Certify", icon: "circle-check"},
	{method: post, path: certifyPath, changes: true, handle: (*visit).startRun},
}

const certifyPath = Prefix + "/certify"

// reloadPause is after how many seconds a browser loads the page of a run that goes on again.
const reloadPause = "5"

// certifyPage is the data of the page "certify".
type certifyPage struct {
	Run         *certify.Run // the newest; nil: there was none
	Tasks       []taskShown
	Groups      []groupShown
	Passed      int             // how many of its checks
	CertifiedOn commerce.Millis // 0: never
	Zone        *time.Location
	Still       bool // the page does not load again by itself
	Endpoints   []shownEndpoint
	All         []certify.Group
	// What was typed.
	Endpoint string // by its name in paths
	Chosen   []string
}

// Goes reports whether a run goes on.
func (p certifyPage) Goes() bool { return p.Run != nil && !p.Run.Over() }

// Has reports whether a group was chosen.
func (p certifyPage) Has(g certify.Group) bool { return slices.Contains(p.Chosen, string(g)) }

// taskShown is a task that waits.
type taskShown struct {
	certify.Task
	JSON string // its body; empty: it has no body
}

// groupShown is a group with its checks.
type groupShown struct {
	Name   certify.Group
	Checks []checkShown
}

// checkShown is a check with what it wants.
type checkShown struct {
	certify.Check
	Title string
}

func (v *visit) certifyPage() (page certifyPage, err error) {
	page = certifyPage{All: certify.Groups, Endpoint: v.Form.Get("endpoint"), Chosen: v.Form["group"], Still: v.Form.Has("still")}
	if page.Zone, err = v.zone(); err != nil {
		return page, err
	}
	if page.Endpoints, err = v.endpoints(); err != nil {
		return page, err
	}
	run, row, err := v.p.uses.FindCertification(v.Context(), v.partner.ID)
	if errors.Is(err, storage.ErrNotFound) {
		return page, nil
	}
	if err != nil {
		return page, err
	}
	page.Run, page.CertifiedOn = &run, row.CertifiedOn
	page.Tasks, err = tasksShown(run)
	for _, c := range run.Checks {
		if n := len(page.Groups); n == 0 || page.Groups[n-1].Name != c.Group {
			page.Groups = append(page.Groups, groupShown{Name: c.Group})
		}
		g := &page.Groups[len(page.Groups)-1]
		g.Checks = append(g.Checks, checkShown{c, certify.Title(c.ID)})
		if c.State == certify.CheckPassed {
			page.Passed++
		}
	}
	return page, err
}

func tasksShown(run certify.Run) (list []taskShown, err error) {
	for _, t := range run.Tasks {
		shown := taskShown{Task: t}
		if t.Body != nil {
			text, err := json.Marshal(t.Body, jsontext.WithIndent("  "))
			if err != nil {
				return nil, err
			}
			shown.JSON = string(text)
		}
		list = append(list, shown)
	}
	return list, nil
}

func (v *visit) certify() error {
	page, err := v.certifyPage()
	if err != nil {
		return err
	}
	if page.Goes() && !page.Still {
		v.w.Header().Set("Refresh", reloadPause)
	}
	return v.page("certify", "Certify", page)
}

// startRun begins a run. Members choose an endpoint by its name: its URL may have a password.
func (v *visit) startRun() error {
	body := map[string]any{}
	if groups := v.PostForm["group"]; len(groups) > 0 {
		body["groups"] = groups
	}
	var err error
	if name := v.PostFormValue("endpoint"); name != "" {
		var e shownEndpoint
		e, err = v.endpointNamed(name)
		body["webhook_url"] = e.URL
	}
	if err == nil {
		err = v.ask("/v1/certify/runs", body, &struct{}{})
	}
	if err == nil {
		return v.done(certifyPath, "The run has begun. Its first task is here in a few seconds")
	}
	if isFailure(err) {
		return err
	}
	page, readErr := v.certifyPage()
	if readErr != nil {
		return readErr
	}
	return v.again(err, "certify", "Certify", page)
}
