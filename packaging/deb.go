package main

import (
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
)

//go:embed deb
var debFiles embed.FS

const maintainer = "The maintainers of Purveyor <maintainers@users.noreply.a-seed-d962c95b.example>"

// writeDeb writes the package for Debian: the program, its settings and its units.
func (r release) writeDeb(p platform, program string) error {
	folder, err := os.MkdirTemp("", "purveyor-deb-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := os.CopyFS(folder, debFiles); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "changelog.gz"), r.changelog(), 0o644); err != nil {
		return err
	}
	info := nfpm.WithDefaults(r.debInfo(p, program, folder))
	if err := nfpm.PrepareForPackager(info, "deb"); err != nil {
		return err
	}
	return writeFile(r.path(p, ".deb"), func(w io.Writer) error { return deb.Default.Package(info, w) })
}

func (r release) debInfo(p platform, program, folder string) *nfpm.Info {
	own := func(name string) string { return filepath.Join(folder, "deb", name) }
	put := func(mode os.FileMode, source, destination, kind string) *files.Content {
		return &files.Content{Source: source, Destination: destination, Type: kind,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: r.time}}
	}
	const docs = "/usr/share/doc/purveyor/"
	contents := files.Contents{
		put(0o755, program, "/usr/bin/purveyor", ""),
		put(0o644, filepath.Join(r.root, "deploy/purveyor.conf"), "/etc/purveyor/purveyor.conf", files.TypeConfigNoReplace),
		put(0o644, own("copyright"), docs+"copyright", ""),
		put(0o644, own("overrides"), "/usr/share/lintian/overrides/purveyor", ""),
		put(0o644, filepath.Join(folder, "changelog.gz"), docs+"changelog.gz", ""),
	}
	for _, unit := range []string{"purveyor.service", "purveyor.socket", "purveyor-backup.service", "purveyor-backup.timer"} {
		contents = append(contents, put(0o644, filepath.Join(r.root, "deploy/systemd", unit), "/lib/systemd/system/"+unit, ""))
	}
	for _, script := range [][2]string{{"bash", "bash-completion/completions/purveyor"}, {"fish", "fish/vendor_completions.d/purveyor.fish"}, {"zsh", "zsh/vendor-completions/_purveyor"}} {
		contents = append(contents, put(0o644, filepath.Join(r.root, "cmd/purveyor/completion/purveyor."+script[0]), "/usr/share/"+script[1], ""))
	}
	return &nfpm.Info{
		Name: "purveyor", Arch: p.arch, Platform: "linux", Version: r.version, Section: "net", Priority: "optional", MTime: r.time, DisableGlobbing: true,
		Maintainer:  maintainer,
		Description: "partner commerce service\nPartner systems sell from a merchant's stores: catalog, stock, orders,\npayments and deliveries, with a back office, in one program.",
		Overridables: nfpm.Overridables{Contents: contents, Umask: 0o022, Recommends: []string{"systemd"},
			Scripts: nfpm.Scripts{PostInstall: own("postinst"), PreRemove: own("prerm"), PostRemove: own("postrm")},
			Deb:     nfpm.Deb{Compression: "xz"}},
	}
}

// changelog is the one that Debian asks for; CHANGELOG.md tells what changed. Debian writes
// 1.2.3-rc.1 as 1.2.3~rc.1, which comes before 1.2.3.
func (r release) changelog() []byte {
	var data bytes.Buffer
	z, err := gzip.NewWriterLevel(&data, gzip.BestCompression)
	_, err2 := fmt.Fprintf(z, "purveyor (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- %s  %s\n", strings.ReplaceAll(r.version, "-", "~"), maintainer, r.time.Format(time.RFC1123Z))
	if err := errors.Join(err, err2, z.Close()); err != nil {
		panic(err) // it is written to memory
	}
	return data.Bytes()
}
