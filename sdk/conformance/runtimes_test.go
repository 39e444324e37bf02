package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/port"
)

// runtimes is set by the full run of scripts/test. Loading the runtimes takes a while.
const runtimes = "PURVEYOR_TEST_RUNTIMES"

// TestRuntimes runs all cases with the SDK for TypeScript in Deno, Bun and the runtime of
// Workers, which come from the npm registry.
func TestRuntimes(t *testing.T) {
	if os.Getenv(runtimes) == "" {
		t.Skip("scripts/test full runs the SDK in Deno, Bun and Workers")
	}
	folder := compileTypeScript(t)
	sdk := filepath.Join(folder, "node_modules", "purveyor-sdk")
	check.OK(t, os.Rename(sdk, filepath.Join(folder, "sdk"))) // npm removes what it does not know
	manifest, err := os.ReadFile("testdata/runtimes/package.json")
	check.OK(t, err)
	check.OK(t, os.WriteFile(filepath.Join(folder, "package.json"), manifest, 0o600))
	install := exec.Command("npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")
	install.Dir = folder
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("this test needs the npm registry: %v\n%s", err, out)
	}
	check.OK(t, os.Rename(filepath.Join(folder, "sdk"), sdk))

	t.Run("deno", func(t *testing.T) {
		cmd := exec.Command(only(t, folder, "node_modules/@deno/*/deno"), "run", "--allow-net", "--no-lock", "--node-modules-dir=manual", "main.mjs")
		runAll(t, "deno", driveProcess(t, cmd, folder))
	})
	t.Run("bun", func(t *testing.T) {
		runAll(t, "bun", driveProcess(t, exec.Command(only(t, folder, "node_modules/@oven/bun-*/bin/bun"), "main.mjs"), folder))
	})
	t.Run("workers", func(t *testing.T) { runAll(t, "workers", driveWorker(t, folder)) })
}

// only returns the file that matches a pattern: which one it is depends on the machine.
func only(t *testing.T, folder, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil || len(found) == 0 {
		t.Fatalf("no %s (%v)", pattern, err)
	}
	return found[0]
}

// driveWorker makes calls in a worker, which gets jobs by HTTP.
func driveWorker(t *testing.T, folder string) driver {
	t.Helper()
	modules, err := filepath.Glob(filepath.Join(folder, "node_modules/purveyor-sdk/dist/*.js"))
	check.OK(t, err)
	list := []string{`(name = "worker.mjs", esModule = embed "worker.mjs")`, `(name = "run.mjs", esModule = embed "run.mjs")`}
	for _, path := range modules {
		name := filepath.Base(path)
		module := name
		if name == "index.js" {
			module = "purveyor-sdk"
		}
		list = append(list, fmt.Sprintf(`(name = %q, esModule = embed "node_modules/purveyor-sdk/dist/%s")`, module, name))
	}
	slices.Sort(list[1:])
	address, err := port.Address()
	check.OK(t, err)
	config := fmt.Sprintf(`using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main), (name = "internet", network = (allow = ["public", "private"]))],
  sockets = [(name = "http", address = %q, http = (), service = "main")],
);
const main :Workerd.Worker = (compatibilityDate = "2026-01-01", modules = [%s]);
`, address, strings.Join(list, ", "))
	check.OK(t, os.WriteFile(filepath.Join(folder, "config.capnp"), []byte(config), 0o600))
	var log output
	cmd := exec.CommandContext(t.Context(), only(t, folder, "node_modules/@cloudflare/workerd-*/bin/workerd"), "serve", "config.capnp")
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, &log, &log
	check.OK(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(log.tail())
		}
	})
	check.Eventually(t, patience, 20*time.Millisecond, "the worker to listen", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return func(t *testing.T, j job) (outcomes []outcome) {
		t.Helper()
		text, err := json.Marshal(j)
		check.OK(t, err)
		response, err := http.Post("http://"+address, "application/json", bytes.NewReader(text))
		check.OK(t, err)
		defer response.Body.Close()
		answer, err := io.ReadAll(response.Body)
		check.OK(t, err)
		if err := json.Unmarshal(answer, &outcomes); err != nil {
			t.Fatalf("%v: %s", err, answer)
		}
		return outcomes
	}
}
