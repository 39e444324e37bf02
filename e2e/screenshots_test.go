package e2e_test

import (
	"bytes"
	"cmp"
	"context"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/testkit/browser"
	"purveyor/internal/testkit/check"

	"github.com/chromedp/chromedp"
)

// picturesFolder names the folder for the pictures of the README. Without it they are not made.
const picturesFolder = "PURVEYOR_PICTURES"

// mostOfPicture is how many bytes a picture may have.
const mostOfPicture = 120_000

// TestScreenshots takes the pictures of the README from the demo: scripts/screenshots.
func TestScreenshots(t *testing.T) {
	folder := os.Getenv(picturesFolder)
	if folder == "" {
		t.Skip("scripts/screenshots takes the pictures of the README")
	}
	d := startDemo(t, "--sandbox-step", "500ms")
	d.filled(2 * patience)
	chrome := browser.Start(t)
	desk := browser.Visit(t, chrome, d.link, chromedp.EmulateViewport(1280, 800))
	check.OK(t, chromedp.Do(desk.Tab, chromedp.Click("button.main"), chromedp.WaitNotPresent(`form[action="/office/enter"]`)))
	underWay, _ := d.order(func(o commerce.Order) bool { return o.Status == commerce.OutForDelivery })
	paid, _ := d.order(func(o commerce.Order) bool { return o.Status == commerce.Paid && o.Fulfillment == commerce.ByPickup })
	for _, p := range []struct {
		name, path    string
		width, height int64
		dark          bool
	}{
		{"today", "/office", 1280, 800, false},
		{"board", "/office/board", 1280, 800, false},
		{"order", "/office/orders/" + underWay.ID, 1280, 1000, false},
		{"reports", "/office/reports", 1280, 900, true},
		{"products", "/office/products", 1280, 800, false},
		{"reference", "/docs/api/reportOrder", 1280, 800, false},
		{"phone", "/office/orders/" + paid.ID, 360, 740, false},
	} {
		media := browser.Light()
		if p.dark {
			media = browser.Dark()
		}
		size := chromedp.EmulateViewport(p.width, p.height)
		if p.width < 500 {
			size = chromedp.EmulateViewport(p.width, p.height, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulateScale(2))
		}
		check.OK(t, chromedp.Do(desk.Tab, media, size, chromedp.Navigate(d.base+p.path), chromedp.WaitReady("main")))
		desk.Fits(int(p.width))
		keepPicture(t, desk.Tab, filepath.Join(folder, p.name+".png"))
	}
}

// keepPicture saves what the tab shows.
func keepPicture(t *testing.T, tab context.Context, path string) {
	t.Helper()
	taken, err := chromedp.Run(tab, chromedp.CaptureScreenshot())
	check.OK(t, err)
	picture, err := png.Decode(bytes.NewReader(taken))
	check.OK(t, err)
	var small bytes.Buffer
	check.OK(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, inFewColours(picture)))
	if small.Len() > mostOfPicture {
		t.Errorf("%s has %d bytes, at most %d are allowed", path, small.Len(), mostOfPicture)
	}
	check.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
	check.OK(t, os.WriteFile(path, small.Bytes(), 0o644))
}

// inFewColours draws a picture in its 256 commonest colours: the pages have few, and the file
// has a third of the bytes.
func inFewColours(picture image.Image) image.Image {
	counts, bounds := map[color.Color]int{}, picture.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[picture.At(x, y)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(counts), func(a, b color.Color) int { return cmp.Compare(counts[b], counts[a]) })
	few := image.NewPaletted(bounds, color.Palette(colours[:min(len(colours), 256)]))
	draw.Draw(few, bounds, picture, bounds.Min, draw.Src)
	return few
}
