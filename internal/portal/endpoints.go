package portal

import (
	"slices"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/site"
	"purveyor/internal/storage"
)

// endpointRoutes are the pages of the URLs to which events are sent.
var endpointRoutes = []route{
	{method: get, path: Prefix + "/endpoints", handle: (*visit).listEndpoints, word: "Endpoints", icon: "truck"},
	{method: get, path: Prefix + "/endpoints/new", changes: true, handle: (*visit).newEndpoint},
	{method: post, path: Prefix + "/endpoints/new", changes: true, handle: (*visit).makeEndpoint},
	{method: get, path: endpointPath, handle: ofEndpoint((*visit).endpoint)},
	{method: get, path: endpointPath + "/edit", changes: true, handle: ofEndpoint((*visit).editEndpoint)},
	{method: post, path: endpointPath + "/edit", changes: true, handle: ofEndpoint((*visit).changeEndpoint)},
	{method: post, path: endpointPath + "/test", changes: true, handle: ofEndpoint((*visit).testEndpoint)},
	{method: post, path: endpointPath + "/pause", changes: true, handle: ofEndpoint((*visit).pauseEndpoint)},
	{method: post, path: endpointPath + "/resume", changes: true, handle: ofEndpoint((*visit).resumeEndpoint)},
	{method: get, path: endpointPath + "/secret", changes: true, handle: ofEndpoint((*visit).askSecret)},
	{method: post, path: endpointPath + "/secret", changes: true, handle: ofEndpoint((*visit).rotateSecret)},
	{method: get, path: endpointPath + "/delete", changes: true, handle: ofEndpoint((*visit).askDelete)},
	{method: post, path: endpointPath + "/delete", changes: true, handle: ofEndpoint((*visit).deleteEndpoint)},
}

const endpointPath = Prefix + "/endpoints/{id}"

// endpointNamed is an endpoint of the partner by its name in paths.
func (v *visit) endpointNamed(name string) (shownEndpoint, error) {
	list, err := v.endpoints()
	i := slices.IndexFunc(list, func(e shownEndpoint) bool { return e.Name() == name })
	if err == nil && i < 0 {
		err = commerce.NotFound("endpoint")
	}
	if err != nil {
		return shownEndpoint{}, err
	}
	return list[i], nil
}

// ofEndpoint is the handler of a route about the endpoint in the path.
func ofEndpoint(handle func(*visit, shownEndpoint) error) func(*visit) error {
	return func(v *visit) error {
		e, err := v.endpointNamed(v.PathValue("id"))
		if err != nil {
			return err
		}
		return handle(v, e)
	}
}

func (v *visit) listEndpoints() error {
	list, err := v.endpoints()
	if err != nil {
		return err
	}
	return v.page("endpoints", "Endpoints", list)
}

// endpointPage is the data of the page "endpoint".
type endpointPage struct {
	shownEndpoint
	Zone   string
	Frame  *visit
	Signed bool // there is a secret
}

func (v *visit) endpoint(e shownEndpoint) error {
	return v.page("endpoint", "Endpoint", endpointPage{shownEndpoint: e, Frame: v, Signed: e.Secret != ""})
}

// endpointForm is the data of the page "endpoint_edit".
type endpointForm struct {
	Name             string // in paths; empty: a new one
	Key              string // of a new one: the text from which its secret is made
	URL, Description string
	Mode             commerce.Mode
	Chosen           []string // kinds and groups of kinds
	Patterns         []string
}

// Has reports whether a kind is chosen.
func (f endpointForm) Has(pattern string) bool { return slices.Contains(f.Chosen, pattern) }

// patterns are what an endpoint can be given.
func patterns() []string {
	list := []string{commerce.EveryEvent, "order.*", "delivery.*", "product.*"}
	for _, k := range commerce.WebhookKinds {
		list = append(list, string(k))
	}
	return list
}

func (v *visit) newEndpoint() error {
	return v.page("endpoint_edit", "Add an endpoint", endpointForm{Key: v.NewKey(), Patterns: patterns(), Chosen: []string{commerce.EveryEvent}})
}

// typedEndpoint is the form that was sent.
func (v *visit) typedEndpoint() (f endpointForm, err error) {
	f = endpointForm{URL: strings.TrimSpace(v.PostFormValue("url")), Description: commerce.CleanText(v.PostFormValue("description"), commerce.MaxNote), Mode: commerce.Mode(v.PostFormValue("mode")), Chosen: v.PostForm["event"], Patterns: patterns()}
	switch {
	case len(f.Description) > 200:
		err = commerce.Invalid("description", "The description is too long")
	case f.Mode != "" && f.Mode != commerce.Live && f.Mode != commerce.Test:
		err = commerce.Invalid("mode", "The mode must be live, test or both")
	case len(f.Chosen) == 0 || slices.ContainsFunc(f.Chosen, func(e string) bool { return !commerce.IsEventPattern(e) }):
		err = commerce.Invalid("event", "Choose which events are sent")
	}
	return f, err
}

