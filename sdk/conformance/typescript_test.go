package conformance_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"purveyor/internal/testkit/check"
)

// typescript is the compiler (Apache-2.0) at the npm registry, and typescriptSum the SHA-256 of
// its package. It is loaded for tests alone.
const (
	typescript    = "typescript@5.9.3"
	typescriptSum = "10e108c9cf7d5f2879053dff18515fb405abf2ccef63eaaf017d9c571687a1d3"
)

// TestTypeScript compiles the SDK for TypeScript, and runs all cases with Node.
func TestTypeScript(t *testing.T) {
	folder := compileTypeScript(t)
	runAll(t, "node", driveProcess(t, exec.Command("node", "main.mjs"), folder))
}

// compiling is held by the test that compiles the SDK for all.
var compiling sync.Mutex

// compileTypeScript compiles the SDK as it is published, once for all tests. It returns a folder in
// which programs find it by its name, with the programs of testdata.
func compileTypeScript(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out what needs npm")
	}
	compiling.Lock()
	defer compiling.Unlock()
	folder, dist := t.TempDir(), filepath.Join(filepath.Dir(program), "dist")
	if _, err := os.Stat(dist); err != nil {
		loadPackage(t, filepath.Dir(program), typescript, typescriptSum)
		tsc(t, "-p", "../typescript", "--outDir", dist)
	}
	sdk := filepath.Join(folder, "node_modules", "purveyor-sdk")
	check.OK(t, os.CopyFS(filepath.Join(sdk, "dist"), os.DirFS(dist)))
	for from, to := range map[string]string{"../typescript/package.json": filepath.Join(sdk, "package.json"),
		"testdata/run.mjs": filepath.Join(folder, "run.mjs"), "testdata/main.mjs": filepath.Join(folder, "main.mjs"), "testdata/worker.mjs": filepath.Join(folder, "worker.mjs")} {
		text, err := os.ReadFile(from)
		check.OK(t, err)
		check.OK(t, os.WriteFile(to, text, 0o600))
	}
	return folder
}

// loadPackage loads a package from the npm registry, with a known sum, into node_modules.
func loadPackage(t *testing.T, folder, name, sum string) {
	t.Helper()
	pack := exec.Command("npm", "pack", "--silent", "--pack-destination", folder, name)
	pack.Dir = folder
	if out, err := pack.CombinedOutput(); err != nil {
		t.Fatalf("this test needs node and npm (Debian: nodejs, npm) and the npm registry: %v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.tgz"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	packed, err := os.ReadFile(files[0])
	check.OK(t, err)
	if is := sha256.Sum256(packed); hex.EncodeToString(is[:]) != sum {
		t.Fatalf("%s is not the release that is known: %x", name, is)
	}
	target := filepath.Join(folder, "tsc")
	check.OK(t, os.MkdirAll(target, 0o755))
	if out, err := exec.Command("tar", "-xzf", files[0], "-C", target).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// tsc runs the compiler that compileTypeScript has loaded.
func tsc(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("node", append([]string{filepath.Join(filepath.Dir(program), "tsc/package/lib/tsc.js")}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// driveProcess makes calls in a process that reads jobs and writes outcomes, one a line.
func driveProcess(t *testing.T, cmd *exec.Cmd, folder string) driver {
	t.Helper()
	cmd.Dir, cmd.Stderr = folder, os.Stderr
	in, err := cmd.StdinPipe()
	check.OK(t, err)
	out, err := cmd.StdoutPipe()
	check.OK(t, err)
	check.OK(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close() // it ends then
		_ = cmd.Wait() // what it did has been compared
	})
	lines := bufio.NewReader(out)
	return func(t *testing.T, j job) (outcomes []outcome) {
		t.Helper()
		text, err := json.Marshal(j)
		check.OK(t, err)
		_, err = in.Write(append(text, '\n'))
		check.OK(t, err)
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			t.Fatal("the process has ended")
		}
		check.OK(t, err)
		check.OK(t, json.Unmarshal(line, &outcomes))
		return outcomes
	}
}
