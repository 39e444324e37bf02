package backoffice

import (
	"encoding/csv"
	"net/http"
	"strings"
)

// sheet writes a CSV file that the browser saves.
type sheet struct{ *csv.Writer }

// sheet begins a CSV file with its first row.
func (v *visit) sheet(name string, columns ...string) sheet {
	h := v.w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="`+name+`.csv"`)
	v.w.WriteHeader(http.StatusOK)
	s := sheet{csv.NewWriter(v.w)}
	s.row(columns...)
	return s
}

// row writes a row. Texts cannot become formulas.
func (s sheet) row(cells ...string) {
	for i, c := range cells {
		cells[i] = noFormula(c)
	}
	_ = s.Write(cells) // an error means that the browser has gone
}

// noFormula puts a ' before a text that a spreadsheet would run.
func noFormula(cell string) string {
	if cell != "" && strings.IndexByte("=+-@\t\r\n", cell[0]) >= 0 {
		return "'" + cell
	}
	return cell
}
