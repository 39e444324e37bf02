package commerce

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
)

// Facts is a digest of what people edit of a product. Sales and other stock moves do not
// change it, so a form that carries it is stale only after an edit.
func (p Item) Facts() string {
	return digest(p.Stock.Name, p.Description, p.SKU, p.Stock.CategoryID, p.Stock.PriceCents, p.Stock.Active, p.Hot, p.FeaturedImage, fmt.Sprintf("%q", p.Images))
}

// SameFacts reports whether two products have the same Facts, without making the digests.
func (p Item) SameFacts(q Item) bool {
	return p.Stock.Name == q.Stock.Name && p.Description == q.Description && p.SKU == q.SKU && p.Stock.CategoryID == q.Stock.CategoryID &&
		p.Stock.PriceCents == q.Stock.PriceCents && p.Stock.Active == q.Stock.Active && p.Hot == q.Hot && p.FeaturedImage == q.FeaturedImage &&
		slices.Equal(p.Images, q.Images)
}

// Facts is a digest of what people edit of a category.
func (c Category) Facts() string { return digest(c.Name, c.Active) }

// digest is a short digest of values, in hexadecimal.
func digest(values ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", values))
	return hex.EncodeToString(sum[:12])
}

// changedMeanwhile refuses a change that was made from an older state.
func changedMeanwhile(noun, name string) *Error {
	return Conflict("changed_meanwhile", "%s %s was changed since this form was opened; nothing was saved", noun, name)
}

// CheckFacts refuses a change of a product that was made from other facts (409). An empty
// digest is not checked.
func (p Item) CheckFacts(from string) error {
	if from != "" && from != p.Facts() {
		return changedMeanwhile("product", p.Stock.Name)
	}
	return nil
}

// CheckFacts refuses a change of a category that was made from other facts (409). An empty
// digest is not checked.
func (c Category) CheckFacts(from string) error {
	if from != "" && from != c.Facts() {
		return changedMeanwhile("category", c.Name)
	}
	return nil
}