// makeEndpoint adds an endpoint, and shows its secret once. A form that is sent twice adds one, and shows the same secret.
func (v *visit) makeEndpoint() error {
	f, err := v.typedEndpoint()
	var made service.MadeEndpoint
	if err == nil {
		made, err = v.p.uses.MakeEndpoint(v.Context(), v.actor(), service.NewEndpoint{PartnerID: v.partner.ID, URL: f.URL, Description: f.Description, Route: commerce.Route{Events: f.Chosen, Mode: f.Mode}, Draw: v.draw()})
	}
	if err != nil {
		f.Key = v.NewKey()
		return v.again(err, "endpoint_edit", "Add an endpoint", f)
	}
	return v.page("shown", "The endpoint is there", shown{"Secret", made.Secret, "Events are signed with it. It is shown only now.", Prefix + "/endpoints"})
}

func (v *visit) editEndpoint(e shownEndpoint) error {
	f := endpointForm{Name: e.Name(), URL: e.URL, Description: e.Description, Mode: e.Route.Mode, Chosen: e.Route.Events, Patterns: patterns()}
	if len(f.Chosen) == 0 {
		f.Chosen = []string{commerce.EveryEvent}
	}
	return v.page("endpoint_edit", "Change the endpoint", f)
}

func (v *visit) changeEndpoint(e shownEndpoint) error {
	f, err := v.typedEndpoint()
	f.Name = e.Name()
	if err == nil {
		change := service.ChangeEndpoint{Owner: e.Owner(), Text: &f.Description, Events: &f.Chosen, Mode: &f.Mode}
		if f.URL != e.URL {
			change.URL = &f.URL
		}
		_, err = v.p.uses.ChangeEndpoint(v.Context(), v.actor(), change)
	}
	if err != nil {
		return v.again(err, "endpoint_edit", "Change the endpoint", f)
	}
	return v.done(Prefix+"/endpoints/"+e.Name(), "The endpoint is changed")
}

// testEndpoint sends an event without meaning, and leads to the page of that event.
func (v *visit) testEndpoint(e shownEndpoint) error {
	if err := v.p.uses.TestEndpoint(v.Context(), v.actor(), e.Owner()); err != nil {
		return err
	}
	// The committer has chosen its id; it is the newest event of its kind.
	page, err := v.p.reads.EventPage(v.Context(), storage.EventFilter{PartnerID: v.partner.ID, Kinds: []commerce.WebhookKind{commerce.WebhookTest}, Newest: true, Limit: 1})
	to := Prefix + "/events"
	if err == nil && len(page.Events) > 0 {
		to += "/" + page.Events[0].ID
	}
	return v.done(to, "A test event is on its way. Load this page again to see the answer")
}

func (v *visit) pauseEndpoint(e shownEndpoint) error {
	if err := v.p.uses.PauseEndpoint(v.Context(), v.actor(), e.Owner()); err != nil {
		return err
	}
	return v.done(Prefix+"/endpoints/"+e.Name(), "Events wait until the endpoint is resumed")
}

func (v *visit) resumeEndpoint(e shownEndpoint) error {
	if err := v.p.uses.ResumeEndpoint(v.Context(), v.actor(), e.Owner()); err != nil {
		return err
	}
	return v.done(Prefix+"/endpoints/"+e.Name(), "The endpoint is tried at once. If it answers, all that waits is sent")
}

// ask is the data of the page "ask", which asks before something ends.
type ask struct {
	Text, Word string
	Back       string
	Key        string // from which a key or secret is made; empty: none is
	Overlaps   []site.Overlap
	Chosen     string
}

// shown is the data of the page "shown": what is shown now and never again.
type shown struct{ Word, Value, Text, Back string }

func (v *visit) askingSecret(e shownEndpoint) ask {
	return ask{Text: "A new secret is shown once. For the time that you choose, events carry signatures of both.", Word: "Replace the secret", Back: Prefix + "/endpoints/" + e.Name(),
		Key: v.NewKey(), Overlaps: site.Overlaps, Chosen: "24"}
}

func (v *visit) askSecret(e shownEndpoint) error {
	return v.page("ask", "Replace the secret", v.askingSecret(e))
}

func (v *visit) rotateSecret(e shownEndpoint) error {
	page := v.askingSecret(e)
	page.Chosen = v.PostFormValue("hours")
	overlap, err := site.OverlapOf(page.Chosen)
	secret := ""
	if err == nil {
		secret, _, err = v.p.uses.RotateSecret(v.Context(), v.actor(), service.RotateSecret{Owner: e.Owner(), Overlap: overlap, Now: overlap == 0, Draw: v.draw()})
	}
	if err != nil {
		return v.again(err, "ask", "Replace the secret", page)
	}
	return v.page("shown", "The new secret", shown{"Secret", secret, "Events are signed with it. It is shown only now.", page.Back})
}

// draw is the random text of a form. One that is missing cannot be drawn later.
func (v *visit) draw() string {
	if key := v.PostFormValue("key"); key != "" {
		return key
	}
	return "none"
}

func (v *visit) askDelete(e shownEndpoint) error {
	return v.page("ask", "Delete the endpoint", ask{Text: "Nothing is sent to " + commerce.WithoutPassword(e.URL) + " any more, and what waits for it is dropped. Events can still be read through the API.", Word: "Delete the endpoint", Back: Prefix + "/endpoints/" + e.Name()})
}

func (v *visit) deleteEndpoint(e shownEndpoint) error {
	if err := v.p.uses.DeleteEndpoint(v.Context(), v.actor(), e.Owner()); err != nil {
		return err
	}
	return v.done(Prefix+"/endpoints", "The endpoint is deleted")
}
