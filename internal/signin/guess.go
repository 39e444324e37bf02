package signin

import (
	_ "embed"
	"strings"
	"unicode"
	"unicode/utf8"
)

// commonest are the 10,000 commonest passwords, a line each. They are a text, not a map: a map
// would take memory in each process, and passwords are rarely made.
//
//go:embed common.txt
var commonest string

// rows are what fingers run along, there and back.
const rows = "1234567890 qwertyuiop asdfghjkl zxcvbnm abcdefghijklmnopqrstuvwxyz 1q2w3e4r5t6y7u8i9o0p 1qaz2wsx3edc4rfv5tgb6yhn7ujm"

const (
	fewCharacters = 5 // different ones
	fewLeft       = 6 // characters beside what is known of the user
)

// guessed reports whether a password is among the first that are tried: a common one, also
// several times or with figures and signs about it; a row of keys; a few characters again and
// again; or little more than what else is known of the user.
func guessed(password string, about []string) bool {
	p := once(strings.ToLower(password))
	letters := strings.TrimFunc(p, func(r rune) bool { return !unicode.IsLetter(r) })
	return different(p) < fewCharacters || common(p) || common(letters) || inRow(p) || utf8.RuneCountInString(without(p, about)) < fewLeft
}

// once is the part that a text repeats to its end: "rye" of "ryeryer", and a text that repeats
// nothing as it is.
func once(text string) string {
	for n := 1; n <= len(text)/2; n++ {
		if strings.HasPrefix(text, text[n:]) {
			return text[:n]
		}
	}
	return text
}

func different(text string) int {
	seen := map[rune]bool{}
	for _, r := range text {
		seen[r] = true
	}
	return len(seen)
}

func common(text string) bool {
	return text != "" && !strings.Contains(text, "\n") && strings.Contains("\n"+commonest, "\n"+text+"\n")
}

func inRow(text string) bool {
	for _, row := range strings.Fields(rows) {
		for _, way := range []string{row, reverse(row)} {
			if strings.Contains(way+way, text) {
				return true
			}
		}
	}
	return false
}

func reverse(text string) string {
	out := make([]byte, len(text))
	for i := range text {
		out[len(text)-1-i] = text[i]
	}
	return string(out)
}

// without takes the words of what is known out of a text.
func without(text string, known []string) string {
	for _, k := range known {
		for _, word := range strings.FieldsFunc(strings.ToLower(k), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if len(word) > 2 {
				text = strings.ReplaceAll(text, word, "")
			}
		}
	}
	return text
}
