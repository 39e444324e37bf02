package load

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"log/slog"
	"net/http"
	"os"
	"runtime/pprof"
	"strings"
	"time"

	"purveyor/internal/api"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/config"
	"purveyor/internal/effect"
	"purveyor/internal/env"
	"purveyor/internal/inbound"
	"purveyor/internal/jobs"
	"purveyor/internal/outside/courier"
	"purveyor/internal/outside/geocode"
	"purveyor/internal/outside/payment"
	"purveyor/internal/outside/sandbox"
	"purveyor/internal/outside/webhook"
	"purveyor/internal/storage/postgres"
	"purveyor/internal/web"
)

// Sandbox is the name of the payment processor of test mode.
const Sandbox = "sandbox"

// cacheMiB is the service's default, and that of api.Options.
const cacheMiB = 16

// profiledFlags are those of the service that benchmarks use.
type profiledFlags struct {
	sandboxStep     time.Duration
	privateWebhooks bool
}

func (f *profiledFlags) parse(args []string) error {
	set := flag.NewFlagSet("profiled", flag.ContinueOnError)
	set.DurationVar(&f.sandboxStep, "sandbox-step", 5*time.Second, "as of the service")
	set.BoolVar(&f.privateWebhooks, "allow-private-webhooks", false, "as of the service")
	return set.Parse(args)
}

// ServeProfiled is the hidden command "profiled ADDRESS DATABASE PROFILE [FLAG]...":
// the parts of the service put together as cmd/purveyor does it, with a CPU
// profile of all that it does.
func ServeProfiled(ctx context.Context, addr, database, profile string, args ...string) (err error) {
	var flags profiledFlags
	if err := flags.parse(args); err != nil {
		return err
	}
	engine, err := OpenEngine(database)
	if err != nil {
		return err
	}
	_, elsewhere := engine.(*postgres.Engine)
	config.Server{CacheMiB: cacheMiB}.BoundMemory(elsewhere)
	runner := jobs.New(env.Env{}, env.Env{}.Text())
	committer := commit.New(engine, commit.Options{Starter: runner})
	defer func() { committer.Close(); err = errors.Join(err, engine.Close()) }()
	out := bufio.NewWriterSize(os.Stderr, 64<<10) // the handler of slog takes turns by itself
	defer func() { _ = out.Flush() }()
	log := slog.New(slog.NewTextHandler(out, nil))
	f, err := os.Create(profile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	objects := effect.NewObjects(env.Env{}, engine, committer, runner)
	box := payment.NewSandbox(env.Env{}, objects, "http://"+addr)
	couriers := courier.NewSandbox(env.Env{}, objects, "http://"+addr)
	couriers.StepEvery = flags.sandboxStep
	couriers.Locate = func(ctx context.Context, a commerce.Address) (commerce.Point, bool) {
		place, err := geocode.Offline{}.Find(ctx, geocode.Query{Address: a})
		return place.Point, err == nil
	}
	fleet := courier.Fleet{Providers: map[string]courier.Provider{Sandbox: couriers}, Modes: map[commerce.Mode][]string{commerce.Test: {Sandbox}}}
	notices := inbound.New(env.Env{}, engine.Reader(), committer, map[string]inbound.PaymentCallbacks{Sandbox: box}, map[string]inbound.CourierCallbacks{Sandbox: couriers})
	effects := effect.Start(effect.Options{Engine: engine, Committer: committer, Runner: runner, Answers: api.Answers{}, Sender: webhook.NewSender(flags.privateWebhooks, nil),
		Processors: map[string]effect.Processor{Sandbox: box}, Fleet: fleet, Geocoder: geocode.Offline{}, Movers: map[string]sandbox.Mover{courier.SandboxObjects: couriers}, Post: notices.FromSandbox(sandbox.NewSigner(env.Env{}, objects))})
	defer func() {
		giveBack, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		effects.Stop(giveBack)
	}()
	partners := api.New(engine, committer, api.Options{Jobs: effects, Processors: map[commerce.Mode]string{commerce.Test: Sandbox},
		Couriers: fleet, Geocoder: geocode.Offline{}}).Handler()
	return ServeUntilDone(ctx, addr, web.Trace(env.Env{}, log, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, inbound.Prefix) {
			notices.ServeHTTP(w, r)
			return
		}
		partners.ServeHTTP(w, r)
	})))
}
