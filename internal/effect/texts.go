package effect

import (
	"fmt"
	htmltemplate "html/template"
	"io"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"unicode"

	"purveyor/internal/commerce"
)

// letter is the data of the templates.
type letter struct {
	Order    commerce.Order
	Store    commerce.Store
	Name     string // of the order, as its reader knows it
	Where    []string
	Pieces   int64
	Total    string
	Delivery bool
	// Partner and Merchant are the instructions from each of them.
	Partner, Merchant string
}

const maxInstructions = 500 // characters of instructions in an e-mail

// plainName matches an order's name that cannot be mistaken: no sentence, and nothing
// that a mail program turns into a link.
var plainName = regexp.MustCompile(`^[A-Za-z0-9#_-]{1,64}$`)

func letterOf(o commerce.Order, s commerce.Store) letter {
	l := letter{Order: o, Store: s, Name: o.ID, Total: o.TotalCents.Dollars(), Delivery: o.Fulfillment == commerce.ByDelivery}
	if o.ExternalID != "" {
		l.Name = o.ExternalID
	}
	l.Where = nonEmpty(s.Name, s.Address, strings.TrimSpace(s.City+" "+s.State+" "+s.ZipCode))
	for _, line := range o.Lines {
		l.Pieces += line.Quantity
	}
	return l
}

func nonEmpty(lines ...string) []string {
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}

const readyText = `Your order {{.Name}} is ready for pickup.

{{range .Where}}{{.}}
{{end}}{{with .Partner}}
The store's partner writes:
{{.}}
{{end}}{{with .Merchant}}
{{.}}
{{end}}`

const readyHTML = `<p>Your order <b>{{.Name}}</b> is ready for pickup.</p>
<p>{{range .Where}}{{.}}<br>{{end}}</p>
{{with .Partner}}<p>The store's partner writes:<br>{{.}}</p>
{{end}}{{with .Merchant}}<p>{{.}}</p>
{{end}}`

const paidTextBody = `A new order is paid and waits to be confirmed: {{.Name}}.

{{.Pieces}} pieces, {{.Total}}, for {{if .Delivery}}delivery{{else}}pickup{{end}} from {{.Store.Name}}.
`

const paidHTML = `<p>A new order is paid and waits to be confirmed: <b>{{.Name}}</b>.</p>
<p>{{.Pieces}} pieces, {{.Total}}, for {{if .Delivery}}delivery{{else}}pickup{{end}} from {{.Store.Name}}.</p>
`

var (
	readyPlain = template.Must(template.New("").Parse(readyText))
	readyRich  = htmltemplate.Must(htmltemplate.New("").Parse(readyHTML))
	paidPlain  = template.Must(template.New("").Parse(paidTextBody))
	paidRich   = htmltemplate.Must(htmltemplate.New("").Parse(paidHTML))
)

// readyMail goes to an address that the partner has chosen, so texts of the partner
// are short, and marked as the partner's.
func readyMail(o commerce.Order, s commerce.Store) commerce.UnsentMessage {
	l := letterOf(o, s)
	if !plainName.MatchString(l.Name) {
		l.Name = o.ID
	}
	words := commerce.Cut(o.PickupInstructions, maxInstructions)
	if o.PartnerID != "" {
		l.Partner = words
	} else {
		l.Merchant = words
	}
	return commerce.UnsentMessage{Kind: commerce.UnsentMail, To: o.CustomerEmail, OrderID: o.ID,
		Subject: oneLine(fmt.Sprintf("Your order %s is ready for pickup", l.Name)), Text: write(readyPlain, l), HTML: write(readyRich, l)}
}

func paidMail(o commerce.Order, s commerce.Store) commerce.UnsentMessage {
	l := letterOf(o, s)
	return commerce.UnsentMessage{Kind: commerce.UnsentMail, To: s.Email, OrderID: o.ID,
		Subject: oneLine(fmt.Sprintf("New order %s, %s", l.Name, l.Total)), Text: write(paidPlain, l), HTML: write(paidRich, l)}
}

func paidText(o commerce.Order, s commerce.Store) commerce.UnsentMessage {
	l := letterOf(o, s)
	return commerce.UnsentMessage{Kind: commerce.UnsentSMS, To: s.Phone, OrderID: o.ID,
		Text: fmt.Sprintf("%s: new paid order %s, %d pieces, %s.", s.Name, l.Name, l.Pieces, l.Total)}
}

// write fills in a template of this file.
func write(t interface{ Execute(io.Writer, any) error }, l letter) string {
	var b strings.Builder
	if err := t.Execute(&b, l); err != nil {
		panic(err) // the templates are constants, and tests fill each
	}
	return b.String()
}

// oneLine prevents texts of partners from ending a header.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
