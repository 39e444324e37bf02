package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"purveyor/internal/certify/report"
	"purveyor/internal/config"
	"purveyor/internal/env"
	"purveyor/internal/outside/httpcall"
)

// certifyCommand plays the script of a certification against a partner's integration, by the API of a running
// service, and writes down what was found.
type certifyCommand struct {
	URL      string        `help:"The service." default:"http://127.0.0.1:8080" placeholder:"URL" env:"PURVEYOR_URL" name:"url" group:"Service:"`
	Key      string        `help:"A test key of the partner, with the scope write_orders. - reads it from standard input." required:"" placeholder:"KEY" env:"PURVEYOR_KEY" secret:"" group:"Service:"`
	Webhook  string        `help:"URL of the endpoint that is watched, one of the partner's. Default: the first that takes events of test orders." placeholder:"URL"`
	Groups   []string      `help:"Only these groups of checks: calls, manners, webhooks, stories, repair." placeholder:"GROUP,..."`
	Drive    string        `help:"Command that gets each task as JSON on its standard input, and has the integration do it. Default: tasks are printed, for a person." placeholder:"COMMAND"`
	Report   string        `help:"Folder for report.txt, report.html, report.json and junit.xml." placeholder:"DIR" type:"path"`
	Patience time.Duration `help:"How long to wait with --drive while nothing changes." default:"5m" placeholder:"TIME"`
}

// How often the run is looked at, how long a task may take that is handed over, and how often one is handed
// over that fails.
const (
	certifyPoll = time.Second
	driveTime   = time.Minute
	driveTries  = 3
)

var errNotCertified = errors.New("the integration has not passed")

func (c certifyCommand) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	if err := config.HTTPURL("--url", c.URL); err != nil {
		return err
	}
	var err error
	if c.Key, err = fromInput("--key", c.Key); err != nil {
		return err
	}
	client := httpcall.Client(nil)
	client.Timeout = listenTimeout
	p := &certifier{certifyCommand: c, client: client, base: strings.TrimSuffix(c.URL, "/") + "/v1/certify/runs", pause: env.Env{}.Sleep, now: time.Now, given: map[string]bool{}}
	if err := p.play(ctx); err != nil {
		return err
	}
	printf("%s", p.run.Text())
	if c.Report != "" {
		if err := p.write(c.Report); err != nil {
			return err
		}
	}
	if p.run.State != "passed" {
		return errNotCertified
	}
	return nil
}

// certifier follows one run.
type certifier struct {
	certifyCommand
	client *http.Client
	base   string
	pause  func(context.Context, time.Duration) error
	now    func() time.Time

	run   report.Run
	whole json.RawMessage // the run as it was answered
	given map[string]bool // tasks that were handed over
}

// play begins a run, and hands its tasks over until it ends.
func (p *certifier) play(ctx context.Context) error {
	body := struct {
		WebhookURL string   `json:"webhook_url,omitempty"`
		Groups     []string `json:"groups,omitempty"`
	}{p.Webhook, p.Groups}
	if err := p.ask(ctx, httpcall.Call{Method: http.MethodPost, URL: p.base, JSON: body}); err != nil {
		return err
	}
	printf("The run %s has begun.\n", p.run.ID)
	look := httpcall.Call{Method: http.MethodGet, URL: p.base + "/" + p.run.ID}
	for changed := p.now(); p.run.State == "running"; {
		if err := p.hand(ctx); err != nil {
			return err
		}
		if err := p.pause(ctx, certifyPoll); err != nil {
			return err
		}
		before := p.whole
		if err := p.ask(ctx, look); err != nil && (ctx.Err() != nil || !errors.Is(err, errAway)) {
			return err
		}
		switch {
		case !bytes.Equal(before, p.whole):
			changed = p.now()
		case p.Drive != "" && p.now().Sub(changed) > p.Patience:
			printf("%s", p.run.Text())
			return fmt.Errorf("nothing has changed for %v; the run goes on without this command", p.Patience)
		}
	}
	return nil
}

// errAway is an answer that another try may replace.
var errAway = errors.New("the service does not answer now")

// ask makes a call, and keeps the run that is answered.
func (p *certifier) ask(ctx context.Context, call httpcall.Call) error {
	call.Header = http.Header{"X-Api-Key": {p.Key}}
	answer, err := call.Do(ctx, p.client, maxAnswer)
	if err != nil {
		return fmt.Errorf("%w: %w", errAway, err)
	}
	var said struct {
		Error string          `json:"error"`
		Run   json.RawMessage `json:"run"`
	}
	err = json.Unmarshal(answer.Body, &said)
	switch {
	case answer.Status == http.StatusTooManyRequests || answer.Status >= http.StatusInternalServerError:
		return fmt.Errorf("%w: it answered %d: %s", errAway, answer.Status, said.Error)
	case err != nil:
		return errors.New("the answer is none of the service; is --url right?")
	case !answer.OK():
		return fmt.Errorf("the service answered %d: %s", answer.Status, said.Error)
	}
	p.whole = said.Run
	p.run = report.Run{}
	return json.Unmarshal(said.Run, &p.run)
}

// hand hands the tasks over that were not before.
func (p *certifier) hand(ctx context.Context) error {
	var all struct{ Tasks []json.RawMessage }
	if err := json.Unmarshal(p.whole, &all); err != nil {
		return err
	}
	for i, task := range p.run.Tasks {
		if p.given[task.ID] {
			continue
		}
		p.given[task.ID] = true
		printf("%s\n", task.Text)
		if p.Drive == "" {
			var body bytes.Buffer
			if err := json.Indent(&body, all.Tasks[i], "  ", "  "); err != nil {
				return err
			}
			printf("  %s\n", body.Bytes())
			continue
		}
		if err := p.drive(ctx, all.Tasks[i]); err != nil {
			return fmt.Errorf("--drive: %w", err)
		}
	}
	return nil
}

// drive has the command do a task.
func (p *certifier) drive(ctx context.Context, task []byte) error {
	for tries := 1; ; tries++ {
		err := driveOnce(ctx, p.Drive, task)
		if err == nil || tries == driveTries {
			return err
		}
		complain("%v; once more\n", err)
		if err := p.pause(ctx, 2*time.Second); err != nil {
			return err
		}
	}
}

func driveOnce(ctx context.Context, command string, task []byte) error {
	ctx, cancel := context.WithTimeout(ctx, driveTime)
	defer cancel()
	run := exec.CommandContext(ctx, "sh", "-c", command)
	run.Stdin = bytes.NewReader(task)
	run.WaitDelay = time.Second // what it has started may hold its output
	said, err := run.CombinedOutput()
	if len(said) > 0 {
		complain("%s", said)
	}
	return err
}

// write writes the reports. Each is whole or not there.
func (p *certifier) write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	page, err := p.run.HTML()
	if err != nil {
		return err
	}
	junit, err := p.run.JUnit()
	if err != nil {
		return err
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, p.whole, "", "  "); err != nil {
		return err
	}
	for name, text := range map[string][]byte{"report.txt": p.run.Text(), "report.html": page, "report.json": slices.Concat(indented.Bytes(), []byte("\n")), "junit.xml": junit} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path+".new", text, 0o644); err != nil {
			return err
		}
		if err := os.Rename(path+".new", path); err != nil {
			return err
		}
	}
	return nil
}
