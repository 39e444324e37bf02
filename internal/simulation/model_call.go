package simulation

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// asked is a call of a partner, with what could be known when it was made, and its final
// answer. The model of the API judges it: it is written from SPEC.md and BEHAVIOUR.md, not from
// the code. Where other calls are under way, it knows bounds.
type asked struct {
	request
	p       *partner
	tries   int
	began   time.Time
	route   string // METHOD and path, with {id} for the order's id
	order   *story // by the path; nil: no order that is known
	before  knowledge
	close   func()
	stock   map[string]*window
	status  int
	answer  string
	foreign bool // the order is another partner's, or the key is of another mode
}

// judges are the routes that the model knows, and what it says of their answers of 200.
var judges = map[string]func(*asked){
	"GET /v1/orders/{id}":                   (*asked).judgeOrder,
	"GET /v1/orders/by-external/{id}":       (*asked).judgeOrder,
	"GET /v1/orders/{id}/ping":              (*asked).judgePing,
	"GET /v1/orders/{id}/tracking":          (*asked).judgeTracking,
	"GET /v1/orders/{id}/driver-location":   (*asked).judgeLocation,
	"GET /v1/orders/{id}/timeline":          (*asked).judgeTimeline,
	"GET /v1/orders":                        (*asked).judgeOrders,
	"GET /v1/products":                      (*asked).judgeProducts,
	"GET /v1/products/{id}":                 (*asked).judgeProduct,
	"POST /v1/products/availability":        (*asked).judgeAvailability,
	"POST /v1/inventory/adjustments":        (*asked).judgeAdjustments,
	"POST /v1/checkout/session":             (*asked).judgeCheckout,
	"POST /v1/orders/report":                (*asked).judgeReport,
	"POST /v1/orders/{id}/cancel":           (*asked).judgeCancel,
	"POST /v1/orders/{id}/refund":           (*asked).judgeRefund,
	"POST /v1/orders/{id}/confirm":          (*asked).judgeAdvance,
	"POST /v1/orders/{id}/ready-for-pickup": (*asked).judgeAdvance,
	"POST /v1/orders/{id}/picked-up":        (*asked).judgeAdvance,
	"GET /v1/stores":                        (*asked).judgeStores,
	"GET /v1/categories":                    (*asked).judgeCategories,
	"GET /v1/stores/{id}/categories":        (*asked).judgeCategories,
	"POST /v1/stores/nearby":                (*asked).judgeNearby,
	"POST /v1/delivery/quote":               (*asked).judgeQuote,
	"POST /v1/checkout/preflight":           (*asked).judgePreflight,
}

var (
	inPath     = []string{"ord_", "prd_", "sto_"} // what ids in paths begin with
	errorCodes = regexp.MustCompile(`^[a-z][a-z_]*$`)
)

// ask begins a call.
func (p *partner) ask(r request) *asked {
	path, _, _ := strings.Cut(r.path, "?")
	parts := strings.Split(path, "/")
	x := &asked{request: r, p: p, began: p.w.env.Now()}
	for i, part := range parts {
		switch {
		case slices.ContainsFunc(inPath, func(prefix string) bool { return strings.HasPrefix(part, prefix) }):
			x.order, parts[i] = p.w.stories[part], "{id}"
		case i > 0 && parts[i-1] == "by-external":
			x.order, parts[i] = p.w.byExternal(part), "{id}"
		}
	}
	x.route = r.method + " " + strings.Join(parts, "/")
	if s := x.order; s != nil {
		x.before, x.foreign = s.known, s.p != p || r.mode == "test" && s.mode != "test"
	}
	ids := p.w.shelfIDs
	if x.route != "GET /v1/products" {
		ids = productsIn(r.path + r.body)
	}
	x.stock, x.close = p.w.watch(ids...)
	return x
}

var productIDs = regexp.MustCompile(`\bprd_\d+_\d+\b`)

// productsIn are the ids of products in a text. Most calls name none, and are not searched.
func productsIn(text string) []string {
	if !strings.Contains(text, "prd_") {
		return nil
	}
	return productIDs.FindAllString(text, -1)
}

