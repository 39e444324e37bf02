package gazetteer

import (
	"strings"
	"unicode"
)

// Fold appends text to b as words of lower-case ASCII letters and digits, separated
// by one space, or by a comma where a part of the text ends. It returns false if a
// part of the text is not in Latin script.
func Fold(b []byte, text string) ([]byte, bool) {
	between := byte(',') // separator before the next word
	for _, r := range text {
		c := plain(r)
		switch {
		case c == 0:
			return b, false
		case c == ignored, c == '.' && !endsInDigit(b): // "O'Fallon", "St. Louis", "D.C.", but not "1.5"
			continue
		case c == ',':
			between = ','
		case c == ' ', c == '.':
			between = max(between, ' ') // keeps a comma, which is the larger character
		default:
			if between != 0 && len(b) > 0 {
				b = append(b, between)
			}
			b, between = append(b, c), 0
		}
	}
	return b, true
}

func endsInDigit(b []byte) bool { return len(b) > 0 && b[len(b)-1] >= '0' && b[len(b)-1] <= '9' }

const (
	ignored = '\''
	strange = '?' // a letter or number that occurs in no name
)

// latin maps U+00C0 to U+017F to their base letters.
const latin = "aaaaaaaceeeeiiiidnooooo ouuuuyps" + "aaaaaaaceeeeiiiidnooooo ouuuuypy" +
	"aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkkllllllllllnnnnnnnnnoooooooo" +
	"rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs"

// plain returns the ASCII form of a character; 0: it is of another script.
func plain(r rune) byte {
	switch {
	case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == ',':
		return byte(r)
	case r >= 'A' && r <= 'Z':
		return byte(r) + 'a' - 'A'
	case r == ';', r == '\n':
		return ','
	case r == '\'', r == '`':
		return ignored
	case r < 0x80:
		return ' '
	case r >= 0xC0 && r < 0x180:
		return latin[r-0xC0]
	}
	return rare(r)
}

func rare(r rune) byte {
	switch {
	case strings.ContainsRune("‘’ʻʼ´", r), unicode.Is(unicode.Mn, r):
		return ignored
	case unicode.Is(unicode.Latin, r), unicode.IsNumber(r):
		return strange
	case unicode.IsLetter(r):
		return 0
	}
	return ' '
}

// short maps words that have two spellings to one of them.
var short = map[string]string{
	"saint": "st", "sainte": "ste", "fort": "ft", "mount": "mt",
	"north": "n", "south": "s", "east": "e", "west": "w",
}

// AppendKey appends a key that all spellings of a city's name share: "Saint Louis",
// "St. Louis", "St.Louis"; "O'Fallon", "O Fallon". The name has to be folded by Fold.
func AppendKey(key []byte, name string) []byte {
	for word := range strings.SplitSeq(name, " ") {
		if s, ok := short[word]; ok {
			word = s
		}
		key = append(key, word...)
	}
	return key
}
