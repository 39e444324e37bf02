package devdocs

import (
	"fmt"
	"hash/fnv"
	"html/template"
	"regexp"
	"strings"
)

// languages are those that readers choose between, with their names.
var languages = map[string]string{"sh": "curl", "go": "Go", "ts": "TypeScript", "python": "Python", "php": "PHP"}

// snippet is code in a language.
type snippet struct{ lang, code string }

// HTML returns the code as a part of a page.
func (s snippet) HTML() template.HTML {
	name := languages[s.lang]
	switch s.lang {
	case "sh":
		name = "Shell"
	case "json":
		name = "JSON"
	case "", "text":
		name = "Text"
	}
	return html(fmt.Sprintf(`<div class="code" data-lang="%s"><pre tabindex="0" role="group" aria-label="%s"><code>%s</code></pre></div>`+"\n",
		template.HTMLEscapeString(s.lang), template.HTMLEscapeString(name), highlight(s.lang, strings.TrimRight(s.code, "\n"))))
}

// snippets is the same in several languages.
type snippets []snippet

// HTML returns a choice of languages and the code in the one that is chosen. It needs no
// script.
func (list snippets) HTML() template.HTML {
	group := fnv.New32a()
	for _, s := range list {
		_, _ = group.Write([]byte(s.lang + s.code)) // never fails
	}
	var b strings.Builder
	b.WriteString(`<fieldset class="tabs"><legend class="unseen">Language</legend><div class="tablist">`)
	for i, s := range list {
		checked := ""
		if i == 0 {
			checked = " checked"
		}
		fmt.Fprintf(&b, `<label><input type="radio" name="l%x" value="%s"%s autocomplete="off"> <span>%s</span></label>`, group.Sum32(), s.lang, checked, languages[s.lang])
	}
	b.WriteString(`</div>`)
	for _, s := range list {
		b.WriteString(string(s.HTML()))
	}
	b.WriteString("</fieldset>\n")
	return html(b.String())
}

// oneOf matches one of the words of a list.
func oneOf(list string) string { return `\b(?:` + strings.ReplaceAll(list, " ", "|") + `)\b` }

const (
	quoted  = `"(?:\\.|[^"\\\n])*"`
	quoted1 = `'(?:\\.|[^'\\\n])*'`
	ticked  = "`[^`]*`"
	slashes = `//[^\n]*|(?s:/\*.*?\*/)`
	hashes  = `(?m:(?:^|[ \t])#[^\n]*)`
	digits  = `\b\d[\d_.]*\b`
)

// grammar finds what stands out in a language. Its groups are: c, comments; p, names of
// members; s, texts; k, words of the language; n, numbers.
func grammar(c, p, s, k string) *regexp.Regexp {
	none := `[^\x00-\x{10FFFF}]`
	for _, part := range []*string{&c, &p, &s, &k} {
		if *part == "" {
			*part = none
		}
	}
	return regexp.MustCompile(`(?P<c>` + c + `)|(?P<p>` + p + `)|(?P<s>` + s + `)|(?P<k>` + k + `)|(?P<n>` + digits + `)`)
}

var grammars = map[string]*regexp.Regexp{
	"json":   grammar("", quoted+`:`, quoted, oneOf("true false null")),
	"sh":     grammar(hashes, "", `"[^"]*"|'[^']*'`, oneOf("curl export echo purveyor")),
	"go":     grammar(slashes, "", quoted+`|`+ticked, oneOf("package import func return if for range var const type struct defer go switch case default nil true false")),
	"ts":     grammar(slashes, "", quoted+`|`+quoted1+`|`+ticked, oneOf("import from export const let function return if else for of await async new throw try catch null true false")),
	"python": grammar(hashes, "", `[bf]?`+quoted+`|[bf]?`+quoted1, oneOf("import from def return if not in for raise try except as None True False and or with")),
	"php":    grammar(slashes, "", quoted+`|`+quoted1, oneOf("function return if foreach as new throw true false null php use static fn")),
}

// highlight returns code as HTML in which what stands out has a class.
func highlight(lang, code string) string {
	g := grammars[lang]
	if g == nil {
		return template.HTMLEscapeString(code)
	}
	var b strings.Builder
	end := 0
	for _, at := range g.FindAllStringSubmatchIndex(code, -1) {
		b.WriteString(template.HTMLEscapeString(code[end:at[0]]))
		for i, name := range g.SubexpNames() {
			if name == "" || at[2*i] < 0 {
				continue
			}
			text := code[at[0]:at[1]]
			if lang == "sh" && name == "n" { // of an address
				b.WriteString(text)
				continue
			}
			after := ""
			if name == "p" {
				text, after = strings.TrimSuffix(text, ":"), ":"
			}
			if lang == "sh" && strings.HasPrefix(text, "'{") { // a body
				b.WriteString("&#39;" + highlight("json", text[1:len(text)-1]) + "&#39;")
			} else {
				fmt.Fprintf(&b, `<span class="%s">%s</span>`, name, template.HTMLEscapeString(text))
			}
			b.WriteString(after)
		}
		end = at[1]
	}
	b.WriteString(template.HTMLEscapeString(code[end:]))
	return b.String()
}