// judge compares the final answer of a call with the model.
func (x *asked) judge() {
	know, known := judges[x.route]
	switch {
	case !known || x.repeated:
	case x.foreign:
		if x.status != http.StatusNotFound {
			x.wrong("the order is not this partner's, or not of this mode")
		}
	case x.status/100 == 2 && strings.Contains(x.route, "/orders/") && strings.Contains(x.route, "{id}") && x.order == nil:
		x.wrong("there is no such order")
	case x.status/100 == 2:
		know(x)
	case strings.Contains(x.answer, `"insufficient_stock"`) && x.route != "POST /v1/inventory/adjustments": // whose lines add up
		x.judgeShortage()
	}
}

// byExternal is the story whose order has this external id, in a path.
func (w *world) byExternal(part string) *story {
	name, err := url.PathUnescape(part)
	if err != nil {
		return nil
	}
	return w.external[name]
}

// wrong records that an answer is not what the model says.
func (x *asked) wrong(format string, args ...any) {
	x.p.w.record("model: "+x.route+": "+format, fmt.Sprintf("%s: %s %s: %s. %q %s was answered %d %s", x.p.id, x.method, x.path, fmt.Sprintf(format, args...), x.key, x.body, x.status, x.answer))
}

// read decodes the answer.
func (x *asked) read(into any) bool {
	if err := decode([]byte(x.answer), into); err != nil {
		x.wrong("it cannot be read: %v", err)
		return false
	}
	return true
}

// want checks a field.
func (x *asked) want(field string, got, want any) {
	if !reflect.DeepEqual(got, want) && told(got) != told(want) { // numbers may have other types
		x.wrong("%s is to be %s and is %s", field, told(want), told(got))
	}
}

// statuses of SPEC's table that any route may have.
var statuses = []int{200, 201, 304, 400, 401, 403, 404, 409, 429, 500, 502}

// shape checks one answer of one try: the rules of SPEC, Conventions and Errors, and BEHAVIOUR, Limits.
func (p *partner) shape(r request, trace string, status int, answer string, h http.Header) {
	wrong := func(what string) {
		p.w.record("shape: "+what, fmt.Sprintf("%s: %s %s %q was answered %d %s: %s (%v)", p.id, r.method, r.path, r.key, status, answer, what, h))
	}
	isCall := strings.HasPrefix(r.path, "/v1/")
	if isCall && !slices.Contains(statuses, status) {
		wrong("SPEC has no such status")
	}
	if h.Get("X-Trace-Id") != trace {
		wrong("the trace id is not echoed")
	}
	if long := len(answer) > 2000; !isCall || long && strings.HasPrefix(answer, `{"ok":true,`) && status < 300 {
		return // judges read long lists
	}
	var b struct {
		OK    *bool   `json:"ok"`
		Error *string `json:"error"`
		Code  string  `json:"code"`
		Trace *string `json:"trace_id"`
	}
	switch err := decode([]byte(answer), &b); {
	case err != nil || b.OK == nil || *b.OK != (status < 300) || (b.Error != nil) == *b.OK:
		wrong("it has the wrong shape")
	case b.Error != nil && (*b.Error == "" || !errorCodes.MatchString(b.Code)):
		wrong("it does not say what is wrong")
	case b.Trace != nil && *b.Trace != trace && h.Get("Idempotent-Replayed") == "":
		wrong("the trace id in it is another one")
	}
	most, left := h.Get("RateLimit-Limit"), h.Get("RateLimit-Remaining")
	if status == http.StatusUnauthorized || b.Code == "unavailable" && most == "" { // it could not be looked up
		return
	}
	if n, err := strconv.Atoi(left); most != strconv.Itoa(p.limit) || err != nil || n < 0 || n > p.limit {
		wrong("the rate limit is told wrongly")
	}
	if p.w.Calm && (status >= 500 || !r.repeated && meantime(answer)) {
		wrong("nothing has failed")
	}
}
