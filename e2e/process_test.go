package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
)

// patience bounds waits that have no limit of their own.
const patience = 30 * time.Second

// pollPause is the pause between two looks at what a test waits for.
const pollPause = 5 * time.Millisecond

// output collects the output of a process, and can be read meanwhile.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// environment returns the tests' environment without the program's settings. The race
// detector would wait a second at each exit.
func environment(extra ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PURVEYOR_") })
	return append(append(env, "GORACE=atexit_sleep_ms=0"), extra...)
}

// process is a running program.
type process struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr output
	done           chan struct{} // closed when it has ended
}

// start runs the program until the test ends, if it is not ended earlier.
func start(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	return startProgram(t, program(t), env, args...)
}

func startProgram(t *testing.T, path string, env []string, args ...string) *process {
	t.Helper()
	return startCommand(t, exec.Command(path, args...), env)
}

func startCommand(t *testing.T, cmd *exec.Cmd, env []string) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, done: make(chan struct{})}
	p.cmd.Dir = t.TempDir()
	p.cmd.Env = environment(append([]string{"PURVEYOR_WRITERS=3"}, env...)...) // several on a machine of two cores, too
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // the tests look at ProcessState
	}()
	t.Cleanup(p.end)
	return p
}

// wrong matches a log line with a warning or an error.
var wrong = regexp.MustCompile(`(?m)^.*level=(WARN|ERROR).*$`)

// end stops the process when the test ends. It fails the test if the log contains
// what must never be in it.
func (p *process) end() {
	p.kill()
	log := p.stderr.String()
	for _, never := range []string{"DATA RACE", "panic", "goroutine 1 ["} {
		if i := strings.Index(log, never); i >= 0 {
			p.t.Errorf("the log of %q holds %q:\n%s", p.cmd.Args[1:], never, log[i:min(len(log), i+4000)])
		}
	}
	if p.t.Failed() {
		tail := max(0, len(log)-4000) // earlier warnings are printed above
		p.t.Logf("log of %q:\n%s\n...\n%s", p.cmd.Args[1:], strings.Join(wrong.FindAllString(log[:tail], 20), "\n"), log[tail:])
	}
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatalf("signal %v: %v", s, err)
	}
}

// kill sends SIGKILL and waits for the end.
func (p *process) kill() {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Errorf("kill: %v", err)
	}
	<-p.done
}

// exit waits until the process ends by itself, and returns its exit code.
func (p *process) exit(limit time.Duration) int {
	p.t.Helper()
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(limit):
		p.t.Fatalf("%q still runs after %v", p.cmd.Args[1:], limit)
		return 0
	}
}

// stop is an orderly stop: SIGTERM, and exit code 0 within 10 s.
func (p *process) stop() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	if code := p.exit(10 * time.Second); code != 0 {
		p.t.Errorf("exit code %d after SIGTERM, want 0", code)
	}
}

var servingLine = regexp.MustCompile(`msg=serving url=(\S+)`)

// serve starts the service on a free port, and waits until it is ready.
func serve(t *testing.T, database string, flags ...string) (p *process, base string) {
	t.Helper()
	p = start(t, nil, append([]string{"serve", "--database", database, "--listen", "127.0.0.1:0"}, flags...)...)
	return p, p.ready(&p.stderr, servingLine)
}

// ready waits for the line with the base URL, then for readiness.
func (p *process) ready(from *output, line *regexp.Regexp) (base string) {
	p.t.Helper()
	check.Eventually(p.t, patience, pollPause, "the service to print its address", func() bool {
		if match := line.FindStringSubmatch(from.String()); match != nil {
			base = match[1]
			return true
		}
		select {
		case <-p.done:
			p.t.Fatalf("%q ended with code %d", p.cmd.Args[1:], p.cmd.ProcessState.ExitCode())
		default:
		}
		return false
	})
	probe := newClient(p.t, base, "")
	check.Eventually(p.t, patience, pollPause, "readiness", func() bool {
		a, err := probe.send(request{method: "GET", path: "/readyz"})
		return err == nil && a.status == 200
	})
	return base
}

// result is the outcome of a command.
type result struct {
	code           int
	stdout, stderr string
}

// operate runs a command of the operator to its end.
func operate(t *testing.T, args ...string) result {
	t.Helper()
	return operateIn(t, nil, args...)
}

func operateIn(t *testing.T, env []string, args ...string) result {
	t.Helper()
	return operateProgram(t, program(t), env, args...)
}

func operateProgram(t *testing.T, path string, env []string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = environment(env...)
	return runCommand(t, cmd)
}

// operateWith is operate with a text on standard input.
func operateWith(t *testing.T, input string, args ...string) result {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(t), args...)
	cmd.Dir, cmd.Env, cmd.Stdin = t.TempDir(), environment(), strings.NewReader(input)
	return runCommand(t, cmd)
}

func runCommand(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	r, err := tryCommand(cmd)
	if err != nil {
		t.Fatal(err)
	}
	if r.code < 0 || strings.Contains(r.stderr, "panic") || strings.Contains(r.stderr, "DATA RACE") {
		t.Fatalf("%q ended with %v:\n%s", cmd.Args[1:], cmd.ProcessState, r.stderr)
	}
	return r
}

// tryCommand runs a command. An error means that it did not start.
func tryCommand(cmd *exec.Cmd) (result, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return result{}, err
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}, nil
}

// ok fails the test unless the command succeeded, and returns its output.
func (r result) ok(t *testing.T) string {
	t.Helper()
	if r.code != 0 {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	return r.stdout
}

// refused checks the exit code, and that the message contains every word.
func (r result) refused(t *testing.T, code int, words ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d", r.code, code)
	}
	for _, w := range words {
		if !strings.Contains(r.stderr, w) {
			t.Errorf("the message does not say %q:\n%s", w, r.stderr)
		}
	}
}

// maxRSS returns the bound on the service's peak memory, in KiB. The race detector
// multiplies memory, so that only a large excess shows with it.
func maxRSS() int {
	const limit = 150 << 10
	if raceEnabled {
		return 4 * limit
	}
	return limit
}

// checkMemory fails the test if the process ever exceeded the bound. The peak (VmHWM)
// is at least the current size (VmRSS).
func (p *process) checkMemory() {
	p.t.Helper()
	if p.t.Logf("peak memory %d MiB", p.peakMiB()); p.peakMiB() > maxRSS()>>10 {
		p.t.Errorf("the service took %d MiB, want at most %d", p.peakMiB(), maxRSS()>>10)
	}
}

// fileSize returns 0 if the file does not exist.
func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
