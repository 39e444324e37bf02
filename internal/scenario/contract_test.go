package scenario

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"purveyor/internal/api"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// contract is openapi.yaml, with the promises that were exercised so far.
type contract struct {
	doc    *openapi3.T
	router routers.Router
	bodies *bodies

	mu  sync.Mutex
	met map[string]bool // "GET /v1/health 200"
}

var theContract = sync.OnceValue(func() *contract {
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI)
	if err != nil {
		panic(err)
	}
	if err := doc.Validate(context.Background(), openapi3.EnableExamplesValidation(), openapi3.EnableSchemaDefaultsValidation(),
		openapi3.EnableSchemaFormatValidation(), openapi3.EnableSchemaPatternValidation(), openapi3.EnableMultiError()); err != nil {
		panic(err)
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		panic(err)
	}
	bodies, err := newBodies(doc)
	if err != nil {
		panic(err)
	}
	return &contract{doc: doc, router: router, bodies: bodies, met: map[string]bool{}}
})

// elsewhere are operations of the process around the API, which e2e tests.
var elsewhere = []string{"/livez", "/readyz"}

// unmet lists the promises that were not exercised.
func (c *contract) unmet() (missing []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for path, item := range c.doc.Paths.Map() {
		if slices.Contains(elsewhere, path) {
			continue
		}
		for method, operation := range item.Operations() {
			for status := range operation.Responses.Map() {
				if promise := method + " " + path + " " + status; !c.met[promise] {
					missing = append(missing, promise)
				}
			}
		}
	}
	slices.Sort(missing)
	return missing
}

// options leave bodies to the type bodies.
var options = &openapi3filter.Options{
	ExcludeRequestBody:  true,
	SkipSettingDefaults: true,
	AuthenticationFunc:  openapi3filter.NoopAuthenticationFunc,
}

// check checks an exchange against the document. A request that was refused with 400,
// or before its body was read, or some items of which were refused, need not conform; every answer has to. Nor does a
// lenient request: the service accepts null for an optional field, which the document
// does not promise.
func (c *contract) check(r *http.Request, sent call, a *answer) error {
	// A reverse proxy may have any host, so only the path counts.
	seen, err := http.NewRequest(r.Method, "http://host"+r.URL.RequestURI(), strings.NewReader(sent.body))
	if err != nil {
		return err
	}
	seen.Header = r.Header.Clone()
	route, params, err := c.router.FindRoute(seen)
	if err != nil || r.Method == http.MethodHead {
		return checkUnrouted(r, a)
	}
	input := &openapi3filter.RequestValidationInput{Request: seen, PathParams: params, Route: route, Options: options}
	early := a.status == http.StatusUnauthorized || a.status == http.StatusTooManyRequests ||
		a.status == http.StatusForbidden && a.code() == "scope_missing"
	partly := a.status == http.StatusOK && strings.Contains(string(a.body), `"results":[`) && !strings.Contains(string(a.body), `"failed":0`)
	if a.status != http.StatusBadRequest && !early && !partly && !sent.lenient {
		if err := openapi3filter.ValidateRequest(context.Background(), input); err != nil {
			return fmt.Errorf("the service accepted what the document does not allow: %w", err)
		}
		if err := c.bodies.request(route, seen.Header.Get("Content-Type"), []byte(sent.body)); err != nil {
			return fmt.Errorf("the service accepted a body that the document does not allow: %w", err)
		}
	}
	if err := c.bodies.response(route, a); err != nil {
		return fmt.Errorf("the answer is not what the document says: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.met[route.Method+" "+route.Path+" "+strconv.Itoa(a.status)] = true
	return nil
}

// checkUnrouted checks answers to paths that the document does not have.
func checkUnrouted(r *http.Request, a *answer) error {
	if r.Method == http.MethodHead {
		if len(a.body) > 0 {
			return fmt.Errorf("the answer to HEAD has a body")
		}
		return nil
	}
	switch a.status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusTooManyRequests, http.StatusNotFound:
	case http.StatusMethodNotAllowed:
		if a.header.Get("Allow") == "" {
			return fmt.Errorf("405 without Allow")
		}
	default:
		return fmt.Errorf("%s %s has no operation in the document but is answered %d", r.Method, r.URL.Path, a.status)
	}
	if !strings.Contains(string(a.body), `"ok":false`) {
		return fmt.Errorf("the body is not the shape of an error: %s", a.body)
	}
	return nil
}
