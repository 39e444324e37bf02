package devdocs

import (
	"html/template"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMarkdown(t *testing.T) {
	m := newMarkdown(map[string]string{"GET /v1/orders": "/docs/api/listOrders"})
	for source, want := range map[string]string{
		"A *b* <b>c</b>":                      "<p>A <em>b</em> <!-- raw HTML omitted -->c<!-- raw HTML omitted --></p>\n",
		"[x](javascript:alert(1))":            `<p><a href="">x</a></p>` + "\n",
		"Call `GET /v1/orders`.":              `<p>Call <a href="/docs/api/listOrders"><code>GET /v1/orders</code></a>.</p>` + "\n",
		"Call [`GET /v1/orders`](/docs/x).":   `<p>Call <a href="/docs/x"><code>GET /v1/orders</code></a>.</p>` + "\n",
		"[x](test-mode.md#a) [y](/docs/y.md)": `<p><a href="/docs/test-mode#a">x</a> <a href="/docs/y.md">y</a></p>` + "\n",
		"Call `GET /v1/other`.":               "<p>Call <code>GET /v1/other</code>.</p>\n",
		"## A part\n\nText.":                  "<h2 id=\"a-part\">A part</h2>\n<p>Text.</p>\n",
		"<script>x()</script>\n\n`<script>`.": "<!-- raw HTML omitted -->\n<p><code>&lt;script&gt;</code>.</p>\n",
	} {
		if got := string(m.block(source)); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	if table := string(m.block("| a | b |\n|---:|---|\n| 1 | 2 |\n")); strings.Contains(table, "style") || !strings.Contains(table, "<th>a</th>") {
		t.Error(table)
	}
	if line := m.line("One *line*."); line != "One <em>line</em>." {
		t.Error(line)
	}
	if _, toc := m.page([]byte("## A `b`\n\n### C\n\n## D\n")); len(toc) != 2 || toc[0] != (heading{"a-b", "A b"}) {
		t.Errorf("%+v", toc)
	}
}

// TestChoice: neighbouring blocks in different languages become a choice, others do not.
func TestChoice(t *testing.T) {
	m := newMarkdown(nil)
	block := func(langs ...string) string {
		var b strings.Builder
		for _, l := range langs {
			b.WriteString("```" + l + "\nx\n```\n\n")
		}
		return string(m.block(b.String()))
	}
	for _, c := range []struct {
		langs   []string
		choices int
		blocks  int
	}{
		{[]string{"go", "ts", "python", "php"}, 1, 4},
		{[]string{"sh", "json"}, 0, 2},
		{[]string{"sh", "sh"}, 0, 2},
		{[]string{"go", "ts", "json", "go", "ts"}, 2, 5},
		{[]string{"go"}, 0, 1},
	} {
		out := block(c.langs...)
		if strings.Count(out, "<fieldset") != c.choices || strings.Count(out, "<pre") != c.blocks || strings.Count(out, " checked") != c.choices {
			t.Errorf("%v: %s", c.langs, out)
		}
	}
}

// TestHighlight: code keeps its text, whatever stands out in it.
func TestHighlight(t *testing.T) {
	if got := highlight("json", `{"a": "b", "n": 1.5, "t": true}`); got != `{<span class="p">&#34;a&#34;</span>: <span class="s">&#34;b&#34;</span>, <span class="p">&#34;n&#34;</span>: <span class="n">1.5</span>, <span class="p">&#34;t&#34;</span>: <span class="k">true</span>}` {
		t.Error(got)
	}
	if got := highlight("go", "return x // the <end>"); got != `<span class="k">return</span> x <span class="c">// the &lt;end&gt;</span>` {
		t.Error(got)
	}
	if got := highlight("sh", `curl -d '{"a": 1}'`); got != `<span class="k">curl</span> -d &#39;{<span class="p">&#34;a&#34;</span>: <span class="n">1</span>}&#39;` {
		t.Error(got)
	}
	rapid.Check(t, func(t *rapid.T) {
		lang := rapid.SampledFrom([]string{"sh", "go", "ts", "python", "php", "json", "text"}).Draw(t, "lang")
		code := rapid.StringOf(rapid.SampledFrom([]rune("ab1 \n\"'`{}:<>&/#*\\$return"))).Draw(t, "code")
		if got := template.HTML(tags.ReplaceAllString(highlight(lang, code), "")); string(got) != template.HTMLEscapeString(code) {
			t.Errorf("%q, not %q", got, template.HTMLEscapeString(code))
		}
	})
}
