package service

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage/schema"
)

// CatalogPreview is what an import would change.
type CatalogPreview struct {
	ImportResult
	Changes []CatalogChange // of each list the first schema.MaxDifferences
}

// CatalogChange is something that an import would create or update.
type CatalogChange struct {
	List   string // categories, stores or products
	Key    string // the id; of a product the store's before it
	New    bool
	Fields []FieldChange // that differ; of something new: none
}

// FieldChange is a value that an import would replace, by its name in the file.
type FieldChange struct{ Name, Before, After string }

// PreviewCatalog tells what ImportCatalog would do with the same catalog now: it refuses the same,
// and changes nothing.
func (s *Service) PreviewCatalog(ctx context.Context, by commerce.Actor, in ImportCatalog) (CatalogPreview, error) {
	in.Actor = by.Name()
	seen := previewed[ImportResult]{Command: in, difference: new(schema.Difference)}
	result, err := commit.Do(ctx, s.committer, commit.Command[ImportResult](seen))
	return CatalogPreview{result, catalogChanges(seen.difference)}, err
}

// previewed decides a command, keeps what it would change, and changes nothing.
type previewed[R any] struct {
	commit.Command[R]
	difference *schema.Difference
}

// Inner is the command whose changes are previewed.
func (p previewed[R]) Inner() any { return p.Command }

// Decide implements commit.Command.
func (p previewed[R]) Decide(rows *commerce.Rows, now commerce.Millis) (R, commerce.Changes, error) {
	result, changes, err := p.Command.Decide(rows, now)
	if err == nil {
		*p.difference = schema.DifferenceOf(rows, &changes)
	}
	return result, commerce.Changes{}, err
}

// fieldOfColumn are the columns that a file has a field for, where the names differ.
var fieldOfColumn = map[string]string{"delivery_enabled": "service_delivery_enabled", "radius_miles": "service_delivery_radius_miles",
	"charges_quote": "charge_live_quote", "price_cents": "price", "quantity": "available_quantity"}

// columnsOfNoField are the columns that follow from others, or from the time.
var columnsOfNoField = strings.Fields("no band updated_on created_on facts_on moves moved_on held sold_count sold_cents hot source")

// catalogChanges lists the differences as a file names them.
func catalogChanges(d *schema.Difference) (list []CatalogChange) {
	for _, of := range []struct {
		list   string
		tables []string
	}{{"categories", []string{"categories"}}, {"stores", []string{"stores"}}, {"products", []string{"stock", "products"}}} {
		found := map[string]CatalogChange{}
		for _, table := range of.tables {
			for key, after := range d.After[table] {
				before, known := d.Before[table][key]
				found[key] = CatalogChange{List: of.list, Key: key, New: !known, Fields: append(found[key].Fields, fieldChanges(before, after, known)...)}
			}
		}
		for _, key := range slices.Sorted(maps.Keys(found)) {
			list = append(list, found[key])
		}
	}
	return list
}

func fieldChanges(before, after schema.Columns, known bool) (list []FieldChange) {
	for _, column := range slices.Sorted(maps.Keys(after)) {
		if known && !slices.Contains(columnsOfNoField, column) {
			list = append(list, FieldChange{cmp.Or(fieldOfColumn[column], column), shownValue(before[column]), shownValue(after[column])})
		}
	}
	return list
}

func shownValue(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}
