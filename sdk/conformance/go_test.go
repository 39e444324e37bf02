package conformance_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"purveyor/internal/testkit/check"

	purveyor "purveyor/sdk/go"
)

// TestGo runs all cases with the SDK for Go.
func TestGo(t *testing.T) { runAll(t, "go", driveGo) }

func driveGo(t *testing.T, j job) (outcomes []outcome) {
	t.Helper()
	var o struct {
		APIKey                       string
		Tries                        int
		TryTimeoutMs, TotalTimeoutMs int64
	}
	if j.Client != nil {
		check.OK(t, json.Unmarshal(j.Client, &o))
	}
	if o.APIKey != "" {
		j.APIKey = o.APIKey
	}
	for _, c := range j.Calls {
		g := &goCall{t: t, want: c}
		ctx, cancel := context.WithCancel(t.Context())
		client, err := purveyor.New(j.BaseURL, j.APIKey, purveyor.Options{
			Tries: o.Tries, TryTimeout: time.Duration(o.TryTimeoutMs) * time.Millisecond, TotalTimeout: time.Duration(o.TotalTimeoutMs) * time.Millisecond,
			Sleep: func(ctx context.Context, d time.Duration) error {
				g.out.Pauses = append(g.out.Pauses, float64(d)/float64(time.Millisecond))
				if len(g.out.Pauses) == c.Cancel {
					cancel()
				}
				return ctx.Err()
			},
		})
		check.OK(t, err)
		g.make(ctx, client)
		cancel()
		outcomes = append(outcomes, g.out)
	}
	return outcomes
}

// goCall is a call that is being made.
type goCall struct {
	t    *testing.T
	want call
	out  outcome
	got  purveyor.Answer
}

func (g *goCall) make(ctx context.Context, client *purveyor.Client) {
	g.t.Helper()
	if g.want.Do == "webhooks.verify" {
		g.verify()
		return
	}
	subject, name, _ := strings.Cut(g.want.Do, ".")
	method := reflect.Indirect(reflect.ValueOf(client)).FieldByName(title(subject)).MethodByName(title(name))
	if !method.IsValid() {
		g.t.Fatalf("there is no %s", g.want.Do)
	}
	args := []reflect.Value{reflect.ValueOf(ctx)}
	for i := 1; i < method.Type().NumIn()-1; i++ {
		arg := reflect.New(method.Type().In(i))
		if i <= len(g.want.With) {
			check.OK(g.t, json.Unmarshal(g.want.With[i-1], arg.Interface()))
		}
		if tell := onError(arg.Elem()); tell.IsValid() {
			tell.Set(reflect.ValueOf(func(error) { g.out.Told++ }))
		}
		args = append(args, arg.Elem())
	}
	for _, option := range g.options() {
		args = append(args, reflect.ValueOf(option))
	}
	returned := method.Call(args)
	switch {
	case returned[0].Kind() == reflect.Func:
		g.rangeOver(returned[0])
	case len(returned) == 1:
		g.fail(returned[0])
	default:
		g.fail(returned[1])
		g.result(returned[0].Interface())
	}
	if g.got.Status != 0 {
		g.out.Answer = loose(g.t, map[string]any{"status": g.got.Status, "replayed": g.got.Replayed, "tries": g.got.Tries,
			"traceId": g.got.TraceID, "idempotencyKey": g.got.IdempotencyKey})
	}
}

// onError returns the field of that name, if a value has it.
func onError(v reflect.Value) (field reflect.Value) {
	if v.Kind() == reflect.Struct {
		field = v.FieldByName("OnError")
	}
	return field
}

func (g *goCall) options() (options []purveyor.Option) {
	var o struct {
		IdempotencyKey, TraceID, IfNoneMatch string
		Headers                              map[string]string
		Tries                                int
	}
	if g.want.Options != nil {
		check.OK(g.t, json.Unmarshal(g.want.Options, &o))
	}
	options = append(options, purveyor.WithAnswer(&g.got))
	if o.IdempotencyKey != "" {
		options = append(options, purveyor.WithIdempotencyKey(o.IdempotencyKey))
	}
	if o.TraceID != "" {
		options = append(options, purveyor.WithTraceID(o.TraceID))
	}
	if o.IfNoneMatch != "" {
		options = append(options, purveyor.WithIfNoneMatch(o.IfNoneMatch))
	}
	for name, value := range o.Headers {
		options = append(options, purveyor.WithHeader(name, value))
	}
	if o.Tries > 0 {
		options = append(options, purveyor.WithTries(o.Tries))
	}
	return options
}

// rangeOver collects what an iterator yields, as many as the case says.
func (g *goCall) rangeOver(sequence reflect.Value) {
	list := []any{}
	for value, err := range sequence.Seq2() {
		if g.fail(err); g.out.Error != nil {
			break
		}
		if list = append(list, value.Interface()); len(list) == g.want.Take {
			break
		}
	}
	g.result(list)
}

// result keeps a result as JSON has it, which shows that it can be written again.
func (g *goCall) result(v any) {
	if text, ok := v.([]byte); ok {
		v = string(text)
	}
	g.out.Result = loose(g.t, v)
}

func (g *goCall) fail(v reflect.Value) {
	err, _ := v.Interface().(error)
	if err == nil {
		return
	}
	var e *purveyor.Error
	if !errors.As(err, &e) {
		g.out.Error = err.Error()
		return
	}
	if e.Code == purveyor.CodeCancelled && !errors.Is(err, context.Canceled) {
		g.t.Errorf("%v does not wrap the error of the context", err)
	}
	g.out.Error = loose(g.t, map[string]any{"status": e.Status, "code": e.Code, "message": e.Message, "field": e.Field, "traceId": e.TraceID,
		"safeToRepeat": e.SafeToRepeat, "idempotencyKey": e.IdempotencyKey, "retryAfterMs": e.RetryAfter.Milliseconds(), "tries": e.Tries, "body": e.Body})
}

func (g *goCall) verify() {
	var with struct {
		Secrets      []string
		Body         string
		Headers      map[string]string
		Now          int64
		StandardOnly bool
	}
	check.OK(g.t, json.Unmarshal(g.want.With[0], &with))
	w := purveyor.Webhooks{Secrets: with.Secrets, StandardOnly: with.StandardOnly}
	if with.Now > 0 {
		w.Now = func() time.Time { return time.UnixMilli(with.Now) }
	}
	header := http.Header{}
	for name, value := range with.Headers {
		header.Set(name, value)
	}
	event, err := w.Verify([]byte(with.Body), header)
	if err != nil {
		g.out.Error = map[string]any{"webhook": errors.Is(err, purveyor.ErrWebhook)}
		return
	}
	g.result(event)
}

func title(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// loose returns a value as it is read from JSON.
func loose(t *testing.T, v any) (same any) {
	t.Helper()
	text, err := json.Marshal(v)
	check.OK(t, err)
	check.OK(t, json.Unmarshal(text, &same))
	return same
}
