package backoffice

import (
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"purveyor/internal/commerce"
)

// fieldWord is a field of a form that edits a row, with what it is called.
type fieldWord struct{ Name, Word string }

// editForm is a form that edits a row, as the page shows it.
type editForm struct {
	fields []fieldWord
	Typed  map[string]string // by field: what stands in the form
	Was    string            // the stored values that the form was made from, encoded
	Seen   commerce.Millis   // the version of these values
	Wrong  string            // the field that is at fault; empty: none
	Why    string            // what is wrong with it
	Since  []changedField    // what others changed since the form was made
}

// changedField is a value that was changed after a page was made.
type changedField struct{ Word, Was, Now string }

// formOf is the form of a row with these values.
func formOf(fields []fieldWord, stored map[string]string, version commerce.Millis) editForm {
	return editForm{fields: fields, Typed: stored, Was: encodeFields(stored), Seen: version}
}

func encodeFields(values map[string]string) string {
	list := url.Values{}
	for name, value := range values {
		list.Set(name, value)
	}
	return list.Encode()
}

// posted is a form that was sent, with its fields as they were typed. Several values of one
// field stand in one text, each on a line of its own.
func (v *visit) posted(fields []fieldWord) editForm {
	f := editForm{fields: fields, Typed: map[string]string{}, Was: v.PostFormValue("was"), Seen: v.seen()}
	for _, field := range fields {
		f.Typed[field.Name] = strings.TrimSpace(strings.Join(v.PostForm[field.Name], "\n"))
	}
	return f
}

// refusedAs completes a form that was refused: which field is at fault or, if the row has
// moved, what has changed. now are the values that are stored now. It returns the refusal
// in the words of the form.
func (f *editForm) refusedAs(refused error, now map[string]string, version commerce.Millis) error {
	refusal, ok := errors.AsType[*commerce.Error](refused)
	switch {
	case !ok:
	case refusal.Code == "changed_meanwhile":
		was, _ := url.ParseQuery(f.Was) // without it, nothing is compared
		for _, field := range f.fields {
			if before := was.Get(field.Name); was.Has(field.Name) && before != now[field.Name] {
				f.Since = append(f.Since, changedField{field.Word, before, now[field.Name]})
			}
		}
		f.Was, f.Seen = encodeFields(now), version // sent again, the form is meant
	case refusal.Field != "":
		i := slices.IndexFunc(f.fields, func(w fieldWord) bool { return w.Name == refusal.Field })
		if i < 0 {
			break
		}
		why := strings.TrimPrefix(refusal.Message, refusal.Field+" ")
		f.Wrong, f.Why = refusal.Field, strings.ToUpper(why[:1])+why[1:]
		worded := *refusal
		worded.Message = f.fields[i].Word + ": " + why
		return &worded
	}
	return refused
}

// Has reports whether a field with several values has this one.
func (f editForm) Has(name, value string) bool {
	return slices.Contains(strings.Split(f.Typed[name], "\n"), value)
}

// word is what a field is called.
func (f editForm) word(name string) string {
	for _, field := range f.fields {
		if field.Name == name {
			return field.Word
		}
	}
	return name
}

// textField is a field of a form for a text, with a hint beneath it or, if it is at fault, what is
// wrong. more are further attributes of the input; no foreign text may stand there.
func textField(f editForm, name, hint, more string) template.HTML {
	e := template.HTMLEscapeString
	return template.HTML(fmt.Sprintf(`<p class="field%s"><label for="%s">%s</label><input id="%[2]s" name="%[2]s" value="%[4]s" %[5]s>%[6]s</p>`,
		f.bad(name), name, e(f.word(name)), e(f.Typed[name]), more, f.beneath(name, hint)))
}

// boxField is a switch of a form.
func boxField(f editForm, name, hint string) template.HTML {
	checked := ""
	if f.Typed[name] != "" {
		checked = " checked"
	}
	return template.HTML(fmt.Sprintf(`<p class="field%s"><label><input type="checkbox" name="%s"%s> %s</label>%s</p>`,
		f.bad(name), name, checked, template.HTMLEscapeString(f.word(name)), f.beneath(name, hint)))
}

func (f editForm) bad(name string) string {
	if f.Wrong == name {
		return " bad"
	}
	return ""
}

func (f editForm) beneath(name, hint string) string {
	switch {
	case f.Wrong == name:
		return `<small class="error">` + template.HTMLEscapeString(f.Why) + `.</small>`
	case hint != "":
		return `<small class="hint">` + template.HTMLEscapeString(hint) + `</small>`
	}
	return ""
}

// onOff is a switch as a form has it.
func onOff(on bool) string {
	if on {
		return "on"
	}
	return ""
}
